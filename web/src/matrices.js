// matrices.js: sections that are tables of the library, some with a chart on top: which engine can
// be used where, VLs, running time, bisection bandwidth, lost connections, lifetime.
import { figure, section } from "./chart.js";
import { choice, h, nice } from "./dom.js";
import { contender, lost, row, tables, text } from "./data.js";
import * as theme from "./theme.js";
import { legendRoom, lookOf, places, tableFigure } from "./degradation.js";

const filled = (name) => { const t = tables.get(name); return t && t.rows.length > 0 ? t : null; };

const letters = [
  ["o", "ok", "deadlock-free and complete"], ["c", "some", "could deadlock, but did not in the simulation"],
  ["d", "no", "deadlocked in the simulation"], ["i", "no", "incomplete: some terminals are not joined"],
  ["r", "no", "the engine refused or failed"], ["x", "nothing", "cannot be told (a limit of time or memory, say)"],
];

function classOf(value) {
  if (typeof value !== "string" || value === "") return "nothing";
  const kinds = value.split(" ").map((part) => letters.find(([l]) => l === part[0])?.[1] ?? "nothing");
  return kinds.every((k) => k === kinds[0]) ? kinds[0] : "some";
}

export function usability() {
  const table = filled("usability");
  if (!table) return null;
  const letterTable = (t) => tableFigure({ ...t, says: null }, (v, r, i) => (["fabric", "faults"].includes(t.columns[i].name) ? "" : classOf(v)));
  return section("usability", "Which engine can be used where",
    "An engine computes the tables by which switches forward. Not each can do each fabric, least of all a broken one; and tables by which packets can wait for each other in a ring (a deadlock) may stop the whole machine. Letters say how cells ended, with numbers where they differ.",
    h("ul", { class: "key", "aria-label": "What letters mean" },
      ...letters.map(([letter, kind, words]) => h("li", {}, h("b", { class: kind }, letter), words))),
    ...["usability", "usability-faults"].map(filled).filter(Boolean).map(letterTable),
    ...["usability-words"].map(filled).filter(Boolean).map((t) => tableFigure(t)));
}

const MOST_GROUPS = 60;

/** From the least to the most, over the bars of one of several engines. data: [x, least, most]. */
function whiskers(name, place, count, data) {
  return {
    type: "custom", name, silent: true, z: 4, tooltip: { show: false }, encode: { x: 0, y: [1, 2] },
    data: data.filter(([, low, high]) => high > low),
    renderItem: (_, api) => {
      const at = api.barLayout({ count, barGap: "8%", barMaxWidth: 30 })[place];
      const [x, low] = api.coord([api.value(0), api.value(1)]), [, high] = api.coord([api.value(0), api.value(2)]);
      const middle = x + at.offsetCenter, wing = Math.min(5, at.width / 3);
      const line = (x1, y1, x2, y2) => ({ type: "line", shape: { x1, y1, x2, y2 }, style: { stroke: theme.css("--ink"), lineWidth: 1.3 } });
      return { type: "group", children: [line(middle, low, middle, high), line(middle - wing, low, middle + wing, low), line(middle - wing, high, middle + wing, high)] };
    },
  };
}

