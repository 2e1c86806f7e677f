// data.js: the data of the page, unpacked. Numbers are as the database has them; NaN: there is none.

const decode = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));

/** {"type", "length", "data"} as an array of numbers, NaN where there is none. */
export function numbers(packed) {
  const bytes = decode(packed.data);
  const view = new DataView(bytes.buffer);
  const read = {
    i8: [1, (i) => view.getInt8(i), -128],
    i16: [2, (i) => view.getInt16(2 * i, true), -32768],
    i32: [4, (i) => view.getInt32(4 * i, true), -2147483648],
    f64: [8, (i) => view.getFloat64(8 * i, true), NaN],
  }[packed.type];
  const [size, at, none] = read;
  const held = bytes.length / size;
  const out = new Float64Array(packed.length);
  for (let i = 0; i < packed.length; i++) {
    const value = at(held === 1 ? 0 : i);
    out[i] = value === none ? NaN : value;
  }
  return out;
}

/** Two bytes each, little end first. */
export function words(text) {
  const bytes = decode(text);
  const view = new DataView(bytes.buffer);
  const out = new Uint16Array(bytes.length / 2);
  for (let i = 0; i < out.length; i++) out[i] = view.getUint16(2 * i, true);
  return out;
}

export const bytes = decode;

/** Columns as arrays by name: of numbers, or of texts. */
function columns(packed) {
  const out = { rows: packed.rows };
  for (const [name, column] of Object.entries(packed.columns)) {
    if (column.texts === undefined) {
      out[name] = numbers(column);
    } else {
      out[name] = Array.from(numbers(column.places), (place) => (place === place ? column.texts[place] : null));
    }
  }
  return out;
}

/** A table of the library: rows as arrays of values, null where there is none. */
function table(packed) {
  const parts = packed.columns.map((c) => (c.values === undefined ? numbers(c.numbers) : c.values));
  const rows = Array.from({ length: packed.rows }, (_, r) =>
    parts.map((part) => (part[r] === undefined || Number.isNaN(part[r]) ? null : part[r])));
  return { ...packed, columns: packed.columns.map(({ name, unit, digits }) => ({ name, unit, digits })), rows };
}

const raw = JSON.parse(document.getElementById("data").textContent);

export const title = raw.title;
export const version = raw.version;
export const database = raw.database;
export const plans = columns(raw.plans);
export const cells = columns(raw.cells);
export const lost = columns(raw.lost);
export const leftOut = raw.leftOut;
export const fabrics = raw.fabrics;
export const tables = new Map((raw.tables ?? []).map((t) => [t.name, table(t)]));

const rowOfCell = new Map(Array.from(cells.cell ?? [], (id, row) => [id, row]));
const ofCell = (list) => new Map(list.filter((x) => rowOfCell.has(x.cell)).map((x) => [rowOfCell.get(x.cell), x]));
/** By row of cells. */
export const loads = ofCell(raw.loads);
export const timelines = ofCell(raw.timelines);
export const pictures = raw.pictures ?? [];

export const row = (cell) => rowOfCell.get(cell);

/** A value of a cell; NaN, or "", where there is none. */
export const value = (column, r) => (cells[column] === undefined ? NaN : cells[column][r]);
export const text = (column, r) => (cells[column] === undefined ? "" : (cells[column][r] ?? ""));

/** Who routed: the engine, with VLs and options where these were given. */
export function contender(r) {
  const vls = value("vls", r);
  const options = text("options", r);
  return text("engine", r) + (vls > 0 ? `/${vls}` : "") + (options === "" ? "" : ` ${options}`);
}

/** The traffic of a cell in words, as the library's tables have it; "" without a simulation. */
export function traffic(r) {
  if (text("traffic", r) === "") return "";
  const load = value("load", r);
  return `${text("traffic", r)} ${value("message", r)} bytes${load > 0 ? ` at load ${load}` : ""}, ${text("profile", r)}`;
}

/** All rows of cells, in lists by what a function says; in the order in which they first come. */
export function group(rows, key) {
  const out = new Map();
  for (const r of rows) {
    const k = key(r);
    if (out.has(k)) out.get(k).push(r);
    else out.set(k, [r]);
  }
  return out;
}

export const allRows = Array.from({ length: cells.rows }, (_, r) => r);

/** Amounts of failures in order: none first, then by kind, unit and amount. */
export function levels(rows) {
  const found = new Map();
  for (const r of rows) {
    const words = text("faults", r);
    if (!found.has(words)) {
      found.set(words, { words, kind: text("fault_kind", r), unit: text("fault_unit", r), amount: value("fault_amount", r) });
    }
  }
  const by = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
  return [...found.values()].sort((a, b) =>
    by(a.kind !== "none", b.kind !== "none") || by(a.kind, b.kind) || by(a.unit, b.unit) ||
    a.amount - b.amount || by(a.words, b.words));
}
