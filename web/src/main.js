// main.js: puts the page together. A section without data is left out, and one line says which
// command would give it.
import { balance, boxes } from "./boxes.js";
import { cells, allRows, contender, database, group, plans, tables, text, title, version } from "./data.js";
import { degradation, engineOrder, tableFigure } from "./degradation.js";
import { csv, download, h, choice, nice } from "./dom.js";
import { latency } from "./latency.js";
import { map } from "./map.js";
import { ebb, vls, lifetime, lostConnections, runtime, usability } from "./matrices.js";
import { section } from "./chart.js";
import { gallery } from "./surface.js";
import * as theme from "./theme.js";

const count = (n, one, many = `${one}s`) => `${n.toLocaleString("en")} ${n === 1 ? one : many}`;

function header() {
  const planned = plans.rows === 0 ? cells.rows : Array.from(plans.cells).reduce((a, b) => a + b, 0);
  const open = plans.rows === 0 ? 0 : Array.from(plans.cells).reduce((sum, n, i) => sum + n - plans.done[i], 0);
  document.getElementById("top").append(h("div", {},
    h("div", {}, h("h1", {}, title),
      h("p", {}, `${count(cells.rows, "result")} from ${database}${open > 0 ? `; ${count(open, "cell")} of ${planned.toLocaleString("en")} are not done yet` : ""}`)),
    h("div", { class: "controls theme" }, choice("Colours", theme.choices, "auto", theme.choose))));
}

/** The library's own words, and what was studied, in numbers. */
function summary() {
  const found = [...tables.values()].filter((t) => (t.name === "summary" || t.name.startsWith("summary-")));
  const engines = new Set(allRows.map(contender)), fabrics = new Set(allRows.map((r) => text("fabric", r)));
  const ok = allRows.filter((r) => text("status", r) === "ok").length;
  const simulated = allRows.filter((r) => text("sim_status", r) !== "").length;
  const facts = [[fabrics.size, fabrics.size === 1 ? "fabric" : "fabrics"], [engines.size, engines.size === 1 ? "engine" : "engines, with VLs and options"],
    [cells.rows, "cells done"], [`${cells.rows ? nice((100 * ok) / cells.rows, 3) : 0} %`, "of them without fault"], [simulated, "simulated"]];
  return section("summary", "Summary",
    "A study lets fabrics break in many ways, routes what is left with several engines, and judges the result. A cell is one fabric with one set of failures, routed by one engine.",
    ...found.flatMap(advice),
    h("ul", { class: "facts" }, ...facts.map(([n, words]) => h("li", {}, h("b", {}, typeof n === "number" ? n.toLocaleString("en") : n), h("span", {}, words)))),
    ...found.filter((t) => t.rows.length > 0).map((t) => tableFigure({ ...t, notes: [] })));
}

const FIRST_BOXES = 6;

/** The sentences of a summary: what is said of all, then a box for each fabric, what to use first. */
function advice(table) {
  const scene = ["fabric", "traffic", "failures"].map((name) => table.columns.findIndex((c) => c.name === name)).filter((i) => i >= 0);
  const heads = table.rows.map((r) => scene.map((i) => r[i])).map((parts) => [`${parts.join(", ")}: `, parts.join(" · ")]);
  const boxes = [], others = [];
  for (const note of table.notes ?? []) {
    const head = heads.find(([start]) => note.startsWith(start));
    if (head === undefined) {
      others.push(h("p", {}, note));
      continue;
    }
    const [first, ...more] = note.slice(head[0].length).split(/(?<=[.]) (?=[A-Z])/);
    boxes.push(h("div", { class: "answer" }, h("p", { class: "where" }, head[1]),
      h("p", { class: "head" }, first.charAt(0).toUpperCase() + first.slice(1)), more.length > 0 ? h("p", {}, more.join(" ")) : null));
  }
  const first = boxes.slice(0, boxes.length > FIRST_BOXES + 1 ? FIRST_BOXES : boxes.length), rest = boxes.slice(first.length);
  return [...(others.length > 0 ? [h("div", { class: "answer" }, ...others)] : []), ...first,
    ...(rest.length > 0 ? [h("details", {}, h("summary", {}, `${rest.length} more fabrics and kinds of failures`), ...rest)] : [])];
}

