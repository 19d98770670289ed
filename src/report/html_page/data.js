"use strict";
// The names in the data are the document's, and may be anything: they go into the page as text only.

// ---- the data (see report/html.cpp)

const data = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);

/** Pairs of how much of the name before to keep and what follows it. */
function decodeNames(pairs) {
  const names = new Array(pairs.length / 2);
  let name = "";
  for (let i = 0; i < names.length; ++i) names[i] = name = name.slice(0, pairs[2 * i]) + pairs[2 * i + 1];
  return names;
}

const instructions = data.instructions;
const tensors = data.tensors;
const decisions = data.decisions;
const operands = data.operands;
instructions.names = decodeNames(instructions.names);
tensors.names = decodeNames(tensors.names);

/** Lists by key, in two flat arrays: `at(key)` is the values that were given with it, in order. */
class Lists {
  constructor(keyCount, forEachPair) {
    this.begins = new Int32Array(keyCount + 1);
    forEachPair((key) => ++this.begins[key + 1]);
    for (let i = 0; i < keyCount; ++i) this.begins[i + 1] += this.begins[i];
    this.values = new Int32Array(this.begins[keyCount]);
    const next = this.begins.slice();
    forEachPair((key, value) => { this.values[next[key]++] = value; });
  }
  at(key) { return this.values.subarray(this.begins[key], this.begins[key + 1]); }
}

const firstOperand = new Int32Array(instructions.count + 1);
const ownerOf = new Int32Array(operands.length);
for (let i = 0; i < instructions.count; ++i) {
  firstOperand[i + 1] = firstOperand[i] + instructions.operandCount[i];
  ownerOf.fill(i, firstOperand[i], firstOperand[i + 1]);
}
const decisionOf = new Int32Array(operands.length).fill(-1);
decisions.operand.forEach((operand, i) => { decisionOf[operand] = i; });
const viewOf = new Map();
for (let i = 0; i < data.views.length; i += 2) viewOf.set(data.views[i], data.views[i + 1]);
const locOf = new Map();
for (let i = 0; i < instructions.locs.length; i += 2) locOf.set(instructions.locs[i], instructions.locs[i + 1]);

const isTensorRead = (operand) => operands[operand] >= 0 && operands[operand] % 2 === 0;
const isInstructionRead = (operand) => operands[operand] >= 0 && operands[operand] % 2 === 1;
const targetOf = (operand) => operands[operand] >> 1;
const storesOf = new Lists(tensors.count, (pair) => {
  instructions.dst.forEach((dst, i) => { if (dst >= 0) pair(dst, i); });
});
const loadsOf = new Lists(tensors.count, (pair) => {
  for (let i = 0; i < operands.length; ++i) if (isTensorRead(i)) pair(targetOf(i), i);
});
const usersOf = new Lists(instructions.count, (pair) => {
  for (let i = 0; i < operands.length; ++i) if (isInstructionRead(i)) pair(targetOf(i), i);
});

const [kInternal, kInput, kOutput, kConst] = data.kinds.map((_, i) => i);
const [kMatch, kMutated, kMismatch] = data.states.map((_, i) => i);
const outcomeClasses = ["none", "unchanged", "refused", "retyped"];

const dtypeName = (dtype) => dtype < 0 ? "" : data.dtypes[dtype];
const dtypeChange = (before, after) =>
  before === after ? dtypeName(before) : dtypeName(before) + " → " + dtypeName(after);
const opOf = (instruction) => instructions.ops[instructions.op[instruction]];
/** The tensor behind an operand, -1 when there is none. */
const tensorOf = (operand) =>
  isTensorRead(operand) ? targetOf(operand) : isInstructionRead(operand) ? instructions.dst[targetOf(operand)] : -1;
const indexOf = (operand) => operand - firstOperand[ownerOf[operand]];
function operandDtypes(operand) {
  if (viewOf.has(operand)) return [viewOf.get(operand), viewOf.get(operand)];
  const nodes = isTensorRead(operand) ? tensors : instructions;
  return [nodes.before[targetOf(operand)], nodes.after[targetOf(operand)]];
}
function outcomeOf(operand) {
  const decision = decisionOf[operand];
  if (decision >= 0 && decisions.state[decision] === kMismatch) return "refused";
  const [before, after] = operandDtypes(operand);
  return before !== after ? "retyped" : decision >= 0 ? "unchanged" : "none";
}
const reasonOf = (decision) => decisions.reason[decision] < 0 ? null : data.reasons[decisions.reason[decision]];
function messageOf(decision) {
  const names = [() => tensors.names[tensorOf(decisions.operand[decision])],
                 () => instructions.names[decisions.producer[decision]]];
  return decisions.messages[decisions.message[decision]]
    .map((part) => visible(typeof part === "number" ? "'" + names[part]() + "'" : part)).join("");
}

// ---- small things

const count = (number) => number.toLocaleString("en-US");
/** "3 weights", or "1 of 3 weights". */
const shownOf = (number, whole, what) =>
  (number === whole ? "" : count(number) + " of ") + count(whole) + " " + what + (whole === 1 ? "" : "s");
const percent = (part, whole) => whole === 0 ? "" : (100 * part / whole).toFixed(part === whole || part === 0 ? 0 : 1) + " %";
function bytes(number) {
  const units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  for (; number >= 1024 && unit + 1 < units.length; ++unit) number /= 1024;
  return (unit === 0 ? count(number) : number.toFixed(1)) + " " + units[unit];
}

/** Control characters as pictures of them, so that a line stays one. */
const visible = (text) =>
  text.replace(/[\u0000-\u001f\u007f]/g, (c) => c === "\u007f" ? "␡" : String.fromCharCode(0x2400 + c.charCodeAt(0)));

function add(parent, tag, className, text) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = visible(text);
  parent.append(element);
  return element;
}

function addSvg(parent, tag, attributes, text) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes || {})) element.setAttribute(name, value);
  if (text !== undefined) element.textContent = text;
  parent.append(element);
  return element;
}

/** A name that keeps its end in sight. */
function addName(parent, name) {
  const kTail = 18;
  const span = add(parent, "span", "name");
  span.title = name;
  const characters = Array.from(name.length > 500 ? name.slice(0, 100) + "…" + name.slice(-100) : name);
  add(span, "span", "", characters.slice(0, -kTail).join(""));
  add(span, "span", "", characters.slice(-kTail).join(""));
  return span;
}

/** Horizontal bars, one on the other: rows of [class, part], each part of `whole`. */
function addBars(parent, rows, whole, height) {
  const svg = addSvg(parent, "svg", {class: "bars", viewBox: `0 0 100 ${rows.length * height}`,
                                     preserveAspectRatio: "none", height: rows.length * height, "aria-hidden": "true"});
  rows.forEach((parts, i) => {
    let x = 0;
    for (const [kind, part] of parts) {
      const width = whole === 0 ? 0 : 100 * part / whole;
      if (part > 0) addSvg(svg, "rect", {class: "bar " + kind, x, y: i * height + 1, width: Math.max(width, 0.4), height: height - 2});
      x += width;
    }
  });
  return svg;
}
