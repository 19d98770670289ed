// The neighbourhood of a node, drawn, and its story in words.

// ---- the picture: nodes are instructions by number, then tensors of the interface and constants

const nodeOfTensor = (tensor) => instructions.count + tensor;
const isInstruction = (node) => node < instructions.count;
const tensorOfNode = (node) => node - instructions.count;
const isDrawn = (tensor) => tensors.kind[tensor] !== kInternal;
const nameOfNode = (node) => isInstruction(node) ? instructions.names[node] : tensors.names[tensorOfNode(node)];

/** Edges that end in a node: {from, to, operand}; operand is -1 where an instruction stores a tensor that is a node. */
function edgesInto(node) {
  if (!isInstruction(node)) return Array.from(storesOf.at(tensorOfNode(node)), (from) => ({from, to: node, operand: -1}));
  const edges = [];
  for (let operand = firstOperand[node]; operand < firstOperand[node + 1]; ++operand) {
    const join = (from) => { edges.push({from, to: node, operand}); };
    if (isInstructionRead(operand)) join(targetOf(operand));
    else if (isTensorRead(operand) && isDrawn(targetOf(operand))) join(nodeOfTensor(targetOf(operand)));
    else if (isTensorRead(operand)) storesOf.at(targetOf(operand)).forEach(join);
  }
  return edges;
}

function edgesOutOf(node) {
  const read = (operand) => ({from: node, to: ownerOf[operand], operand});
  if (!isInstruction(node)) return Array.from(loadsOf.at(tensorOfNode(node)), read);
  const edges = Array.from(usersOf.at(node), read);
  const dst = instructions.dst[node];
  if (dst < 0) return edges;
  if (isDrawn(dst)) return edges.concat({from: node, to: nodeOfTensor(dst), operand: -1});
  return edges.concat(Array.from(loadsOf.at(dst), read));
}

/** Nodes at most `depth` edges from the centre on one side, with the layer of each: at least one further out than all it is joined to. */
function oneSide(centre, depth, edgesOf, otherEnd, known) {
  const kMostPerNode = 8, kMostAtCentre = 16, kMostNodes = 70;
  const layers = new Map([[centre, 0]]);
  let front = [centre];
  for (let distance = 1; distance <= depth && front.length; ++distance) {
    const next = [];
    for (const node of front) {
      const most = node === centre ? kMostAtCentre : kMostPerNode;
      const others = new Set(edgesOf(node).map(otherEnd));
      let taken = 0;
      for (const other of others) {
        if (layers.has(other) || known.has(other)) continue;
        if (++taken > most || layers.size > kMostNodes) break;
        layers.set(other, distance);
        next.push(other);
      }
    }
    front = next;
  }
  // Longest paths, as far as they go: a value that is updated in place makes circles.
  for (let round = 0; round < 2 * depth; ++round)
    for (const node of layers.keys())
      for (const edge of edgesOf(node)) {
        const other = otherEnd(edge);
        if (other !== centre && layers.has(other) && layers.get(other) <= layers.get(node) && layers.get(node) < 2 * depth)
          layers.set(other, layers.get(node) + 1);
      }
  return layers;
}

function neighbourhood(centre, depth) {
  const readers = oneSide(centre, depth, edgesOutOf, (edge) => edge.to, new Set());
  const producers = oneSide(centre, depth, edgesInto, (edge) => edge.from, readers);
  const layers = new Map(readers);
  for (const [node, layer] of producers) if (node !== centre) layers.set(node, -layer);
  const edges = [];
  const hidden = new Map();
  for (const node of layers.keys()) {
    const into = edgesInto(node);
    edges.push(...into.filter((edge) => layers.has(edge.from)));
    const left = (list) => new Set(list.filter((other) => !layers.has(other))).size;
    hidden.set(node, {producers: left(into.map((edge) => edge.from)), readers: left(edgesOutOf(node).map((edge) => edge.to))});
  }
  return {layers, edges, hidden};
}