const wordList = [
  ["fabric", "Switches, the cables between them, and the terminals (adapters of computers) on them."],
  ["engine", "A routing algorithm: it computes for each switch by which port it forwards what."],
  ["deadlock", "Packets wait for each other's buffers in a ring, for ever. A lossless network must exclude it by its routes."],
  ["VLs", "Virtual lanes: several queues with buffers of their own on one cable."],
  ["channel", "One direction of a cable."],
  ["throughput", "What all terminals together receive, in 10⁹ bytes of payload a second (GB/s)."],
  ["confidence", "The true mean lies in the given range in 95 of 100 such studies."],
  ["regression", "The straight line that comes nearest to all points; R² is 1 where points lie on it, 0 where it says nothing."],
  ["seed", "A number that decides which parts fail. All engines meet the same seeds, so the same failures."],
  ["edge forwarding index", "How many routes between terminals share a channel; the largest bounds what all can send at once."],
];

function data() {
  const columns = Object.keys(cells).filter((name) => name !== "rows");
  const save = () => download("cells.csv", csv(columns, allRows.map((r) => columns.map((c) => cells[c][r]))));
  return section("data", "All data, and how it was made",
    "Every cell with all that was measured, as one file for a spreadsheet; and the commands that made it.",
    h("p", {}, h("button", { type: "button", id: "all-cells", click: save }, `All ${count(cells.rows, "cell")} as CSV`)),
    plans.rows > 0 ? h("ul", { class: "plain" }, ...Array.from({ length: plans.rows }, (_, i) =>
      h("li", {}, h("code", {}, `selvage study ${plans.words[i]}`), h("br"), h("span", { class: "quiet" }, `${plans.done[i]} of ${count(plans.cells[i], "cell")} done, selvage ${plans.version[i]}`)))) : null,
    h("h3", {}, "Words"),
    h("dl", { class: "words" }, ...wordList.flatMap(([word, says]) => [h("dt", {}, word), h("dd", {}, says)])));
}

// Sections in order: id, how it is called in the list, what makes it, and what is missing without.
const sections = [
  ["Summary", summary, null],
  ["As parts fail", degradation, ["throughput as parts fail", "study degradation --fabric FABRIC --links 0,1%,3%,5% --seeds 1..5"]],
  ["Lifetime", lifetime, ["years until throughput is too low", "study lifetime --fabric FABRIC --years 1..8 --seeds 1..10"]],
  ["Single terminals", boxes, ["what single terminals receive", "study degradation --fabric FABRIC"]],
  ["Which can be used", usability, ["which engine can be used where", "study usability --fabric FABRIC"]],
  ["VLs", vls, ["VLs that engines need", "study vls --fabric FABRIC"]],
  ["Balance", balance, ["how evenly routes are spread", "study balance --fabric FABRIC"]],
  ["Bisection", ebb, ["effective bisection bandwidth", "study ebb --fabric FABRIC"]],
  ["Lost connections", lostConnections, ["connections lost when parts fail", "study lost --fabric FABRIC"]],
  ["Time to route", runtime, null],
  ["Fabric under load", map, ["the fabric under load", "study run --fabric FABRIC (loads of the first seed are kept)"]],
  ["Where packets wait", latency, ["where packets wait", "study run --fabric FABRIC (with a simulation; the first seed is kept)"]],
  ["Latency maps", gallery, null],
];

function start() {
  theme.start();
  header();
  // Colours of engines by their order in the cells, the same in all charts.
  for (const name of group(allRows, contender).keys()) engineOrder.push(name);
  const main = document.getElementById("main"), contents = h("ol", {}), missing = [];
  const add = (name, made) => {
    main.append(made);
    contents.append(h("li", {}, h("a", { href: `#${made.id}` }, name)));
  };
  for (const [name, make, lack] of sections) {
    const made = make();
    if (made) add(name, made);
    else if (lack) missing.push(lack);
  }
  add("Data", data());
  if (missing.length > 0) {
    document.getElementById("data-heading").parentElement.append(h("h3", {}, "Not in this report"),
      h("ul", { class: "plain", id: "missing" }, ...missing.map(([what, command]) => h("li", {}, `${what}: `, h("code", {}, `selvage ${command.split(" (")[0]} --db ${database}`), command.includes(" (") ? ` (${command.split(" (")[1]}` : ""))));
  }
  document.getElementById("contents").append(contents);
  document.getElementById("bottom").append(h("div", {}, `Made by selvage ${version} from ${database}. This page is one file and needs no network. Charts: Apache ECharts.`));
  document.documentElement.dataset.ready = "yes";
}

start();
