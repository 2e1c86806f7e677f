// surface.js: waits of switches as a surface over them, seen from above at an angle: meshes by
// coordinate, trees by level and place. What has no such rows is drawn as bars where it is. And
// pictures that were given to the report.
import { section } from "./chart.js";
import { h, nice } from "./dom.js";
import { pictures } from "./data.js";
import * as theme from "./theme.js";

const NS = "http://www.w3.org/2000/svg";
const PLANE = 300, TALL = 190; // half of the plane's width; the highest

function s(name, attributes, ...children) {
  const made = document.createElementNS(NS, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  made.append(...children);
  return made;
}

/** Switches by row, if all rows are as long; null if not. */
function rowsOf(f) {
  if (f.layout === "groups" || f.layout === "distance") return null;
  const rows = new Map();
  f.names.forEach((_, i) => {
    const y = Math.round(f.y[i] / 2);
    if (!rows.has(y)) rows.set(y, []);
    rows.get(y).push(i);
  });
  const list = [...rows.entries()].sort((a, b) => a[0] - b[0]).map(([, row]) => row.sort((a, b) => f.x[a] - f.x[b]));
  return list.length > 1 && list[0].length > 1 && list.every((row) => row.length === list[0].length) ? list : null;
}

/** Each switch's place on the plane: 0 … 1 to the right, 0 … deep to the left. */
function placesOf(f, rows) {
  const places = new Array(f.names.length);
  if (rows === null) {
    const larger = Math.max(f.width, f.height);
    f.names.forEach((_, i) => { places[i] = [f.x[i] / larger, f.y[i] / larger]; });
    return { places, deep: f.height / larger };
  }
  const deep = Math.min(1, Math.max(0.45, rows.length / rows[0].length));
  rows.forEach((row, r) => row.forEach((i, c) => { places[i] = [c / (row.length - 1), (deep * r) / (rows.length - 1)]; }));
  return { places, deep };
}

/** The drawing of heights (one a switch) of a fabric, in a unit. */
export function surface(f, heights, most, unit, label) {
  const rows = rowsOf(f), { places, deep } = placesOf(f, rows);
  const x = (u, v) => (u - v) * PLANE, y = (u, v, z = 0) => (u + v) * PLANE * 0.5 - (most > 0 ? (z / most) * TALL : 0);
  const at = (i, z = heights[i]) => `${x(...places[i]).toFixed(1)},${y(...places[i], z).toFixed(1)}`;
  const colours = theme.ramp(), fill = (z) => (z > 0 ? theme.heatText(most > 0 ? Math.min(1, z / most) : 0, colours) : "var(--line)");
  const name = (i) => s("title", {}, `${f.names[i]}: ${nice(heights[i], 3)} ${unit}`);
  const left = x(0, deep), bottom = y(0, deep), ground = s("g", {},
    s("polygon", { class: "floor", points: [[0, 0], [1, 0], [1, deep], [0, deep]].map(([u, v]) => `${x(u, v)},${y(u, v)}`).join(" ") }),
    s("path", { class: "axis", d: `M${left} ${bottom}v${-TALL}` }),
    ...[0, 0.5, 1].map((part) => s("text", { x: left - 5, y: bottom - TALL * part + 4, "text-anchor": "end" }, `${nice(most * part, 3)} ${unit}`)));
  const drawn = s("g", { class: "surface" });
  const point = (i) => drawn.append(s("circle", { cx: x(...places[i]), cy: y(...places[i], heights[i]), r: 3 }, name(i)));
  for (let sum = 0; rows !== null && sum < rows.length + rows[0].length - 1; sum++) {
    for (let r = 0; r <= sum && r + 1 < rows.length; r++) {
      const c = sum - r;
      if (c + 1 >= rows[0].length) continue;
      const four = [rows[r][c], rows[r][c + 1], rows[r + 1][c + 1], rows[r + 1][c]];
      const high = Math.max(...four.map((i) => heights[i])), mean = four.reduce((a, i) => a + heights[i], 0) / 4;
      drawn.append(s("polygon", { points: four.map((i) => at(i)).join(" "), fill: fill((high + mean) / 2) }));
    }
    for (let r = 0; r <= sum && r < rows.length; r++) if (sum - r < rows[0].length) point(rows[r][sum - r]);
  }
  if (rows === null) {
    const order = f.names.map((_, i) => i).sort((a, b) => places[a][0] + places[a][1] - places[b][0] - places[b][1] || a - b);
    for (const i of order) drawn.append(s("path", { class: "bar", stroke: fill(heights[i]), d: `M${at(i, 0)}L${at(i)}v-1` }, name(i)));
  }
  const corner = (i, dx, anchor) => s("text", { x: x(...places[i]) + dx, y: y(...places[i]) + 18, "text-anchor": anchor }, f.names[i].slice(0, 16));
  const last = rows === null ? null : rows[rows.length - 1];
  if (last) ground.append(corner(rows[0][last.length - 1], 0, "end"), corner(last[0], 0, "start"), corner(last[last.length - 1], 0, "middle"));
  const margin = 76;
  const box = [left - margin, -TALL - 12, PLANE + margin - left + 20, y(1, deep) + TALL + 40];
  return s("svg", { class: "latency-surface", viewBox: box.map((n) => n.toFixed(0)).join(" "), role: "img", "aria-label": label }, ground, drawn);
}

/** Pictures that came with the report: latency maps of selvage sim. */
export function gallery() {
  if (pictures.length === 0) return null;
  return section("pictures", "Latency maps",
    "How long packets waited at each switch, as a surface over the switches and over time, policy by policy (selvage sim --latency-map).",
    ...pictures.map((p, i) => h("figure", { id: `figure-picture-${i}` }, h("div", { class: "bar" }, h("figcaption", {}, p.name)),
      h("div", { class: "scroll" }, h("img", { src: `data:image/svg+xml;base64,${p.svg}`, alt: `Latency map ${p.name}` })))));
}