/** Columns of nodes, from left to right, each ordered by where its neighbours stand. */
function columnsOf({layers, edges}) {
  const numbers = [...new Set(layers.values())].sort((a, b) => a - b);
  const columns = numbers.map((number) => [...layers.keys()].filter((node) => layers.get(node) === number).sort((a, b) => a - b));
  const place = new Map();
  const settle = (column) => column.forEach((node, i) => place.set(node, i - column.length / 2));
  columns.forEach(settle);
  const neighbours = new Map([...layers.keys()].map((node) => [node, []]));
  for (const {from, to} of edges) {
    neighbours.get(from).push(to);
    neighbours.get(to).push(from);
  }
  const mean = (node) => {
    const list = neighbours.get(node);
    return list.length === 0 ? 0 : list.reduce((sum, other) => sum + place.get(other), 0) / list.length;
  };
  for (let round = 0; round < 6; ++round)
    for (const column of round % 2 ? columns : [...columns].reverse()) {
      const keys = new Map(column.map((node) => [node, mean(node)]));
      column.sort((a, b) => keys.get(a) - keys.get(b) || a - b);
      settle(column);
    }
  return columns;
}

const kNodeWidth = 164, kLayerGap = 150, kNodeGap = 16, kPortGap = 15, kMargin = 22;

/** Too long a text for a node, with its end in sight. */
function fit(text, most) {
  text = visible(text);
  const characters = Array.from(text.slice(0, 400));
  if (characters.length <= most) return text;
  const tail = Math.ceil(most / 2);
  return characters.slice(0, most - tail - 1).join("") + "…" + Array.from(text.slice(-200)).slice(-tail).join("");
}

function shapeOf(node, x, y, width, height) {
  const right = x + width, bottom = y + height;
  if (!isInstruction(node)) {
    if (tensors.kind[tensorOfNode(node)] === kConst)  // a drum
      return `M${x},${y + 6} a${width / 2},6 0 0 1 ${width},0 v${height - 12} a${width / 2},6 0 0 1 ${-width},0 z M${x},${y + 6} a${width / 2},6 0 0 0 ${width},0`;
    return `M${x + 12},${y} H${right + 6} L${right - 12},${bottom} H${x - 6} z`;
  }
  if (opOf(node) === "SBAtomLoad") return `M${x},${y} H${right - 12} L${right},${y + height / 2} L${right - 12},${bottom} H${x} z`;
  if (opOf(node) === "SBAtomStore") return `M${x},${y} H${right} V${bottom} H${x} L${x + 12},${y + height / 2} z`;
  return `M${x + 6},${y} H${right - 6} q6,0 6,6 V${bottom - 6} q0,6 -6,6 H${x + 6} q-6,0 -6,-6 V${y + 6} q0,-6 6,-6 z`;
}

function outcomeOfNode(node) {
  return outcomeClasses[isInstruction(node) ? instructions.outcome[node] : tensors.outcome[tensorOfNode(node)]];
}

function describe(node) {
  if (isInstruction(node)) return [opOf(node), dtypeChange(instructions.before[node], instructions.after[node])];
  const tensor = tensorOfNode(node);
  return [data.kinds[tensors.kind[tensor]], dtypeChange(tensors.before[tensor], tensors.after[tensor])];
}

function edgeTitle(edge) {
  if (edge.operand < 0) return "stores " + nameOfNode(edge.to);
  const tensor = tensorOf(edge.operand);
  const decision = decisionOf[edge.operand];
  return `operand ${indexOf(edge.operand)} of ${nameOfNode(edge.to)}` + (tensor < 0 ? "" : `, tensor '${tensors.names[tensor]}'`) +
    (decision < 0 ? "" : `\n${data.states[decisions.state[decision]]}: ${messageOf(decision)}`);
}

function edgeLabel(edge) {
  if (edge.operand < 0) return "";
  const decision = decisionOf[edge.operand];
  const reason = decision < 0 ? null : reasonOf(decision);
  return (viewOf.has(edge.operand) ? "as " : "") + dtypeChange(...operandDtypes(edge.operand)) + (reason ? ` · ${reason.name}` : "");
}

