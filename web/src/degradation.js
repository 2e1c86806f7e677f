// degradation.js: throughput as parts fail: means with their confidence, and regression lines. All
// numbers are the library's tables, which selvage report --text prints as well.
import { figure, section } from "./chart.js";
import { choice, h, nice, tick } from "./dom.js";
import { tables } from "./data.js";
import * as theme from "./theme.js";

/** Column numbers of a table by name. */
export const places = (table) => Object.fromEntries(table.columns.map((c, i) => [c.name, i]));

/** Engines in the order in which they first come in any table or cell: it gives them their colours. */
export const engineOrder = [];
export const lookOf = (engine) => {
  if (!engineOrder.includes(engine)) engineOrder.push(engine);
  return theme.look(engineOrder.indexOf(engine));
};

/** Room above a chart for a legend of these names, in as many lines as it takes. */
export const legendRoom = (names, width) =>
  34 + 24 * Math.floor((names.join("").length * 7.5 + names.length * 46) / Math.max(200, width));

const partsOf = (failures) =>
  /^link/.test(failures) ? "failed links" : /^switch/.test(failures) ? "failed switches" : "failed parts";

function scenes(means) {
  const at = places(means);
  const found = new Map();
  for (const r of means.rows) {
    const key = JSON.stringify([r[at.fabric], r[at.traffic], r[at.failures]]);
    if (!found.has(key)) found.set(key, { fabric: r[at.fabric], traffic: r[at.traffic], failures: r[at.failures], rows: [], lines: [] });
    found.get(key).rows.push(r);
  }
  const lines = tables.get("degradation-lines");
  if (lines) {
    const l = places(lines);
    for (const r of lines.rows) {
      found.get(JSON.stringify([r[l.fabric], r[l.traffic], r[l.failures]]))?.lines.push(r);
    }
  }
  return [...found.values()];
}

function curves(scene, at) {
  const out = new Map();
  for (const r of scene.rows) {
    if (r[at.throughput] === null) continue;
    if (!out.has(r[at.engine])) out.set(r[at.engine], []);
    out.get(r[at.engine]).push({ x: r[at.failed] ?? 0, y: r[at.throughput], half: r[at["±"]], faults: r[at.faults], kept: r[at.kept], n: r[at.measured], cells: r[at.cells] });
  }
  for (const points of out.values()) points.sort((a, b) => a.x - b.x);
  return out;
}

/** A polygon between two lines, as one item of a custom series. */
function band(name, color, points, toY) {
  const inside = points.filter((p) => p.half !== null);
  return {
    type: "custom", name, silent: true, z: 1, itemStyle: { color },
    data: inside.length > 1 ? [0] : [],
    renderItem: (params, api) => {
      const up = inside.map((p) => api.coord([p.x, toY(p.y + p.half)]));
      const down = inside.map((p) => api.coord([p.x, toY(Math.max(0, p.y - p.half))])).reverse();
      const { x, y, width, height } = params.coordSys;
      return {
        type: "polygon", shape: { points: [...up, ...down] }, style: { fill: color, opacity: 0.17 },
        clipPath: { type: "rect", shape: { x, y, width, height } },
      };
    },
    encode: { x: -1, y: -1 },
  };
}

function option(scene, at, state) {
  const found = curves(scene, at);
  const series = [];
  const lineColumns = tables.get("degradation-lines") && places(tables.get("degradation-lines"));
  const most = Math.max(0, ...scene.rows.map((r) => r[at.failed] ?? 0));
  for (const [engine, points] of found) {
    const look = lookOf(engine);
    const base = points[0]?.kept ? points[0].y / (points[0].kept / 100) : NaN;
    const toY = state.share ? (y) => (100 * y) / base : (y) => y;
    if (state.hidden.has(engine) || (state.share && !Number.isFinite(base))) continue;
    if (state.bands) series.push(band(engine, look.color, points, toY));
    series.push({
      type: "line", name: engine, color: look.color, symbol: look.symbol, symbolSize: 8, z: 3,
      lineStyle: { width: 2, type: look.dash, opacity: state.lines ? 0.35 : 1 }, data: points.map((p) => [p.x, toY(p.y), p]),
    });
    const line = state.lines && scene.lines.find((r) => r[lineColumns.engine] === engine);
    if (line) {
      const y = (x) => toY(line[lineColumns.intercept] + line[lineColumns.slope] * x);
      series.push({ type: "line", name: engine, color: look.color, symbol: "none", silent: true, z: 2, tooltip: { show: false },
        lineStyle: { width: 2, type: look.dash }, data: [[0, y(0)], [most, y(most)]] });
    }
  }
  const names = [...found.keys()].filter((name) => !state.hidden.has(name));
  return (width) => ({
    legend: { data: names.map((name) => ({ name, icon: lookOf(name).symbol })), selectedMode: false },
    grid: { left: 62, right: 18, bottom: 48, top: legendRoom(names, width) },
    tooltip: {
      trigger: "item",
      formatter: (p) => {
        const d = p.data?.[2];
        if (!d) return "";
        const box = document.createElement("div");
        box.append(h("b", {}, p.seriesName), h("div", {}, `${d.faults}: ${nice(d.x)} ${partsOf(scene.failures)} in the mean`),
          h("div", {}, `${nice(d.y, 5)} GB/s${d.half === null ? "" : ` ± ${nice(d.half, 3)}`}${d.kept === null ? "" : `, ${nice(d.kept, 3)} % of fault-free`}`),
          h("div", {}, `${d.n} of ${d.cells} cells`));
        return box;
      },
    },
    xAxis: { type: "value", name: partsOf(scene.failures), nameGap: 28, min: 0, max: most || null },
    yAxis: { type: "value", name: state.share ? "% of fault-free throughput" : "throughput, GB/s", nameGap: 46, min: 0 },
    series,
  });
}

