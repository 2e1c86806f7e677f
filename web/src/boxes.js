// boxes.js: distributions: what single terminals received, and how evenly routes are spread.
import { figure, section } from "./chart.js";
import { choice, h, nice } from "./dom.js";
import { allRows, cells, contender, group, levels, text, traffic, value } from "./data.js";
import { legendRoom, lookOf, tableFigure } from "./degradation.js";
import { tables } from "./data.js";

const five = ["bw_min", "bw_q1", "bw_median", "bw_q3", "bw_max"];

/** Box plots of consumption bandwidth: a box for each engine at a level of failures. */
export function boxes() {
  const rows = allRows.filter((r) => !Number.isNaN(value("bw_median", r)));
  if (rows.length === 0) return null;
  const fabrics = [...group(rows, (r) => JSON.stringify([text("fabric", r), traffic(r)])).entries()]
    .map(([key, list]) => ({ name: JSON.parse(key).join(" · "), rows: list }));
  const state = { fabric: fabrics[0], level: null };
  const chosen = () => {
    const list = state.fabric.rows.filter((r) => text("faults", r) === state.level);
    // One cell an engine: the first seed, as every box is of one simulation.
    return [...group(list, contender).values()].map((of) => of.reduce((a, b) => (value("seed", b) < value("seed", a) ? b : a)));
  };
  const fig = figure({
    id: "bandwidth", caption: "Bandwidth of single terminals",
    option: () => {
      const list = chosen();
      return {
        grid: { left: 62, right: 18, bottom: 56, top: 16 },
        tooltip: { trigger: "item", formatter: (p) => {
          const r = list[p.dataIndex];
          const box = document.createElement("div");
          box.append(h("b", {}, contender(r)), ...[["most", 4], ["upper quartile", 3], ["median", 2], ["lower quartile", 1], ["least", 0]]
            .map(([name, i]) => h("div", {}, `${name}: ${nice(value(five[i], r))} GB/s`)), h("div", {}, `mean: ${nice(value("bw_avg", r))} GB/s`));
          return box;
        } },
        xAxis: { type: "category", data: list.map(contender), axisLabel: { interval: 0, rotate: list.length > 7 ? 40 : 0 } },
        yAxis: { type: "value", name: "GB/s a terminal", nameGap: 46, min: 0 },
        series: [{
          type: "boxplot", boxWidth: [8, 46],
          data: list.map((r) => {
            const { color } = lookOf(contender(r));
            return { value: five.map((c) => value(c, r)), itemStyle: { color: `${color}33`, borderColor: color, borderWidth: 2 } };
          }),
        }, {
          type: "scatter", symbol: "diamond", symbolSize: 9, z: 5,
          data: list.map((r, i) => ({ value: [i, value("bw_avg", r)], itemStyle: { color: lookOf(contender(r)).color } })),
        }],
      };
    },
    table: () => ({
      columns: ["fabric", "traffic", "faults", "seed", "engine", ...five, "bw_avg"].map((name, i) => ({ name, digits: i < 3 || i === 4 ? -2 : -1 })),
      rows: chosen().map((r) => [text("fabric", r), traffic(r), text("faults", r), value("seed", r), contender(r), ...five.map((c) => value(c, r)), value("bw_avg", r)]),
    }),
    note: "A box spans the middle half of the terminals, the line in it is the median, the whiskers reach to the least and the most, the diamond is the mean. One simulation each, that of the first draw of failures.",
  });
  const levelPlace = h("span", {});
  const redraw = () => fig.draw({ caption: `${state.fabric.name} · ${state.level === "none" ? "no failures" : state.level}` });
  const pickLevels = () => {
    const list = levels(state.fabric.rows).map((l) => l.words);
    if (!list.includes(state.level)) state.level = list[0];
    levelPlace.replaceChildren(choice("Failures", list, state.level, (v) => { state.level = v; redraw(); }));
    redraw();
  };
  queueMicrotask(pickLevels);
  return section("bandwidth", "What single terminals receive",
    "A good routing treats terminals alike: short boxes, high up. Long boxes mean that some terminals starve while others do well.",
    h("div", { class: "controls" },
      fabrics.length > 1 ? choice("Fabric and traffic", fabrics.map((f) => [f, f.name]), state.fabric, (f) => { state.fabric = f; pickLevels(); }) : null, levelPlace),
    fig.element);
}