function drawPicture(centre, depth) {
  const root = byId("picture");
  root.replaceChildren();
  const near = neighbourhood(centre, depth);
  const columns = columnsOf(near);
  const into = new Map([...near.layers.keys()].map((node) => [node, []]));
  for (const edge of near.edges) into.get(edge.to).push(edge);

  const boxes = new Map();
  const heightOf = (node) => Math.max(52, 14 + kPortGap * into.get(node).length);
  const slotOf = (node) => heightOf(node) + (near.hidden.get(node).producers || near.hidden.get(node).readers ? 14 : 0) + kNodeGap;
  const columnHeight = (column) => column.reduce((sum, node) => sum + slotOf(node), 0) - kNodeGap;
  const height = Math.max(...columns.map(columnHeight)) + 2 * kMargin;
  const width = columns.length * (kNodeWidth + kLayerGap) - kLayerGap + 2 * kMargin;
  columns.forEach((column, i) => {
    let y = (height - columnHeight(column)) / 2;
    for (const node of column) {
      boxes.set(node, {x: kMargin + i * (kNodeWidth + kLayerGap), y, height: heightOf(node)});
      y += slotOf(node);
    }
  });

  // A little too wide is made to fit; more than that, and names could not be read.
  const scale = Math.max(Math.min(1, (root.clientWidth - 2) / width), 0.8);
  const svg = addSvg(root, "svg", {width: width * scale, height: height * scale, viewBox: `0 0 ${width} ${height}`});
  const labels = [];
  for (const [node, edges] of into) {
    const box = boxes.get(node);
    edges.forEach((edge, i) => {
      const source = boxes.get(edge.from);
      const x1 = source.x + kNodeWidth, y1 = source.y + source.height / 2;
      const x2 = box.x, y2 = box.y + box.height * (i + 1) / (edges.length + 1);
      const bend = Math.max(40, Math.abs(x2 - x1) / 2);
      const outcome = edge.operand < 0 ? outcomeClasses[tensors.outcome[tensorOfNode(edge.to)]] : outcomeOf(edge.operand);
      const group = addSvg(svg, "g");
      addSvg(group, "title", {}, edgeTitle(edge));
      addSvg(group, "path", {class: "edge " + outcome, d: `M${x1},${y1} C${x1 + bend},${y1} ${x2 - bend},${y2} ${x2},${y2}`});
      addSvg(group, "path", {class: "shape " + outcome, d: `M${x2 - 7},${y2 - 3} L${x2},${y2} L${x2 - 7},${y2 + 3} z`});
      labels.push({outcome, x: x2 - 10, y: y2 - 3, text: edgeLabel(edge)});
    });
  }
  for (const {outcome, x, y, text} of labels)
    addSvg(svg, "text", {class: "small halo " + outcome, x, y, "text-anchor": "end"}, fit(text, 30));

  for (const [node, box] of boxes) {
    const [kind, dtype] = describe(node);
    const outcome = outcomeOfNode(node);
    const group = addSvg(svg, "g", {class: node === centre ? "node centre" : "node", tabindex: 0, role: "button"});
    group.dataset.node = node;
    group.setAttribute("aria-label", `${nameOfNode(node)}, ${kind}, ${dtype}, ${data.outcomes[outcomeClasses.indexOf(outcome)]}`);
    addSvg(group, "title", {}, `${nameOfNode(node)}\n${kind}\n${dtype}`);
    addSvg(group, "path", {class: "shape " + outcome, d: shapeOf(node, box.x, box.y, kNodeWidth, box.height)});
    const isDrum = !isInstruction(node) && tensors.kind[tensorOfNode(node)] === kConst;
    const middle = box.x + kNodeWidth / 2, top = box.y + box.height / 2 - (isDrum ? 7 : 12);  // below the lid
    addSvg(group, "text", {class: "title", x: middle, y: top + 2, "text-anchor": "middle"}, fit(nameOfNode(node), 22));
    addSvg(group, "text", {class: "small", x: middle, y: top + 16, "text-anchor": "middle"}, fit(kind, 26));
    addSvg(group, "text", {class: "small", x: middle, y: top + 29, "text-anchor": "middle"}, dtype);
    const {producers, readers} = near.hidden.get(node);
    const more = [producers && `${count(producers)} more in`, readers && `${count(readers)} more out`].filter(Boolean).join(", ");
    if (more) addSvg(svg, "text", {class: "small", x: middle, y: box.y + box.height + 12, "text-anchor": "middle"}, more);
  }
  const box = boxes.get(centre);
  root.scrollLeft = scale * (box.x + kNodeWidth / 2) - root.clientWidth / 2;
  root.scrollTop = scale * (box.y + box.height / 2) - root.clientHeight / 2;
}

