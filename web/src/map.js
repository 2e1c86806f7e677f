// map.js: the section with the fabric under load: the drawing, its controls, the list of switches.
import { section } from "./chart.js";
import { csv, download, h, headOf, nice, say, tableOf } from "./dom.js";
import { fabrics, leftOut, loads, traffic, text } from "./data.js";
import { busiest, fabricOf, loadsOf, View } from "./fabric.js";
import { cellWords, picker } from "./picker.js";
import * as theme from "./theme.js";

const LISTED = 300;
const percent = (share) => `${nice(100 * share, 3)} %`;

export function map() {
  const rows = [...loads.keys()].filter((r) => fabricOf(text("fabric", r)) !== null);
  if (rows.length === 0) return null;
  const canvas = h("canvas", { tabindex: "0", role: "img", "aria-label": "The fabric" });
  const tip = h("div", { class: "tip", hidden: true });
  const box = h("div", { class: "canvas" }, canvas, tip);
  const view = new View(canvas);
  const find = h("input", { type: "search", placeholder: "Find a switch by name", "aria-label": "Find a switch by name", spellcheck: "false" });
  const list = h("div", { class: "list", role: "group", "aria-label": "Switches, the busiest first" });
  const caption = h("figcaption", {}, "The fabric");
  const bar = h("canvas", { width: "220", height: "16", "aria-hidden": "true" });
  const scaleEnd = h("span", {}), scaleWords = h("span", { class: "quiet" });
  const facts = h("p", { class: "note", id: "map-facts" });
  const beside = h("div", { hidden: true });
  const state = { row: -1, loads: null, fabric: null, tops: new Map(), order: [], wait: 0 };

  const unit = () => (traffic(state.row) === "" ? "of the busiest channel's routes" : "of a link's bandwidth");
  const redraw = () => { if (!state.wait) state.wait = requestAnimationFrame(() => { state.wait = 0; view.draw(); }); };
  // Of a large fabric the last picture is moved at once, and drawn anew when moving has ended.
  const moved = () => {
    if (!view.slow) { redraw(); return; }
    requestAnimationFrame(() => view.drawQuickly());
    clearTimeout(state.later);
    state.later = setTimeout(redraw, 120);
  };

  /** The most that any kept cell of this fabric and traffic has, so that colours can be compared. */
  function top(row) {
    const key = `${text("fabric", row)}\n${traffic(row)}`;
    if (!state.tops.has(key)) {
      const same = rows.filter((r) => `${text("fabric", r)}\n${traffic(r)}` === key);
      state.tops.set(key, same.reduce((most, r) => Math.max(most, loadsOf(loads.get(r)).most), 0) || 1);
    }
    return state.tops.get(key);
  }

  function paintScale() {
    const ctx = bar.getContext("2d"), colours = theme.ramp();
    for (let x = 0; x < bar.width; x++) {
      ctx.fillStyle = theme.heatText(x / (bar.width - 1), colours);
      ctx.fillRect(x, 0, 1, bar.height);
    }
    scaleEnd.textContent = percent(view.top);
    scaleWords.textContent = `${unit()}; both directions of a cable side by side`;
  }

  function cableRows(of) {
    const { fabric: f, loads: l } = state;
    const list = of ?? f.a.map((_, c) => c);
    return Array.from(list, (c) => [f.names[f.a[c]], f.portA[c], f.names[f.b[c]], f.portB[c],
      l.there[c] < 0 ? null : 100 * l.there[c], l.back[c] < 0 ? null : 100 * l.back[c], l.there[c] < 0 ? "failed" : "alive"]);
  }
  const columns = () => [{ name: "switch a", digits: -2 }, { name: "port a", digits: 0 }, { name: "switch b", digits: -2 }, { name: "port b", digits: 0 },
    { name: "a to b", unit: "%", digits: 2 }, { name: "b to a", unit: "%", digits: 2 }, { name: "state", digits: -2 }];

  function details(target) {
    const { fabric: f, loads: l } = state;
    const both = (c) => (l.there[c] < 0 ? ["failed"] : [`${f.names[f.a[c]]} → ${f.names[f.b[c]]}: ${percent(l.there[c])}`, `${f.names[f.b[c]]} → ${f.names[f.a[c]]}: ${percent(l.back[c])}`]);
    if (target.cable !== undefined) {
      const c = target.cable;
      return [`${f.names[f.a[c]]} port ${f.portA[c]} — ${f.names[f.b[c]]} port ${f.portB[c]}`, ...both(c)];
    }
    const s = target.node;
    const cables = f.cablesOf[s];
    const failed = cables.filter((c) => l.there[c] < 0).length;
    return [f.names[s] + (l.alive[s] ? "" : ": failed"), `${f.terminalsOf[s]} terminals, ${cables.length} cables to switches${failed ? `, ${failed} of them failed` : ""}`,
      ...(l.alive[s] ? [`busiest channel: ${percent(busiest(f, l, s))}`] : [])];
  }

  function showTip(target, x, y) {
    const same = (view.hovered === null) === (target === null) && view.hovered?.node === target?.node && view.hovered?.cable === target?.cable;
    view.hovered = target;
    tip.hidden = target === null;
    if (target) {
      tip.replaceChildren(...details(target).map((t, i) => h("p", {}, i === 0 ? h("b", {}, t) : t)));
      const left = Math.min(x + 14, box.clientWidth - tip.offsetWidth - 6);
      const up = y + 18 + tip.offsetHeight > box.clientHeight ? y - tip.offsetHeight - 10 : y + 14;
      tip.style.left = `${Math.max(4, left)}px`;
      tip.style.top = `${Math.max(4, up)}px`;
    }
    if (!same && !view.slow) redraw();
  }

  function select(s, go) {
    view.selected = view.selected === s && !go ? -1 : s;
    if (go && s >= 0) view.goTo(s);
    for (const button of list.querySelectorAll("button")) button.setAttribute("aria-pressed", String(Number(button.dataset.s) === view.selected));
    if (view.selected >= 0) {
      const [x, y] = view.at(s);
      say(details({ node: s }).join(". "));
      if (go) showTip({ node: s }, x, y);
    } else showTip(null);
    redraw();
  }

  function fillList() {
    const f = state.fabric, wanted = find.value.trim().toLowerCase();
    const found = state.order.filter((s) => wanted === "" || f.names[s].toLowerCase().includes(wanted));
    list.replaceChildren(...found.slice(0, LISTED).map((s, i) => h("button", {
      type: "button", "data-s": String(s), "aria-pressed": String(s === view.selected), tabindex: i === 0 ? "0" : "-1", click: () => select(s, true),
    }, h("span", {}, f.names[s]), h("span", {}, state.loads.alive[s] ? percent(busiest(f, state.loads, s)) : "failed"))));
    if (found.length > LISTED) list.append(h("p", { class: "more" }, `and ${found.length - LISTED} more; find them by name`));
    if (found.length === 0) list.append(h("p", { class: "more" }, "no switch has that name"));
    return found;
  }

  function choose(row) {
    const f = fabricOf(text("fabric", row)), l = loadsOf(loads.get(row));
    state.row = row;
    state.fabric = f;
    state.loads = l;
    view.top = top(row);
    view.show(f, l);
    const busy = f.names.map((_, s) => (l.alive[s] ? busiest(f, l, s) : 2));
    state.order = f.names.map((_, s) => s).sort((x, y) => busy[y] - busy[x] || x - y);
    caption.textContent = cellWords(row);
    const words = `${f.names.length} switches (${f.shape}), ${f.a.length} cables between them; ${l.dead} cables and ${l.deadSwitches} switches are out of order. ` +
      `Busiest channel ${percent(l.most)}, mean ${percent(l.mean)} ${unit()}.`;
    facts.textContent = words + (f.goesAround ? " Cables that leave the drawing at one end of a row come in again at the other end." : "");
    canvas.setAttribute("aria-label", `Drawing of ${cellWords(row)}. ${words} The list of switches beside it has the same as text; arrow keys move, plus and minus zoom, 0 shows all.`);
    paintScale();
    fillList();
    if (!beside.hidden) beside.replaceChildren(tableOf({ columns: columns(), rows: cableRows() }, caption.textContent));
    redraw();
  }

  const asTable = h("button", { type: "button", "aria-pressed": "false", click: () => {
    beside.hidden = !beside.hidden;
    asTable.setAttribute("aria-pressed", String(!beside.hidden));
    if (!beside.hidden) beside.replaceChildren(tableOf({ columns: columns(), rows: cableRows() }, caption.textContent));
  } }, "Table");
  const tool = (words, label, run) => h("button", { type: "button", "aria-label": label, title: label, click: () => { run(); redraw(); } }, words);
  const tools = h("div", { class: "tools" }, tool("+", "Zoom in", () => view.zoom(1.5)), tool("−", "Zoom out", () => view.zoom(1 / 1.5)),
    tool("All", "Show all of it", () => { view.selected = -1; view.whole(); showTip(null); }), asTable,
    h("button", { type: "button", "aria-label": "CSV of all cables of this drawing", click: () => download("loads.csv", csv(columns().map(headOf), cableRows())) }, "CSV"));

  listen(canvas, view, { moved, select, showTip });
  find.addEventListener("input", fillList);
  find.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    const [first] = fillList();
    if (first !== undefined) select(first, true);
  });
  list.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    const buttons = [...list.querySelectorAll("button")], at = buttons.indexOf(document.activeElement);
    const next = buttons[Math.min(buttons.length - 1, Math.max(0, at + step))];
    for (const b of buttons) b.tabIndex = b === next ? 0 : -1;
    next?.focus();
    event.preventDefault();
  });
  theme.onChange(() => { paintScale(); view.draw(); });
  new ResizeObserver(() => redraw()).observe(box);

  const gone = leftOut.loads + leftOut.fabrics;
  const tooLarge = fabrics.filter((f) => !f.names).length;
  return section("fabric", "The fabric under load",
    "Every cable is coloured by what it carries, each direction for itself: hot spots are where routing puts too much. Failed parts are crossed out.",
    picker(rows, choose),
    h("figure", { id: "figure-fabric" }, h("div", { class: "bar" }, caption, tools),
      h("div", { class: "map" }, box, h("aside", { "aria-label": "Switches" }, h("div", { class: "search" }, find), list)),
      h("div", { class: "scale" }, h("span", { class: "ends" }, "0 %", bar, scaleEnd), scaleWords,
        h("span", {}, h("span", { class: "dash" }), " failed cable"), h("span", {}, h("span", { class: "cross" }, "✕"), " failed switch"),
        h("span", {}, "● with terminals  ○ without")),
      beside, facts),
    gone > 0 ? h("p", { class: "note" }, `To keep this page small, ${leftOut.loads} drawings with loads${leftOut.fabrics ? ` and ${leftOut.fabrics} fabrics` : ""} were left out: first those with some but not most failures. They are in the database.`) : null,
    tooLarge > 0 && leftOut.fabrics === 0 ? h("p", { class: "note" }, `${tooLarge} fabrics are not drawn: no loads of them were kept, or they have more than 5,000 switches.`) : null);
}