/** Bars: engines side by side, for each amount of failures of a fabric, or for each fabric. */
function bars({ id, table, value, least, most, unit, by = "faults" }) {
  const at = places(table);
  const known = table.rows.filter((r) => r[at[value]] !== null);
  const fabrics = [...new Set(known.map((r) => r[at.fabric]))];
  const alone = fabrics.every((f) => new Set(known.filter((r) => r[at.fabric] === f).map((r) => r[at[by]])).size === 1);
  const state = { fabric: fabrics[0] };
  const rows = () => (alone ? known : known.filter((r) => r[at.fabric] === state.fabric));
  const key = (r) => (alone ? r[at.fabric] : r[at[by]] === "none" ? "no failures" : r[at[by]]);
  const caption = () => (alone ? table.title : `${table.title}: ${state.fabric}`);
  const fig = figure({
    id, caption: caption(), says: table.says,
    option: (width) => {
      const groups = [...new Set(rows().map(key))].slice(0, MOST_GROUPS);
      const engines = [...new Set(rows().map((r) => r[at.engine]))];
      const of = new Map(rows().map((r) => [`${key(r)}\n${r[at.engine]}`, r]));
      const tilted = groups.join("").length * 8 + groups.length * 20 > width - 80;
      return {
        legend: { data: engines },
        grid: { left: 62, right: 18, bottom: tilted ? 110 : 36, top: legendRoom(engines, width) },
        tooltip: { trigger: "item", formatter: (p) => {
          const r = of.get(`${groups[p.dataIndex]}\n${p.seriesName}`);
          const box = document.createElement("div");
          box.append(h("b", {}, p.seriesName), h("div", {}, groups[p.dataIndex]),
            h("div", {}, `${value} ${nice(r[at[value]])} ${unit}`), h("div", {}, `from ${nice(r[at[least]])} to ${nice(r[at[most]])}`));
          return box;
        } },
        xAxis: { type: "category", data: groups, axisLabel: tilted ? { interval: 0, rotate: 35, width: 140, overflow: "truncate" } : { interval: 0 } },
        yAxis: { type: "value", name: unit, nameGap: 46 },
        series: [...engines.map((name) => ({
          type: "bar", name, color: lookOf(name).color, barGap: "8%", barMaxWidth: 30,
          data: groups.map((g) => of.get(`${g}\n${name}`)?.[at[value]] ?? null),
        })), ...engines.map((name, i) => whiskers(name, i, engines.length,
          groups.map((g, x) => [x, ...[least, most].map((c) => of.get(`${g}\n${name}`)?.[at[c]] ?? NaN)])))],
      };
    },
    table: () => ({ columns: table.columns, rows: rows() }),
    whole: () => table,
    note: () => {
      const count = new Set(rows().map(key)).size;
      return [...(count > MOST_GROUPS ? [`The chart has the first ${MOST_GROUPS} of ${count}; the table has all.`] : []), ...(table.notes ?? [])].join(" ");
    },
  });
  const controls = alone || fabrics.length < 2 ? null : h("div", { class: "controls" },
    choice("Fabric", fabrics, state.fabric, (f) => { state.fabric = f; fig.draw({ caption: caption() }); }));
  queueMicrotask(() => fig.draw());
  return [controls, fig.element];
}

export function vls() {
  const table = filled("vls-range");
  if (!table || !table.rows.some((r) => r[places(table).mean] !== null)) return null;
  return section("vls", "VLs that deadlock freedom takes",
    "A cable carries several virtual lanes with buffers of their own. Engines spread routes over VLs so that no ring of waiting packets can form; hardware offers 1, 2, 4, 8 or 15. Fewer leave more for other uses.",
    ...bars({ id: "vls-range", table, value: "mean", least: "min", most: "max", unit: "VLs" }).filter(Boolean));
}

export function ebb() {
  const table = filled("ebb-range");
  if (!table) return null;
  return section("ebb", "Effective bisection bandwidth",
    "Random halves of the terminals send to each other: which share of the full bandwidth does a flow get? 1 is the most that there can be.",
    ...bars({ id: "ebb-range", table, value: "mean", least: "min", most: "max", unit: "share of full bandwidth" }).filter(Boolean));
}

export function runtime() {
  const table = filled("runtime-range");
  if (!table) return null;
  const at = places(table);
  const rows = table.rows.filter((r) => r[at.mean] !== null);
  const sizes = new Set(rows.map((r) => r[at.terminals]));
  if (rows.length === 0) return null;
  if (sizes.size < 3) {
    return section("runtime", "How long routing takes", "Seconds that one thread takes to compute tables.",
      ...bars({ id: "runtime-range", table, value: "mean", least: "min", most: "max", unit: "seconds" }).filter(Boolean));
  }
  const levels = [...new Set(rows.map((r) => r[at.faults]))];
  const state = { faults: levels[0] };
  const shown = () => rows.filter((r) => r[at.faults] === state.faults);
  const fig = figure({
    id: "runtime-range", caption: table.title, says: table.says, whole: () => table,
    option: (width) => {
      const engines = [...new Set(shown().map((r) => r[at.engine]))];
      return {
        legend: { data: engines },
        grid: { left: 66, right: 18, bottom: 48, top: legendRoom(engines, width) },
        tooltip: { trigger: "item", formatter: (p) => {
          const r = p.data[2];
          const box = document.createElement("div");
          box.append(h("b", {}, r[at.engine]), h("div", {}, r[at.fabric]), h("div", {}, `${nice(r[at.mean])} s in the mean`), h("div", {}, `${r[at.routed]} of ${r[at.cells]} cells routed`));
          return box;
        } },
        xAxis: { type: "log", name: "terminals", nameGap: 28, min: "dataMin", max: "dataMax", splitLine: { show: false } },
        yAxis: { type: "log", name: "seconds", nameGap: 50 },
        series: engines.map((name) => {
          const look = lookOf(name);
          return { type: "line", name, color: look.color, symbol: look.symbol, symbolSize: 8, lineStyle: { type: look.dash },
            data: shown().filter((r) => r[at.engine] === name && r[at.mean] > 0).sort((a, b) => a[at.terminals] - b[at.terminals]).map((r) => [r[at.terminals], r[at.mean], r]) };
        }),
      };
    },
    table: () => ({ columns: table.columns, rows: shown() }),
    note: () => (table.notes ?? []).join(" "),
  });
  queueMicrotask(() => fig.draw());
  return section("runtime", "How long routing takes", "Seconds that one thread takes to compute tables, over the size of the fabric. Both axes are logarithmic.",
    levels.length > 1 ? h("div", { class: "controls" }, choice("Failures", levels, state.faults, (v) => { state.faults = v; fig.draw(); })) : null, fig.element);
}