function drawLegend() {
  data.outcomes.forEach((outcome, i) => {
    const item = add(byId("legend"), "li");
    const svg = addSvg(item, "svg", {viewBox: "0 0 34 16", "aria-hidden": "true"});
    addSvg(svg, "path", {class: "edge " + outcomeClasses[i], d: "M0,8 H10 M24,8 H34"});
    addSvg(svg, "rect", {class: "shape " + outcomeClasses[i], x: 9, y: 2, width: 16, height: 12, rx: 2});
    item.append(outcome);
  });
}

// ---- the story of what the picture is around

function addNodeLink(parent, node) {
  const button = add(parent, "button", "link", nameOfNode(node));
  button.type = "button";
  button.addEventListener("click", () => choose(node));
}

/** Tells of one decision; what would let it pass only where `told`, a set of reasons, has not had it yet. */
function addStory(parent, decision, who, told) {
  const item = add(parent, "li");
  const operand = decisions.operand[decision];
  const state = data.states[decisions.state[decision]];
  if (who) addNodeLink(item, ownerOf[operand]);
  item.append(`${who ? ", " : ""}operand ${indexOf(operand)}`);
  if (tensorOf(operand) >= 0) item.append(visible(`, tensor '${tensors.names[tensorOf(operand)]}'`));
  item.append(": ");
  add(item, "span", "badge " + state, state);
  item.append(" ");
  const reason = reasonOf(decision);
  if (reason) add(item, "b", "", reason.name + ": ");
  item.append(messageOf(decision));
  if (reason && !told.has(reason)) add(item, "p", "quiet", "to let it pass: " + reason.remedy);
  told.add(reason);
}

function drawStory(node) {
  const kMost = 40;
  const root = byId("story");
  root.replaceChildren();
  const [kind, dtype] = describe(node);
  add(root, "h3", "", nameOfNode(node));
  const about = add(root, "p", "", `${kind}, ${dtype}`);
  const list = (title, all, who) => {
    if (all.length === 0) return;
    add(root, "h4", "", title);
    const ul = add(root, "ul");
    const told = new Set();
    for (const decision of all.slice(0, kMost)) addStory(ul, decision, who, told);
    if (all.length > kMost) add(ul, "li", "quiet", `and ${count(all.length - kMost)} more`);
  };
  const decided = (list) => Array.from(list, (operand) => decisionOf[operand]).filter((decision) => decision >= 0);
  if (!isInstruction(node)) return list("Was asked for by", decided(loadsOf.at(tensorOfNode(node))), true);
  about.append(`; line ${count(instructions.line[node])} of the document`);
  if (instructions.dst[node] >= 0) about.append(visible(`; stores tensor '${tensors.names[instructions.dst[node]]}'`));
  if (locOf.has(node)) add(root, "p", "quiet", "loc: " + locOf.get(node));
  const own = [];
  for (let operand = firstOperand[node]; operand < firstOperand[node + 1]; ++operand) own.push(operand);
  const asked = decided(own);
  const dst = instructions.dst[node];
  const wasAsked = decided([...usersOf.at(node), ...(dst < 0 ? [] : loadsOf.at(dst))]);
  list("Asked", asked, false);
  list("Was asked by", wasAsked, true);
  if (asked.length + wasAsked.length === 0) add(root, "p", "quiet", "No edge of it was decided: nobody asked for the dtype here.");
}