/** Mouse, fingers and keys. */
function listen(canvas, view, { moved, select, showTip }) {
  const fingers = new Map();
  let dragged = false, spread = 0;
  const place = (event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    fingers.set(event.pointerId, place(event));
    dragged = false;
    spread = 0;
    canvas.classList.add("moving");
  });
  canvas.addEventListener("pointermove", (event) => {
    const [x, y] = place(event);
    if (!fingers.has(event.pointerId)) {
      const target = view.find(x, y), before = view.hovered;
      if (target !== null || before !== null) showTip(target, x, y);
      return;
    }
    const [px, py] = fingers.get(event.pointerId);
    fingers.set(event.pointerId, [x, y]);
    dragged = dragged || Math.hypot(x - px, y - py) > 2;
    if (fingers.size === 1) view.move(x - px, y - py);
    else {
      const [p, q] = [...fingers.values()];
      const now = Math.hypot(p[0] - q[0], p[1] - q[1]);
      if (spread > 0) view.zoom(now / spread, (p[0] + q[0]) / 2, (p[1] + q[1]) / 2);
      spread = now;
    }
    if (view.hovered) showTip(null);
    moved();
  });
  const up = (event) => {
    fingers.delete(event.pointerId);
    spread = 0;
    canvas.classList.remove("moving");
  };
  canvas.addEventListener("pointerup", (event) => {
    up(event);
    if (dragged) return;
    const [x, y] = place(event);
    const target = view.find(x, y);
    select(target?.node ?? -1, false);
    showTip(target, x, y);
  });
  canvas.addEventListener("pointercancel", up);
  canvas.addEventListener("pointerleave", () => showTip(null));
  canvas.addEventListener("wheel", (event) => {
    // A page is scrolled over; who wants to zoom holds a key, or has given the drawing the focus.
    if (!event.ctrlKey && !event.metaKey && document.activeElement !== canvas) return;
    event.preventDefault();
    view.zoom(Math.exp(-event.deltaY / 400), ...place(event));
    moved();
  }, { passive: false });
  canvas.addEventListener("dblclick", (event) => { view.zoom(2, ...place(event)); moved(); });
  canvas.addEventListener("keydown", (event) => {
    const steps = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] };
    if (steps[event.key]) view.move(...steps[event.key]);
    else if (event.key === "+" || event.key === "=") view.zoom(1.4);
    else if (event.key === "-") view.zoom(1 / 1.4);
    else if (event.key === "0" || event.key === "Home") view.whole();
    else if (event.key === "Escape") select(-1, false);
    else return;
    event.preventDefault();
    moved();
  });
}
