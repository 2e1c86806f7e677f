// fabric.js: a fabric as it is drawn: places of switches, cables as curves, loads of both
// directions. Draws itself on a canvas; knows nothing of the page around it.
import { bytes, fabrics, numbers, words } from "./data.js";
import * as theme from "./theme.js";

export const FULL = 65534;
const DEAD = 65535;
const AROUND = 100; // see layout.h
const REACH = 0.42; // of a step: how far rows that go around reach out
const MANY = 5000; // cables
const STEPS = 40; // colours from little to much

const unpacked = new Map();

/** Switches and cables of a fabric, or null if the page does not have them. */
export function fabricOf(name) {
  if (unpacked.has(name)) return unpacked.get(name);
  const raw = fabrics.find((f) => f.name === name);
  let out = null;
  if (raw?.names) {
    out = { name, names: raw.names, shape: raw.shape, layout: raw.layout };
    for (const key of ["terminalsOf", "a", "b", "portA", "portB", "x", "y", "bend"]) out[key] = numbers(raw[key]);
    prepare(out);
  }
  unpacked.set(name, out);
  return out;
}

/** Which of several parallel cables each is, how long a usual one is, the cables of each switch. */
function prepare(f) {
  const n = f.a.length;
  const seen = new Map();
  f.place = new Float32Array(n);
  f.cablesOf = f.names.map(() => []);
  for (let c = 0; c < n; c++) {
    const low = Math.min(f.a[c], f.b[c]), key = low * f.names.length + Math.max(f.a[c], f.b[c]);
    if (!seen.has(key)) seen.set(key, []);
    seen.get(key).push(c);
    f.cablesOf[f.a[c]].push(c);
    if (f.b[c] !== f.a[c]) f.cablesOf[f.b[c]].push(c);
  }
  for (const list of seen.values()) {
    list.forEach((c, i) => { f.place[c] = (i - (list.length - 1) / 2) * (f.a[c] < f.b[c] ? 1 : -1); });
  }
  f.width = Math.max(1, f.x.reduce((a, b) => Math.max(a, b), 0));
  f.height = Math.max(1, f.y.reduce((a, b) => Math.max(a, b), 0));
  f.goesAround = f.bend.some((bend) => bend >= AROUND);
  f.box = boxOf(f);
  f.unit = spacing(f);
}

/** How far switches are from the nearest other one: so that three of four have that much room. */
function spacing(f) {
  const n = f.names.length;
  const order = Array.from({ length: n }, (_, s) => s).sort((a, b) => f.x[a] - f.x[b]);
  const nearest = new Float64Array(n).fill(Infinity);
  for (let i = 0; i < n; i++) {
    for (let j = i + 1; j < n; j++) {
      const s = order[i], t = order[j], dx = f.x[t] - f.x[s];
      if (dx >= nearest[s] && dx >= 2000) break;
      const far = Math.hypot(dx, f.y[t] - f.y[s]);
      nearest[s] = Math.min(nearest[s], far);
      nearest[t] = Math.min(nearest[t], far);
    }
  }
  return Math.max(1, n > 1 ? nearest.sort()[Math.floor(n / 4)] : 4000);
}

/** [left, top, right, bottom] of all that is drawn: cables that swerve or go around reach out. */
function boxOf(f) {
  const box = [0, 0, f.width, f.height];
  for (let c = 0; c < f.a.length; c++) {
    const bend = f.bend[c], a = f.a[c], b = f.b[c];
    if (bend === 0) continue;
    const around = bend >= AROUND, share = around ? REACH / (bend - AROUND) : bend / 64;
    const dx = (f.x[b] - f.x[a]) * share, dy = (f.y[b] - f.y[a]) * share;
    const ends = around ? [[f.x[a] - dx, f.y[a] - dy], [f.x[b] + dx, f.y[b] + dy]]
      : [[(f.x[a] + f.x[b]) / 2 + dy, (f.y[a] + f.y[b]) / 2 - dx]];
    for (const [x, y] of ends) {
      box[0] = Math.min(box[0], x); box[1] = Math.min(box[1], y);
      box[2] = Math.max(box[2], x); box[3] = Math.max(box[3], y);
    }
  }
  return box;
}

/** Loads of a cell: there[c], back[c] as shares, or -1 where the cable is dead; alive[s]. */
export function loadsOf(kept) {
  const packed = words(kept.cables);
  const there = new Float32Array(packed.length / 2), back = new Float32Array(packed.length / 2);
  let most = 0, sum = 0, count = 0, dead = 0;
  for (let c = 0; c < there.length; c++) {
    there[c] = packed[2 * c] === DEAD ? -1 : packed[2 * c] / FULL;
    back[c] = packed[2 * c + 1] === DEAD ? -1 : packed[2 * c + 1] / FULL;
    if (there[c] < 0) { dead++; continue; }
    most = Math.max(most, there[c], back[c]);
    sum += there[c] + back[c];
    count += 2;
  }
  const alive = bytes(kept.nodes);
  return { there, back, alive, most, mean: count > 0 ? sum / count : 0, dead, deadSwitches: alive.filter((v) => v === 0).length };
}