/** Years until throughput is too low. */
export function lifetime() {
  const table = filled("lifetime"), lines = filled("lifetime-lines");
  if (!table && !lines) return null;
  const drawn = table && table.rows.some((r) => r[places(table).median] !== null);
  return section("lifetime", "How long it lasts",
    "Parts fail year after year and nobody repairs them: when does throughput fall below what is needed?",
    ...(drawn ? bars({ id: "lifetime", table, value: "median", least: "low", most: "high", unit: "years", by: "failures" }).filter(Boolean) : []),
    table && !drawn ? tableFigure(table) : null, lines ? tableFigure(lines) : null);
}

/** Lost connections: a box for each number of failures, and what is expected by theory. */
export function lostConnections() {
  if (lost.rows === 0) return null;
  const list = Array.from({ length: lost.rows }, (_, i) => i).filter((i) => row(lost.cell[i]) !== undefined);
  const keyOf = (i) => `${text("fabric", row(lost.cell[i]))} · ${contender(row(lost.cell[i]))} · failed ${lost.kind[i]}`;
  const sets = new Map();
  for (const i of list) sets.set(keyOf(i), [...(sets.get(keyOf(i)) ?? []), i]);
  const state = { key: [...sets.keys()][0] };
  const at = (name, i) => (lost[name] === undefined ? NaN : lost[name][i]);
  const fig = figure({
    id: "lost-routes", caption: state.key,
    option: () => {
      const rows = sets.get(state.key);
      const share = (v, i) => (100 * v) / at("pairs", i);
      const expected = rows.map((i) => [String(at("failures", i)), share(at("expected", i), i)]).filter(([, v]) => !Number.isNaN(v));
      const one = lookOf("measured"), two = lookOf("expected by theory");
      return {
        legend: { data: ["measured", "expected by theory"] },
        grid: { left: 62, right: 18, bottom: 48, top: 34 },
        tooltip: { trigger: "axis", formatter: (ps) => {
          const i = rows[ps[0].dataIndex];
          const box = document.createElement("div");
          box.append(h("b", {}, `${at("failures", i)} failed ${lost.kind[i]}`),
            ...["max", "q3", "median", "mean", "q1", "min", "expected"].map((c) => h("div", {}, `${c}: ${nice(at(c, i), 5)} routes (${nice(share(at(c, i), i), 3)} %)`)));
          return box;
        } },
        xAxis: { type: "category", data: rows.map((i) => String(at("failures", i))), name: `failed ${lost.kind[rows[0]]}`, nameGap: 28 },
        yAxis: { type: "value", name: "% of all routes", nameGap: 46, min: 0 },
        series: [
          { type: "boxplot", name: "measured", boxWidth: [6, 36], itemStyle: { color: `${one.color}33`, borderColor: one.color, borderWidth: 2 },
            data: rows.map((i) => ["min", "q1", "median", "q3", "max"].map((c) => share(at(c, i), i))) },
          { type: "line", name: "expected by theory", color: two.color, symbol: two.symbol, symbolSize: 8, lineStyle: { type: "dashed" }, data: expected },
        ],
      };
    },
    table: () => {
      const columns = ["failures", "trials", "pairs", "expected", "min", "q1", "median", "q3", "max", "mean"];
      return {
        columns: [{ name: "fabric", digits: -2 }, { name: "engine", digits: -2 }, { name: "kind", digits: -2 }, ...columns.map((name) => ({ name }))],
        rows: sets.get(state.key).map((i) => [text("fabric", row(lost.cell[i])), contender(row(lost.cell[i])), lost.kind[i], ...columns.map((c) => at(c, i))]),
      };
    },
    note: "A box spans the middle half of the trials; whiskers reach to the least and the most.",
  });
  queueMicrotask(() => fig.draw());
  return section("lost", "Connections lost before new tables are there",
    "When a part fails, all routes over it are lost until the subnet manager has computed new tables. How many that are, over many random failures.",
    sets.size > 1 ? h("div", { class: "controls" }, choice("Fabric, engine and failures", [...sets.keys()], state.key, (k) => { state.key = k; fig.draw({ caption: k }); })) : null,
    fig.element);
}
