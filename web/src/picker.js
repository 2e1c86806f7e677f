// picker.js: the choice of one cell out of those that have something to show.
import { choice, h } from "./dom.js";
import { contender, group, levels, tables, text, traffic, value } from "./data.js";

/** rows: of cells. change(row) is called with the first, and whenever another one is chosen. */
export function picker(rows, change) {
  const place = (r) => JSON.stringify([text("fabric", r), traffic(r)]);
  const scenes = group(rows, place);
  const state = { scene: place(rows[0]), level: null, engine: null, row: null };
  // What is recommended for a fabric is shown first.
  const recommended = (scene) => {
    const table = tables.get("summary"), [fabric, load] = JSON.parse(scene);
    const at = (name) => table.columns.findIndex((c) => c.name === name);
    return table?.rows.find((r) => r[at("fabric")] === fabric && r[at("traffic")] === load)?.[at("engine")] ?? null;
  };
  state.engine = recommended(state.scene);
  const controls = h("div", { class: "controls" });
  const seedOf = (r) => (value("seed", r) > 0 ? ` (seed ${value("seed", r)})` : "");

  function render(focus) {
    const inScene = scenes.get(state.scene);
    const list = levels(inScene).map((l) => l.words);
    if (!list.includes(state.level)) state.level = list[0];
    const atLevel = inScene.filter((r) => text("faults", r) === state.level);
    const found = atLevel.find((r) => contender(r) + seedOf(r) === state.engine) ??
      atLevel.find((r) => contender(r) === state.engine?.replace(/ \(seed \d+\)$/, "")) ?? atLevel[0];
    state.engine = contender(found) + seedOf(found);
    state.row = found;
    const fields = [
      scenes.size > 1 ? choice("Fabric and traffic", [...scenes.keys()].map((k) => [k, JSON.parse(k).filter(Boolean).join(" · ")]), state.scene, set("scene")) : null,
      choice("Failures", list.map((l) => [l, l === "none" ? "none" : l]), state.level, set("level")),
      choice("Engine", atLevel.map((r) => contender(r) + seedOf(r)), state.engine, set("engine")),
    ].filter(Boolean);
    controls.replaceChildren(...fields);
    if (focus !== undefined) fields[fields.length - 3 + focus]?.querySelector("select").focus();
    change(state.row);
  }
  const order = ["scene", "level", "engine"];
  const set = (name) => (v) => {
    state[name] = v;
    if (name === "scene") state.engine = recommended(v);
    render(order.indexOf(name));
  };
  queueMicrotask(() => render());
  return controls;
}

export const cellWords = (r) =>
  `${text("fabric", r)} · ${contender(r)} · ${text("faults", r) === "none" ? "no failures" : text("faults", r)}`;