const BINS = 24;

/** Histograms of the edge forwarding index over cells, an outline for each engine. */
export function balance() {
  const rows = allRows.filter((r) => !Number.isNaN(value("efi_max", r)));
  const table = tables.get("balance");
  if (rows.length === 0) return null;
  // As the library's tables: fabrics that differ in their seed only are one.
  const plain = (r) => text("fabric", r).replace(/([:,])seed=\d+,?/, "$1").replace(/[:,]$/, "");
  const fabrics = [["", "all fabrics"], ...[...new Set(rows.map(plain))].map((f) => [f, f])];
  const measures = [["efi_max", "routes on the busiest channel"], ["efi_avg", "routes on a channel, average"],
    ["efi_min", "routes on the least used channel"], ["efi_sdv", "deviation between channels"], ["hops_max", "longest path, hops"]]
    .filter(([c]) => cells[c] !== undefined);
  const state = { fabric: fabrics.length > 2 ? fabrics[1][0] : "", measure: measures[0] };
  const counted = () => {
    const list = rows.filter((r) => (state.fabric === "" || plain(r) === state.fabric) && !Number.isNaN(value(state.measure[0], r)));
    const values = list.map((r) => value(state.measure[0], r));
    const low = values.reduce((a, b) => Math.min(a, b), Infinity), high = values.reduce((a, b) => Math.max(a, b), -Infinity);
    const whole = values.every((v) => Number.isInteger(v));
    const width = whole ? Math.max(1, Math.ceil((high - low + 1) / BINS)) : (high - low) / BINS || 1;
    const count = Math.max(1, Math.min(BINS, Math.floor((high - low) / width) + 1));
    const edges = Array.from({ length: count }, (_, i) => low + i * width);
    const engines = new Map();
    for (const r of list) {
      const name = contender(r);
      if (!engines.has(name)) engines.set(name, new Array(count).fill(0));
      engines.get(name)[Math.min(count - 1, Math.floor((value(state.measure[0], r) - low) / width))]++;
    }
    const label = (e) => (whole ? (width === 1 ? `${e}` : `${e}–${e + width - 1}`) : nice(e, 4));
    return { edges, width, whole, engines, labels: edges.map(label) };
  };
  const fig = figure({
    id: "balance-histogram", caption: "Histogram",
    option: (width) => {
      const { engines, labels } = counted();
      const names = [...engines.keys()];
      return {
        legend: { data: names },
        grid: { left: 56, right: 18, bottom: 48, top: legendRoom(names, width) },
        tooltip: { trigger: "axis", axisPointer: { type: "shadow" } },
        xAxis: { type: "category", data: labels, name: state.measure[1], nameGap: 28 },
        yAxis: { type: "value", name: "cells", nameGap: 38, minInterval: 1 },
        series: names.map((name) => ({ type: "bar", name, color: lookOf(name).color, barGap: "0%", barCategoryGap: "12%", data: engines.get(name) })),
      };
    },
    table: () => {
      const { edges, width, whole, engines } = counted();
      return {
        columns: [{ name: "from" }, { name: whole ? "to" : "below" }, ...[...engines.keys()].map((name) => ({ name, digits: 0 }))],
        rows: edges.map((e, i) => [e, whole ? e + width - 1 : e + width, ...[...engines.values()].map((c) => c[i])]),
      };
    },
    note: "How many cells have a value in each range; further left is better balanced.",
  });
  const redraw = () => fig.draw({ caption: `${state.fabric === "" ? "all fabrics" : state.fabric} · ${state.measure[1]}` });
  queueMicrotask(redraw);
  return section("balance", "How evenly routes are spread",
    "Routes between terminals share the channels (one direction of a cable between switches). How many routes the busiest channel has bounds what all can send at once; people call it the edge forwarding index.",
    h("div", { class: "controls" },
      fabrics.length > 2 ? choice("Fabric", fabrics, state.fabric, (f) => { state.fabric = f; redraw(); }) : null,
      choice("Measure", measures.map((m) => [m, m[1]]), state.measure, (m) => { state.measure = m; redraw(); })),
    fig.element, table && table.rows.length > 0 ? tableFigure(table) : null);
}
