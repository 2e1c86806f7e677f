// latency.js: where and when packets waited: switches down, time across; and as a surface.
import { figure, section } from "./chart.js";
import { choice, h, nice } from "./dom.js";
import { leftOut, numbers, text, timelines, words } from "./data.js";
import { fabricOf } from "./fabric.js";
import { cellWords, picker } from "./picker.js";
import { surface } from "./surface.js";
import * as theme from "./theme.js";

export function latency() {
  const rows = [...timelines.keys()].filter((r) => fabricOf(text("fabric", r)) !== null);
  if (rows.length === 0) return null;
  const state = { row: -1, most: 40 };

  function choose(row) {
    const kept = timelines.get(row), f = fabricOf(text("fabric", row));
    const [interval, largest] = numbers(kept.scale);
    const raw = words(kept.body), n = f.names.length;
    const sums = new Float64Array(n);
    for (let i = 0; i < raw.length; i++) sums[i % n] += raw[i];
    const order = f.names.map((_, s) => s).sort((a, b) => sums[b] - sums[a] || a - b);
    const means = Float64Array.from(sums, (sum) => ((sum / kept.columns) / 65535) * largest);
    Object.assign(state, { row, kept, f, interval, largest, raw, n, order, means });
    drawSurface();
    fig.draw({ caption: cellWords(row), label: `How long packets waited at switches over time: ${cellWords(row)}` });
  }
  const plane = h("div", { class: "surface-box" }), planeCaption = h("figcaption", {}, "Surface");
  function drawSurface() {
    const top = state.order[0], most = state.means.reduce((a, b) => Math.max(a, b), 0);
    planeCaption.textContent = `${cellWords(state.row)}: highest at ${state.f.names[state.means.indexOf(most)] ?? state.f.names[top]}, ${nice(most, 3)} µs`;
    plane.replaceChildren(surface(state.f, state.means, most, "µs", `Mean waits as a surface over the switches: ${planeCaption.textContent}`));
  }
  theme.onChange(() => { if (state.row >= 0) drawSurface(); });
  const at = (s, column) => (state.raw[column * state.n + s] / 65535) * state.largest;
  const shownSwitches = () => (state.most === 0 ? state.order : state.order.slice(0, state.most));
  const time = (column) => nice(column * state.interval, 5);

  const fig = figure({
    id: "latency", caption: "Waiting", height: "34rem",
    option: () => {
      const list = shownSwitches();
      const data = [];
      list.forEach((s, y) => { for (let c = 0; c < state.kept.columns; c++) data.push([c, y, at(s, c)]); });
      return {
        grid: { left: Math.min(150, 20 + 7 * Math.max(...list.map((s) => state.f.names[s].length))), right: 18, bottom: 92, top: 10 },
        tooltip: { formatter: (p) => {
          const box = document.createElement("div");
          box.append(h("b", {}, state.f.names[list[p.value[1]]]), h("div", {}, `${time(p.value[0])} to ${time(p.value[0] + 1)} µs`), h("div", {}, `waited ${nice(p.value[2], 3)} µs in the mean`));
          return box;
        } },
        xAxis: { type: "category", data: Array.from({ length: state.kept.columns }, (_, c) => time(c)), name: "time, µs", nameGap: 26, splitLine: { show: false } },
        yAxis: { type: "category", inverse: true, data: list.map((s) => state.f.names[s]), splitLine: { show: false }, axisLabel: { width: 130, overflow: "truncate" } },
        visualMap: { type: "continuous", min: 0, max: state.largest || 1, calculable: false, orient: "horizontal", left: "center", bottom: 6, itemWidth: 12, itemHeight: 160,
          inRange: { color: theme.ramp() }, text: [`${nice(state.largest, 3)} µs`, "0 µs"], textStyle: { color: theme.css("--ink") } },
        series: [{ type: "heatmap", data, progressive: 0, itemStyle: { borderWidth: 0 } }],
      };
    },
    table: () => ({
      columns: [{ name: "switch", digits: -2 }, { name: "from", unit: "µs" }, { name: "to", unit: "µs" }, { name: "waited", unit: "µs" }],
      rows: state.order.flatMap((s) => Array.from({ length: state.kept.columns }, (_, c) => [state.f.names[s], c * state.interval, (c + 1) * state.interval, at(s, c)])),
    }),
    note: () => `How long a packet waited at a switch beyond what it had to, in the mean of each interval.${leftOut.timelines ? ` To keep this page small, ${leftOut.timelines} such maps were left out.` : ""}`,
  });
  return section("latency", "Where packets wait",
    "Switches from top to bottom, those with the longest waits first; time from left to right. Stripes that stay are bottlenecks of the routing, not chance.",
    picker(rows, choose),
    h("div", { class: "controls" }, choice("Switches", [[40, "the 40 with the longest waits"], [200, "the 200 with the longest waits"], [0, "all"]], 40, (v) => { state.most = v; fig.draw(); })),
    fig.element,
    h("figure", { id: "figure-surface" }, h("div", { class: "bar" }, planeCaption), plane,
      h("p", { class: "note" }, "The same waits as a surface over the switches: the mean of all intervals. Rows are lines of a grid or levels of a tree; fabrics without rows have bars.")));
}
