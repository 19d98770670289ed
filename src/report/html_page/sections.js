// What the page shows from top to bottom, but for the picture.

// ---- summary and reasons

function drawSummary() {
  const stats = data.stats;
  byId("input").textContent = stats.input;
  document.title = stats.input + ": " + stats.dtype + " – dtypemut";
  byId("run").textContent = `${data.from || "nothing"} to ${stats.dtype} for ${stats.target}, ` +
    (data.policy === "joint" ? "jointly" : "edge by edge") +
    `; ${count(instructions.count)} instructions, ${count(tensors.count)} tensors`;
  const root = byId("summary");
  const card = (title) => {
    const element = add(root, "div", "card");
    add(element, "h3", "", title);
    return element;
  };
  const list = (parent, rows) => {
    const dl = add(parent, "dl");
    for (const [term, value, title, colour] of rows) {
      const dt = add(dl, "dt");
      if (colour) add(dt, "span", "swatch " + colour);
      dt.append(term);
      dt.title = title || "";
      add(dl, "dd", "", value);
    }
  };

  const {match, mutated, mismatch} = stats.decisions;
  const total = match + mutated + mismatch;
  const decided = card("Decisions");
  addBars(decided, [[["retyped", mutated], ["unchanged", match], ["refused", mismatch]]], total, 14);
  const share = (number) => count(number) + (total === 0 ? "" : ` (${percent(number, total)})`);
  list(decided, [["mutated", share(mutated), "retyped", "retyped"],
                 ["match", share(match), "the value had, or accepts, the dtype", "unchanged"],
                 ["mismatch", share(mismatch), "refused", "refused"]]);

  const {before, after} = stats.const_bytes;
  const weights = card("Bytes of the constants that are read");
  addBars(weights, [[["before", before]], [["retyped", after]]], Math.max(before, after), 9);
  list(weights, [["before", bytes(before), count(before) + " bytes", "before"],
                 ["after", bytes(after), count(after) + " bytes", "retyped"],
                 ["after / before", percent(after, before) || "–"]]);

  const statistics = card("Statistics");
  list(statistics, data.statistics.map(({name, what}) => [name, count(stats.statistics[name]), what])
    .concat([["redundant_casts", count(stats.redundant_casts), "TensorCopyOps that a later cast elimination can delete"]]));
}

function drawReasons() {
  const root = byId("reasons");
  const counts = stats => Object.entries(stats.decisions.mismatch_by_reason);
  const rows = counts(data.stats);
  const most = Math.max(1, ...rows.map(([, number]) => number));
  if (rows.length === 0) add(root, "li", "", "Nothing was refused.");
  for (const [name, number] of rows) {
    const button = add(add(root, "li"), "button");
    button.type = "button";
    button.dataset.reason = name;
    add(button, "span", "", name);
    add(button, "span", "count", count(number));
    addBars(button, [[["refused", number]]], most, 12).setAttribute("class", "");
    add(button, "span", "what", data.reasons.find((reason) => reason.name === name).what);
    button.addEventListener("click", () => {
      const isOn = byId("reason").value === name;
      byId("state").value = "";
      byId("reason").value = isOn ? "" : name;
      applyFilters();
    });
  }
}

// ---- decisions: search and filters

const decisionTable = new Table(byId("decisions"), [
  {title: "Asked by", key: (d) => instructions.names[ownerOf[decisions.operand[d]]], fill(cell, d) {
    const operand = decisions.operand[d];
    addName(cell, instructions.names[ownerOf[operand]]);
    add(cell, "div", "line quiet", `${opOf(ownerOf[operand])}, operand ${indexOf(operand)}`);
  }},
  {title: "Value", key: (d) => tensors.names[tensorOf(decisions.operand[d])] || "", fill(cell, d) {
    const operand = decisions.operand[d];
    const tensor = tensorOf(operand);
    if (tensor >= 0) addName(cell, tensors.names[tensor]);
    else add(cell, "div", "line quiet", "no tensor");
    add(cell, "div", "line quiet", dtypeChange(...operandDtypes(operand)));
  }},
  {title: "Producer", key: (d) => instructions.names[decisions.producer[d]] || "", fill(cell, d) {
    const producer = decisions.producer[d];
    if (producer < 0) return void add(cell, "div", "line quiet", "none, or several");
    addName(cell, instructions.names[producer]);
    add(cell, "div", "line quiet", opOf(producer));
  }},
  {title: "State", key: (d) => data.states[decisions.state[d]] + (reasonOf(d) ? reasonOf(d).name : ""), fill(cell, d) {
    const state = data.states[decisions.state[d]];
    add(cell, "span", "badge " + state, state);
    add(cell, "div", "line quiet", "gate " + decisions.gate[d]);
  }},
  {title: "Why", key: (d) => reasonOf(d) ? reasonOf(d).name : "", fill(cell, d) {
    const why = add(cell, "div", "why");
    if (reasonOf(d)) add(why, "b", "", reasonOf(d).name + ": ");
    why.append(messageOf(d));
  }},
], (d) => choose(ownerOf[decisions.operand[d]]));

