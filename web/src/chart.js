// chart.js: figures: a chart (Apache ECharts), the same as a table, and both as CSV.
import * as echarts from "echarts/core";
import { BarChart, BoxplotChart, CustomChart, HeatmapChart, LineChart, ScatterChart } from "echarts/charts";
import { DataZoomInsideComponent, GridComponent, LegendComponent, TooltipComponent, VisualMapContinuousComponent } from "echarts/components";
import { CanvasRenderer } from "echarts/renderers";
import { csv, download, h, headOf, say, tableOf } from "./dom.js";
import * as theme from "./theme.js";

echarts.use([BarChart, BoxplotChart, CustomChart, HeatmapChart, LineChart, ScatterChart, DataZoomInsideComponent,
  GridComponent, LegendComponent, TooltipComponent, VisualMapContinuousComponent, CanvasRenderer]);

/** What all charts share: type, axes, tooltip in the page's colours. */
function dressed(option) {
  const ink = theme.css("--ink"), quiet = theme.css("--quiet"), line = theme.css("--line");
  const axis = (a) => ({
    nameTextStyle: { color: quiet, fontSize: 12 },
    nameLocation: "middle",
    ...a,
    axisLine: { show: true, lineStyle: { color: quiet } },
    axisTick: { lineStyle: { color: quiet } },
    axisLabel: { color: ink, fontSize: 12, hideOverlap: true, ...a.axisLabel },
    splitLine: { lineStyle: { color: line }, ...a.splitLine },
  });
  return {
    animation: false,
    textStyle: { fontFamily: "system-ui, -apple-system, Segoe UI, Roboto, Helvetica Neue, Arial, sans-serif", color: ink },
    ...option,
    legend: option.legend && { textStyle: { color: ink }, inactiveColor: quiet, type: "plain", top: 0, left: 0, itemGap: 14, ...option.legend },
    tooltip: { backgroundColor: theme.css("--paper"), borderColor: line, textStyle: { color: ink, fontSize: 13 }, confine: true, ...option.tooltip },
    xAxis: axis(option.xAxis),
    yAxis: axis(option.yAxis),
  };
}

/**
 * A figure. id: name of its CSV. option(): the chart; null for none. table(): {columns, rows}, the
 * same as numbers; whole(): what its CSV has, if that is more. says: words above. draw() shows what is to be seen now, and is returned with the element.
 */
export function figure({ id, caption, label, option, table, whole, height, of, note, says }) {
  const plot = h("div", { class: "chart", role: "img", "aria-label": label ?? caption });
  if (height) plot.style.height = height;
  const place = h("div", { class: "plot" }, option ? plot : null);
  const beside = h("div", { hidden: true });
  const title = h("figcaption", {}, caption);
  const remark = h("p", { class: "note", hidden: true });
  const asTable = h("button", { type: "button", "aria-pressed": "false", click: () => show(beside.hidden) }, "Table");
  const asCsv = h("button", {
    type: "button", "aria-label": `CSV of: ${caption}`,
    click: () => { const t = (whole ?? table)(); download(`${id}.csv`, csv(t.columns.map(headOf), t.rows)); },
  }, "CSV");
  const element = h("figure", { id: `figure-${id}` },
    h("div", { class: "bar" }, title, h("div", { class: "tools" }, option ? asTable : null, asCsv)), says ? h("p", { class: "says" }, says) : null, place, beside, remark);
  let chart = null;

  function show(tableToo) {
    beside.hidden = !tableToo;
    place.hidden = tableToo;
    asTable.setAttribute("aria-pressed", String(tableToo));
    say(tableToo ? `${title.textContent}: shown as a table` : `${title.textContent}: shown as a chart`);
    draw();
  }

  function draw(words = {}) {
    if (words.caption) {
      title.textContent = words.caption;
      asCsv.setAttribute("aria-label", `CSV of: ${words.caption}`);
      plot.setAttribute("aria-label", words.label ?? words.caption);
    }
    const says = typeof note === "function" ? note() : note;
    remark.textContent = says ?? "";
    remark.hidden = !says;
    if (!option || !beside.hidden) {
      beside.hidden = false;
      place.hidden = true;
      beside.replaceChildren(tableOf(table(), title.textContent, of));
      return;
    }
    if (!seen) return;
    chart ??= echarts.init(plot, null, { devicePixelRatio: Math.max(2, window.devicePixelRatio) });
    chart.resize();
    chart.setOption(dressed(option(plot.clientWidth)), { notMerge: true });
  }

  // Charts are drawn when they come near: a page with many opens at once. Before printing all are.
  let seen = false;
  const wake = () => { if (!seen) { seen = true; draw(); } };
  new IntersectionObserver((entries, observer) => {
    if (entries.some((e) => e.isIntersecting)) { observer.disconnect(); wake(); }
  }, { rootMargin: "600px" }).observe(element);
  window.addEventListener("beforeprint", wake);
  window.matchMedia("print").addEventListener("change", wake);
  theme.onChange(() => { if (seen) draw(); });
  let width = 0;
  new ResizeObserver(() => {
    if (seen && plot.clientWidth > 0 && plot.clientWidth !== width) { width = plot.clientWidth; draw(); }
  }).observe(element);
  return { element, draw, get chart() { return chart; } };
}

/** A heading, words and figures. */
export function section(id, heading, words, ...children) {
  return h("section", { id, "aria-labelledby": `${id}-heading` },
    h("h2", { id: `${id}-heading` }, heading), h("p", {}, words), ...children);
}
