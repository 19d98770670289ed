// Choosing what to show, and the fragment of the page's address, which holds the choice.

let shownNode = -1;
let isChosen = false;  // and not only shown until something is

function show(node) {
  shownNode = node;
  byId("at").value = nameOfNode(node);
  byId("chosen").textContent = "";
  drawPicture(node, Number(byId("depth").value));
  drawStory(node);
}

function choose(node) {
  isChosen = true;
  show(node);
  writeHash();
}

/** The node for a name or a part of one: -1 when there is none. A value that is no node is the instruction that stores it. */
function nodeNamed(text) {
  const ofTensor = (tensor) => {
    if (tensor < 0) return -1;
    if (isDrawn(tensor)) {
      const weight = loadsOf.at(tensor).length > 0 ? undefined : data.weights.find((row) => row[0] === tensor && row[1] >= 0);
      return nodeOfTensor(weight ? weight[1] : tensor);
    }
    return storesOf.at(tensor).length > 0 ? storesOf.at(tensor)[0] : -1;
  };
  const exact = instructions.names.indexOf(text);
  if (exact >= 0) return exact;
  const tensor = ofTensor(tensors.names.indexOf(text));
  if (tensor >= 0) return tensor;
  const part = text.toLowerCase();
  const contains = (name) => name.toLowerCase().includes(part);
  const near = instructions.names.findIndex(contains);
  return near >= 0 ? near : ofTensor(tensors.names.findIndex(contains));
}

function chooseNamed(text) {
  const node = text === "" ? -1 : nodeNamed(text);
  if (node >= 0) choose(node);
  else byId("chosen").textContent = text === "" ? "" : "no instruction or tensor has that in its name";
}

function writeHash() {
  const hash = new URLSearchParams();
  for (const id of kFilters) if (byId(id).value !== "") hash.set(id, byId(id).value);
  if (isChosen) hash.set("at", nameOfNode(shownNode));
  if (byId("depth").value !== "2") hash.set("depth", byId("depth").value);
  if (byId("wq").value !== "") hash.set("wq", byId("wq").value);
  const text = hash.toString();
  try {
    history.replaceState(null, "", text === "" ? location.pathname + location.search : "#" + text);
  } catch (error) {
    // Some places that pages are opened in do not let them change their address.
  }
}

function readHash() {
  const hash = new URLSearchParams(location.hash.slice(1));
  for (const id of [...kFilters, "wq"]) {
    byId(id).value = hash.get(id) || "";
    if (byId(id).value !== (hash.get(id) || "")) byId(id).value = "";  // an option that a list does not have
  }
  byId("depth").value = hash.get("depth") || "2";
  if (byId("depth").value === "") byId("depth").value = "2";
  showDecisions();
  showWeights();
  // At first, what was refused is of most interest.
  const rows = decisionTable.rows;
  const first = rows.find((decision) => decisions.state[decision] === kMismatch) ?? rows[0];
  if (first !== undefined) show(ownerOf[decisions.operand[first]]);
  else if (shownNode < 0) byId("picture").textContent = "Choose an instruction above.";
  chooseNamed(hash.get("at") || "");
}

function listen() {
  byId("q").addEventListener("input", applyFilters);
  for (const id of ["state", "reason", "op"]) byId(id).addEventListener("change", applyFilters);
  byId("filters").addEventListener("submit", (event) => event.preventDefault());
  byId("filters").addEventListener("reset", () => setTimeout(applyFilters));
  byId("wq").addEventListener("input", () => { showWeights(); writeHash(); });
  byId("weight-filters").addEventListener("submit", (event) => event.preventDefault());
  byId("choice").addEventListener("submit", (event) => { event.preventDefault(); chooseNamed(byId("at").value); });
  byId("depth").addEventListener("change", () => { if (shownNode >= 0) choose(shownNode); });
  const onNode = (event) => {
    const group = event.target.closest("[data-node]");
    if (!group) return false;
    choose(Number(group.dataset.node));
    const centre = byId("picture").querySelector(".centre");
    if (event.type === "keydown") centre.focus();
    return true;
  };
  byId("picture").addEventListener("click", onNode);
  byId("picture").addEventListener("keydown", (event) => {
    if ((event.key === "Enter" || event.key === " ") && onNode(event)) event.preventDefault();
  });
  window.addEventListener("hashchange", readHash);
}

drawSummary();
drawReasons();
drawLegend();
fillFilters();
listen();
readHash();
