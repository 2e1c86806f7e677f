// dom.js: elements, fields, tables, CSV. Texts are always set as text, never as HTML.

/** An element: h("p", {class: "note"}, "text", child, …). Functions become listeners. */
export function h(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (typeof value === "function") element.addEventListener(key, value);
    else element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.filter((c) => c !== null && c !== undefined));
  return element;
}

/** Tells those who listen instead of looking. */
export function say(words) {
  document.getElementById("said").textContent = words;
}

let counter = 0;
export const fresh = (name) => `${name}-${++counter}`;

/** A labelled choice. options: texts, or [value, text]. change(value) is called on a change. */
export function choice(label, options, value, change) {
  const pairs = options.map((o) => (Array.isArray(o) ? o : [o, o]));
  const select = h("select", { change: (event) => change(pairs[event.target.selectedIndex][0]) },
    ...pairs.map(([v, words]) => h("option", { selected: v === value }, words)));
  return h("label", {}, label, select);
}

export function tick(label, value, change) {
  const box = h("input", { type: "checkbox", change: (event) => change(event.target.checked) });
  box.checked = value;
  return h("label", { class: "line" }, box, label);
}

/** Whether a spreadsheet would run a text, or take its apostrophe away: as sv_csv_field of src/base. */
function wantsApostrophe(text) {
  return text.startsWith("'") || (/^[=+\-@\t\r]./s.test(text) && !/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text));
}

/** Lines that are a table: RFC 4180, and no formulas. columns: names; rows: arrays. */
export function csv(columns, rows) {
  const field = (v) => {
    if (v === null || v === undefined || (typeof v === "number" && Number.isNaN(v))) return "";
    const text = typeof v !== "number" && wantsApostrophe(String(v)) ? `'${v}` : String(v);
    return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return [columns, ...rows].map((r) => Array.from(r, field).join(",")).join("\n") + "\n";
}

export function download(name, text) {
  const url = URL.createObjectURL(new Blob([text], { type: "text/csv;charset=utf-8" }));
  const link = h("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
  say(`${name} is being saved`);
}

/** Digits behind the point for numbers of a column, as selvage report --text has them. */
export function digitsFor(values) {
  const given = values.filter((v) => typeof v === "number" && Number.isFinite(v));
  if (given.every((v) => v === Math.floor(v))) return 0;
  const largest = Math.max(...given.map(Math.abs));
  return Math.min(12, Math.max(0, 5 - (Math.floor(Math.log10(largest)) + 1)));
}

/** As C's printf rounds: what is exactly in the middle goes to the even digit. */
function fixed(value, digits) {
  const text = value.toFixed(digits);
  const exact = Math.abs(value) < 1e15 ? value.toFixed(digits + 60) : "";
  if (!/50{59}$/.test(exact)) return text;
  const below = exact.slice(0, digits === 0 ? -61 : -60); // cut off, not rounded
  return /[02468]$/.test(below) ? below : text;
}

export function shown(value, digits) {
  if (value === null || value === undefined || value === "" || Number.isNaN(value)) return "–";
  if (typeof value !== "number") return value;
  const text = fixed(value, digits);
  return /^-0\.?0*$/.test(text) ? text.slice(1) : text;
}

/** A number as people write it: 1,234.5, with so many significant digits. */
export const nice = (value, digits = 4) =>
  Number.isFinite(value) ? value.toLocaleString("en", { maximumSignificantDigits: digits }) : "–";

const FIRST_ROWS = 200;

/** {columns: [{name, unit, digits}], rows} as a table. of(value, row, column): a class for a cell. */
export function tableOf({ columns, rows }, label, of) {
  const digits = columns.map((c, i) =>
    c.digits === undefined || c.digits === -1 ? digitsFor(rows.map((r) => r[i])) : c.digits);
  const isNumber = columns.map((c, i) => c.digits !== -2 && rows.every((r) => typeof r[i] !== "string"));
  const line = (r) => h("tr", {}, ...r.map((v, i) => {
    const text = shown(v, digits[i]);
    const kind = of?.(v, r, i) ?? "";
    const wide = typeof v !== "string" ? "" : v.length > 44 ? " wrap" : v.length < 32 ? " short" : "";
    return h("td", { class: `${isNumber[i] ? "n" : ""} ${kind}${wide}`.trim() || null }, text);
  }));
  const body = h("tbody", {}, ...rows.slice(0, FIRST_ROWS).map(line));
  const table = h("table", {},
    h("caption", { class: "unseen" }, label),
    h("thead", {}, h("tr", {}, ...columns.map((c, i) =>
      h("th", { scope: "col", class: isNumber[i] ? "n" : null }, c.unit ? `${c.name} (${c.unit})` : c.name)))),
    body);
  const box = h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, table);
  if (rows.length <= FIRST_ROWS) return box;
  const all = h("button", { type: "button", click: () => { body.append(...rows.slice(FIRST_ROWS).map(line)); all.remove(); } },
    `Show all ${rows.length} rows`);
  return h("div", {}, box, h("p", { class: "note" }, all));
}

export const headOf = (c) => (c.unit ? `${c.name} (${c.unit})` : c.name);