export function degradation() {
  const means = tables.get("degradation");
  if (!means || means.rows.length === 0) return null;
  const at = places(means);
  const all = scenes(means);
  const state = { bands: true, lines: false, share: false, scene: all[0], hidden: new Set() };
  const words = (s) => `${s.fabric} · ${s.traffic}${s.failures && s.failures !== "none" ? ` · ${s.failures}` : ""}`;
  const fig = figure({
    id: "degradation", caption: words(all[0]), height: "27rem",
    option: (width) => option(state.scene, at, state)(width),
    table: () => ({ columns: means.columns, rows: state.scene.rows }),
    note: () => "Points are means over repeated draws of failures, shaded bands their 95 % confidence.",
  });
  const controls = h("div", { class: "controls" },
    all.length > 1 ? choice("Fabric, traffic and failures", all.map((s) => [s, words(s)]), state.scene, (s) => { state.scene = s; pickEngines(); redraw(); }) : null,
    choice("Measure", [[false, "throughput"], [true, "share of fault-free throughput"]], false, (v) => { state.share = v; redraw(); }),
    tick("confidence bands", true, (v) => { state.bands = v; redraw(); }),
    tick("regression lines", false, (v) => { state.lines = v; redraw(); }));
  const engines = h("fieldset", {});
  const pickEngines = () => engines.replaceChildren(h("legend", {}, "Engines"), ...[...curves(state.scene, at).keys()].map((name) =>
    tick(name, !state.hidden.has(name), (v) => { if (v) state.hidden.delete(name); else state.hidden.add(name); redraw(); })));
  pickEngines();
  const more = ["degradation-best", "degradation-lines", "degradation-crossings"]
    .map((name) => tables.get(name)).filter((t) => t && t.rows.length > 0).map((t) => sceneTable(t, state));
  const redraw = () => {
    fig.draw({ caption: words(state.scene), label: `Throughput over ${partsOf(state.scene.failures)} for ${[...curves(state.scene, at).keys()].join(", ")} on ${state.scene.fabric}` });
    for (const m of more) m.draw();
  };
  queueMicrotask(redraw);
  return section("degradation", "Throughput as parts fail",
    "How much all terminals together receive while more and more parts of the fabric are broken and nobody repairs them. Every engine meets the same failures, so lines can be compared.",
    controls, h("div", { class: "controls" }, engines), fig.element, ...more.map((m) => m.element));
}

/** Of a table of the library what belongs to the scene that is shown, without what is the same in all rows. */
function sceneTable(table, state) {
  const at = places(table);
  const same = ["fabric", "traffic", "failures"];
  const keep = table.columns.map((_, i) => i).filter((i) => !same.includes(table.columns[i].name));
  const fig = figure({
    id: table.name, caption: table.title, says: table.says, whole: () => table,
    table: () => ({
      columns: keep.map((i) => table.columns[i]),
      rows: table.rows.filter((r) => same.every((name) => r[at[name]] === state.scene[name])).map((r) => keep.map((i) => r[i])),
    }),
    note: () => table.notes?.join(" "),
  });
  fig.element.classList.add("long");
  return {
    element: fig.element,
    draw: () => {
      fig.element.hidden = !table.rows.some((r) => same.every((name) => r[at[name]] === state.scene[name]));
      fig.draw();
    },
  };
}

/** A table of the library as it is, with its words and notes. */
export function tableFigure(table, of) {
  const fig = figure({ id: table.name, caption: table.title, says: table.says, table: () => table, of: typeof of === "function" ? of : undefined,
    note: () => table.notes?.join(" ") });
  fig.element.classList.add("long");
  fig.draw();
  return fig.element;
}