/** The most that any cable at a switch carries, either way. */
export const busiest = (f, loads, s) =>
  f.cablesOf[s].reduce((most, c) => Math.max(most, loads.there[c], loads.back[c]), 0);

export class View {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.selected = -1;
    this.hovered = null;
    this.top = 1;
  }

  show(fabric, loads) {
    const same = this.fabric === fabric;
    this.fabric = fabric;
    this.loads = loads;
    this.bins = null;
    if (!same) {
      this.selected = -1;
      this.whole();
    }
  }

  resize() {
    const ratio = Math.max(1, window.devicePixelRatio);
    const { clientWidth, clientHeight } = this.canvas;
    if (clientWidth === 0) return false;
    const width = Math.round(clientWidth * ratio), height = Math.round(clientHeight * ratio);
    const changed = this.canvas.width !== width || this.canvas.height !== height;
    if (changed) {
      this.canvas.width = width;
      this.canvas.height = height;
    }
    this.ratio = ratio;
    return changed;
  }

  /** All of it in sight. */
  whole() {
    this.resize();
    const f = this.fabric, width = this.canvas.clientWidth, height = this.canvas.clientHeight;
    const margin = 32, [x0, y0, x1, y1] = f.box;
    this.least = Math.min((width - 2 * margin) / (x1 - x0), (height - 2 * margin) / (y1 - y0));
    this.scale = this.least;
    this.left = width / 2 - ((x0 + x1) / 2) * this.scale;
    this.up = height / 2 - ((y0 + y1) / 2) * this.scale;
  }

  zoom(factor, x = this.canvas.clientWidth / 2, y = this.canvas.clientHeight / 2) {
    const scale = Math.min(Math.max(this.scale * factor, this.least / 2), 300 / this.fabric.unit + this.least * 4);
    this.left = x - ((x - this.left) * scale) / this.scale;
    this.up = y - ((y - this.up) * scale) / this.scale;
    this.scale = scale;
  }

  move(dx, dy) {
    this.left += dx;
    this.up += dy;
  }

  /** Brings a switch into the middle, near enough to see what is around it. */
  goTo(s) {
    const near = Math.min(36 / this.fabric.unit, this.least * 12);
    if (this.scale < near) this.scale = near;
    this.left = this.canvas.clientWidth / 2 - this.fabric.x[s] * this.scale;
    this.up = this.canvas.clientHeight / 2 - this.fabric.y[s] * this.scale;
  }

  at(s) {
    return [this.left + this.fabric.x[s] * this.scale, this.up + this.fabric.y[s] * this.scale];
  }

  /** Channels in order of load: [colour step, cable, back?], so that the busiest come on top. */
  sorted() {
    if (this.bins && this.binsTop === this.top) return this.bins;
    this.bins = Array.from({ length: STEPS }, () => []);
    this.dead = [];
    const { there, back } = this.loads;
    const step = (v) => Math.min(STEPS - 1, Math.floor((v / this.top) * STEPS));
    for (let c = 0; c < there.length; c++) {
      if (there[c] < 0) this.dead.push(c);
      else {
        this.bins[step(there[c])].push(2 * c);
        this.bins[step(back[c])].push(2 * c + 1);
      }
    }
    this.binsTop = this.top;
    return this.bins;
  }

  /** The straight pieces, or the curve, that a cable is drawn as: [[x, y], …] a piece. */
  pieces(c) {
    const f = this.fabric;
    const a = this.at(f.a[c]), b = this.at(f.b[c]);
    if (f.bend[c] < AROUND) return [[a, b]];
    // Around the back of a row: out at either end, towards where the next switch would be.
    const reach = REACH / (f.bend[c] - AROUND);
    const dx = (b[0] - a[0]) * reach, dy = (b[1] - a[1]) * reach;
    return [[a, [a[0] - dx, a[1] - dy]], [[b[0] + dx, b[1] + dy], b]];
  }

  /** The line of a channel (2 × cable, + 1 for back), aside to the right of its direction. */
  trace(channel, aside, gap, path) {
    const c = channel >> 1, bend = this.fabric.bend[c] < AROUND ? this.fabric.bend[c] / 64 : 0;
    for (const [[ax, ay], [bx, by]] of this.pieces(c)) {
      const dx = bx - ax, dy = by - ay, length = Math.hypot(dx, dy) || 1;
      const nx = -dy / length, ny = dx / length;
      const off = (channel & 1 ? -aside : aside) + this.fabric.place[c] * gap;
      const x0 = ax + nx * off, y0 = ay + ny * off, x1 = bx + nx * off, y1 = by + ny * off;
      path.moveTo(x0, y0);
      if (bend === 0) path.lineTo(x1, y1);
      else path.quadraticCurveTo((x0 + x1) / 2 - nx * bend * 2 * length, (y0 + y1) / 2 - ny * bend * 2 * length, x1, y1);
    }
  }

  /** Whether a cable may be in sight. */
  inSight(c) {
    const f = this.fabric;
    const [ax, ay] = this.at(f.a[c]), [bx, by] = this.at(f.b[c]);
    const slack = f.bend[c] === 0 ? 8 : f.bend[c] >= AROUND ? 200 : 8 + Math.hypot(ax - bx, ay - by) * 0.4;
    const w = this.canvas.clientWidth + slack, h = this.canvas.clientHeight + slack;
    return !((ax < -slack && bx < -slack) || (ax > w && bx > w) || (ay < -slack && by < -slack) || (ay > h && by > h));
  }

  /** Whether drawing takes so long that moves are better shown with the last picture first. */
  get slow() {
    return this.fabric?.a.length > MANY && this.last !== undefined;
  }

  /** The last picture, moved and scaled to where it belongs now. */
  drawQuickly() {
    const ctx = this.context, { copy, left, up, scale } = this.last;
    const factor = this.scale / scale;
    ctx.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    ctx.fillStyle = theme.css("--paper");
    ctx.fillRect(0, 0, this.canvas.clientWidth, this.canvas.clientHeight);
    ctx.drawImage(copy, this.left - left * factor, this.up - up * factor, this.canvas.clientWidth * factor, this.canvas.clientHeight * factor);
  }

  remember() {
    const copy = this.last?.copy ?? document.createElement("canvas");
    copy.width = this.canvas.width;
    copy.height = this.canvas.height;
    copy.getContext("2d").drawImage(this.canvas, 0, 0);
    this.last = { copy, left: this.left, up: this.up, scale: this.scale };
  }

  draw() {
    if (!this.fabric || this.canvas.clientWidth === 0) return;
    if (this.resize() && this.drawn !== this.canvas.clientWidth) this.whole();
    this.drawn = this.canvas.clientWidth;
    const ctx = this.context, f = this.fabric;
    ctx.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    ctx.fillStyle = theme.css("--paper");
    ctx.fillRect(0, 0, this.canvas.clientWidth, this.canvas.clientHeight);
    const near = f.unit * this.scale; // pixels between neighbours
    const line = Math.min(4, Math.max(0.6, near * 0.13));
    const both = line >= 1.1;
    const gap = both ? line * 2 + 1.5 : line;
    this.drawCables(ctx, line, both ? line * 0.62 : 0, gap);
    this.drawDead(ctx, line, gap);
    this.drawSwitches(ctx, near);
    this.drawNames(ctx, near);
    if (f.a.length > MANY) this.remember();
  }

  drawCables(ctx, line, aside, gap) {
    const colours = theme.ramp(), f = this.fabric;
    const dim = this.selected >= 0;
    // Where both directions fall on one line, only the busier one would be seen.
    const hidden = (channel) => {
      const c = channel >> 1, { there, back } = this.loads;
      return aside === 0 && (channel & 1 ? back[c] <= there[c] : back[c] > there[c]);
    };
    const mine = (channel) => f.a[channel >> 1] === this.selected || f.b[channel >> 1] === this.selected;
    ctx.lineCap = "butt";
    for (const bright of dim ? [false, true] : [true]) {
      ctx.globalAlpha = bright ? 1 : 0.18;
      this.sorted().forEach((bin, i) => {
        const path = new Path2D();
        for (const channel of bin) {
          if (dim && mine(channel) !== bright) continue;
          if (!hidden(channel) && this.inSight(channel >> 1)) this.trace(channel, bright && dim ? aside * 1.5 : aside, gap, path);
        }
        ctx.strokeStyle = theme.heatText(i / (STEPS - 1), colours);
        ctx.lineWidth = bright && dim ? line * 1.5 : line;
        ctx.stroke(path);
      });
    }
    ctx.globalAlpha = 1;
    if (this.hovered?.cable !== undefined) {
      const path = new Path2D();
      this.trace(2 * this.hovered.cable, 0, gap, path);
      ctx.strokeStyle = theme.css("--ink");
      ctx.lineWidth = 1;
      ctx.setLineDash([3, 3]);
      ctx.stroke(path);
      ctx.setLineDash([]);
    }
  }

  drawDead(ctx, line, gap) {
    const path = new Path2D(), marks = new Path2D();
    for (const c of this.dead) {
      if (!this.inSight(c)) continue;
      this.trace(2 * c, 0, gap, path);
      const r = Math.max(3, line * 1.6);
      for (const [x, y] of this.middles(c)) {
        marks.moveTo(x - r, y - r); marks.lineTo(x + r, y + r);
        marks.moveTo(x - r, y + r); marks.lineTo(x + r, y - r);
      }
    }
    ctx.strokeStyle = theme.css("--bad");
    ctx.lineWidth = Math.max(1, line * 0.6);
    ctx.setLineDash([4, 4]);
    ctx.stroke(path);
    ctx.setLineDash([]);
    ctx.lineWidth = Math.max(1.4, line * 0.7);
    ctx.stroke(marks);
  }

  /** The middle of each piece of a cable. */
  middles(c) {
    const bend = this.fabric.bend[c] < AROUND ? this.fabric.bend[c] / 64 : 0;
    return this.pieces(c).map(([[ax, ay], [bx, by]]) =>
      [(ax + bx) / 2 + (by - ay) * bend, (ay + by) / 2 - (bx - ax) * bend]);
  }

  radius(near) {
    return Math.min(13, Math.max(1.3, near * 0.36));
  }

  drawSwitches(ctx, near) {
    const f = this.fabric, r = this.radius(near), dead = new Path2D();
    const plain = new Path2D(), host = new Path2D();
    for (let s = 0; s < f.names.length; s++) {
      const [x, y] = this.at(s);
      if (x < -20 || y < -20 || x > this.canvas.clientWidth + 20 || y > this.canvas.clientHeight + 20) continue;
      if (this.loads.alive[s] === 0) {
        dead.moveTo(x - r, y - r); dead.lineTo(x + r, y + r);
        dead.moveTo(x - r, y + r); dead.lineTo(x + r, y - r);
      } else {
        const path = f.terminalsOf[s] > 0 ? host : plain;
        path.moveTo(x + r, y);
        path.arc(x, y, r, 0, 7);
      }
    }
    ctx.strokeStyle = theme.css("--ink");
    ctx.lineWidth = Math.max(0.8, r * 0.18);
    ctx.fillStyle = theme.css("--ink");
    ctx.fill(host);
    ctx.fillStyle = theme.css("--paper");
    ctx.fill(plain);
    ctx.stroke(plain);
    ctx.strokeStyle = theme.css("--bad");
    ctx.lineWidth = Math.max(2, r * 0.4);
    ctx.stroke(dead);
    for (const [s, colour] of [[this.hovered?.node ?? -1, "--ink"], [this.selected, "--accent"]]) {
      if (s < 0) continue;
      const [x, y] = this.at(s);
      ctx.beginPath();
      ctx.arc(x, y, r + 4, 0, 7);
      ctx.strokeStyle = theme.css(colour);
      ctx.lineWidth = 2.5;
      ctx.stroke();
    }
  }

  drawNames(ctx, near) {
    const f = this.fabric, r = this.radius(near);
    ctx.font = "12px system-ui, sans-serif";
    ctx.textBaseline = "middle";
    const paper = theme.css("--paper"), ink = theme.css("--ink");
    const put = (s) => {
      const [x, y] = this.at(s);
      if (x < 0 || y < 0 || x > this.canvas.clientWidth || y > this.canvas.clientHeight) return;
      ctx.lineWidth = 3.5;
      ctx.strokeStyle = paper;
      ctx.strokeText(f.names[s], x + r + 3, y - r - 3);
      ctx.fillStyle = ink;
      ctx.fillText(f.names[s], x + r + 3, y - r - 3);
    };
    if (near > 27 && f.names.length * (this.least / this.scale) ** 2 < 150) for (let s = 0; s < f.names.length; s++) put(s);
    else if (this.selected >= 0) put(this.selected);
  }

  /** What is at a place of the canvas: {node}, {cable} or null. */
  find(x, y) {
    const f = this.fabric;
    let best = 12, found = null;
    for (let s = 0; s < f.names.length; s++) {
      const [sx, sy] = this.at(s);
      const far = Math.hypot(sx - x, sy - y);
      if (far < best) { best = far; found = { node: s }; }
    }
    if (found) return found;
    best = 7;
    for (let c = 0; c < f.a.length; c++) {
      const far = this.distance(c, x, y);
      if (far < best) { best = far; found = { cable: c }; }
    }
    return found;
  }

  /** From a point to a cable, by two straight pieces where it swerves. */
  distance(c, x, y) {
    const far = ([px, py], [qx, qy]) => {
      const dx = qx - px, dy = qy - py, square = dx * dx + dy * dy || 1;
      const t = Math.min(1, Math.max(0, ((x - px) * dx + (y - py) * dy) / square));
      return Math.hypot(px + t * dx - x, py + t * dy - y);
    };
    const middles = this.middles(c);
    return Math.min(...this.pieces(c).flatMap(([a, b], i) => [far(a, middles[i]), far(middles[i], b)]));
  }
}
