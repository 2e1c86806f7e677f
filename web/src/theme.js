// theme.js: dark, light and print, and colours that everybody can tell apart.

// Okabe and Ito's colours: distinct with every common kind of colour blindness. Lines differ in
// marks and dashes as well.
const engines = {
  light: ["#0072b2", "#d55e00", "#009e73", "#a3568a", "#8a6d00", "#2b8fc7", "#000000", "#7a5230", "#5c5c99"],
  dark: ["#56b4e9", "#ff9a52", "#2fcf9f", "#e39ccb", "#f0e442", "#9fd3ff", "#ffffff", "#d9a77e", "#b3b3ff"],
};
const marks = ["circle", "rect", "triangle", "diamond", "emptyCircle", "emptyRect", "emptyTriangle", "emptyDiamond"];
const dashes = ["solid", "dashed", "dotted"];

// Viridis (van der Walt and Smith), which rises evenly in lightness: on light paper it runs from
// pale to dark, on dark paper from dark to bright, so that more always stands out more.
const viridis = ["#440154", "#472d7b", "#3b528b", "#2c728e", "#21918c", "#28ae80", "#5ec962", "#addc30", "#fde725"];

const system = window.matchMedia("(prefers-color-scheme: dark)");
const printing = window.matchMedia("print");
const calm = window.matchMedia("(prefers-reduced-motion: reduce)");
const listeners = [];
let chosen = null;

export const choices = [["auto", "as the system"], ["light", "light"], ["dark", "dark"]];

export const isDark = () => !printing.matches && !forPrint && (chosen === null ? system.matches : chosen === "dark");
export const isCalm = () => calm.matches;
let forPrint = false;

function apply() {
  document.documentElement.dataset.theme = isDark() ? "dark" : "light";
  for (const listen of listeners) listen();
}

export function choose(name) {
  chosen = name === "auto" ? null : name;
  apply();
}

/** Calls back whenever colours change. */
export function onChange(listen) {
  listeners.push(listen);
}

export function start() {
  system.addEventListener("change", apply);
  printing.addEventListener("change", apply);
  window.addEventListener("beforeprint", () => { forPrint = true; apply(); });
  window.addEventListener("afterprint", () => { forPrint = false; apply(); });
  document.documentElement.dataset.theme = isDark() ? "dark" : "light";
}

export const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** How the n-th of the compared engines is drawn. */
export function look(index) {
  const colours = engines[isDark() ? "dark" : "light"];
  return {
    color: colours[index % colours.length],
    symbol: marks[index % marks.length],
    dash: dashes[Math.floor(index / colours.length) % dashes.length],
  };
}

const channel = (hex, i) => parseInt(hex.slice(1 + 2 * i, 3 + 2 * i), 16);

/** Colours from little to much. */
export const ramp = () => (isDark() ? viridis : [...viridis].reverse().map((c, i) => (i === 0 ? "#e8e27a" : c)));

/** [r, g, b] of a share 0 … 1. */
export function heat(share, colours = ramp()) {
  const at = Math.min(1, Math.max(0, share)) * (colours.length - 1);
  const i = Math.min(colours.length - 2, Math.floor(at));
  return [0, 1, 2].map((c) =>
    Math.round(channel(colours[i], c) + (at - i) * (channel(colours[i + 1], c) - channel(colours[i], c))));
}
export const heatText = (share, colours) => `rgb(${heat(share, colours).join(",")})`;