/** Which of the words each name contains, as bits. */
function matches(names, words) {
  return Int32Array.from(names, (name) => {
    const lower = name.toLowerCase();
    return words.reduce((bits, word, i) => lower.includes(word) ? bits | 1 << i : bits, 0);
  });
}
const wordsOf = (text) => text.toLowerCase().split(/\s+/).filter((word) => word !== "").slice(0, 30);

function matchingDecisions(query, state, reason, op) {
  const words = wordsOf(query);
  const all = words.length === 0 ? 0 : 2 ** words.length - 1;
  const inInstructions = matches(words.length ? instructions.names : [], words);
  const inTensors = matches(words.length ? tensors.names : [], words);
  const inOps = matches(instructions.ops, words);
  const found = [];
  for (let d = 0; d < decisions.count; ++d) {
    if (state !== "" && data.states[decisions.state[d]] !== state) continue;
    if (reason !== "" && (decisions.reason[d] < 0 || data.reasons[decisions.reason[d]].name !== reason)) continue;
    const operand = decisions.operand[d];
    const owner = ownerOf[operand];
    const producer = decisions.producer[d];
    if (op !== "" && opOf(owner) !== op && (producer < 0 || opOf(producer) !== op)) continue;
    if (all !== 0) {
      const tensor = tensorOf(operand);
      const bits = inInstructions[owner] | inOps[instructions.op[owner]] | (tensor >= 0 ? inTensors[tensor] : 0) |
        (producer >= 0 ? inInstructions[producer] | inOps[instructions.op[producer]] : 0);
      if (bits !== all) continue;
    }
    found.push(d);
  }
  return Int32Array.from(found);
}

function fillFilters() {
  const option = (select, value, number) => { add(select, "option", "", `${value} (${count(number)})`).value = value; };
  for (const state of data.states) option(byId("state"), state, data.stats.decisions[state]);
  for (const [name, number] of Object.entries(data.stats.decisions.mismatch_by_reason)) option(byId("reason"), name, number);
  const perOp = new Map();
  for (let d = 0; d < decisions.count; ++d) {
    const producer = decisions.producer[d];
    for (const op of new Set([opOf(ownerOf[decisions.operand[d]]), ...(producer < 0 ? [] : [opOf(producer)])]))
      perOp.set(op, (perOp.get(op) || 0) + 1);
  }
  for (const [op, number] of [...perOp].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))) option(byId("op"), op, number);
}

const kFilters = ["q", "state", "reason", "op"];

function showDecisions() {
  const rows = matchingDecisions(...kFilters.map((id) => byId(id).value));
  decisionTable.setRows(rows);
  byId("shown").textContent = shownOf(rows.length, decisions.count, "decision");
  for (const button of byId("reasons").querySelectorAll("button"))
    button.setAttribute("aria-pressed", button.dataset.reason === byId("reason").value);
}

function applyFilters() {
  showDecisions();
  writeHash();
}

// ---- weights

const weightTable = (() => {
  const kExtra = 5;  // where further columns begin in a row
  const cellText = (value) => value === null ? "–" : Number.isInteger(value) ? count(value) : value.toPrecision(4);
  const castOf = (row) => data.weights[row][1];
  const afterOf = (row) => castOf(row) < 0 ? tensors.after[data.weights[row][0]] : tensors.after[castOf(row)];
  const nameOf = (row) => tensors.names[data.weights[row][0]];
  const number = (title, at) => ({title, isNumber: true, key: (row) => data.weights[row][at],
                                  fill: (cell, row) => { cell.textContent = cellText(data.weights[row][at]); }});
  byId("weights").style.setProperty("--numbers", 2 + data.weightColumns.length);
  return new Table(byId("weights"), [
    {title: "Weight", key: nameOf, fill: (cell, row) => { addName(cell, nameOf(row)); }},
    {title: "Dtype", key: (row) => dtypeName(afterOf(row)), fill: (cell, row) => {
      add(cell, "div", "line", dtypeChange(tensors.before[data.weights[row][0]], afterOf(row)));
    }},
    {title: "Shape", fill: (cell, row) => { add(cell, "div", "line", "[" + data.weights[row][4].join(", ") + "]"); }},
    number("Bytes before", 2),
    number("Bytes after", 3),
    ...data.weightColumns.map((title, i) => number(title, kExtra + i)),
  ], (row) => choose(nodeOfTensor(castOf(row) < 0 ? data.weights[row][0] : castOf(row))));
})();

function showWeights() {
  const words = wordsOf(byId("wq").value);
  const rows = Int32Array.from(data.weights.keys()).filter((row) => {
    const name = tensors.names[data.weights[row][0]].toLowerCase();
    return words.every((word) => name.includes(word));
  });
  weightTable.setRows(rows);
  byId("weights-shown").textContent = shownOf(rows.length, data.weights.length, "weight");
}
