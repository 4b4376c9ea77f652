"use strict";
// A chart: axes, lines or a stack, and a legend with the values at the crosshair.

const SVG = document.getElementById("ns").namespaceURI;

/** Creates an HTML element with attributes and children; strings become text nodes. */
function el(tag, attributes = {}, ...children) {
  const e = document.createElement(tag);
  for (const [k, v] of Object.entries(attributes)) if (v !== undefined) e.setAttribute(k, v);
  e.append(...children);
  return e;
}

/** Creates an SVG element. */
function draw(tag, attributes = {}, ...children) {
  const e = document.createElementNS(SVG, tag);
  for (const [k, v] of Object.entries(attributes)) if (v !== undefined) e.setAttribute(k, v);
  e.append(...children);
  return e;
}

/** Returns the path of the symbol of an event kind, centered at x, from y downwards. */
function eventPath(kind, x, y) {
  if (kind === "quarantined") return `M${x - 4} ${y + 7}h8l-4 -7z`;
  if (kind === "begun") return `M${x - 2.5} ${y + 4}a2.5 2.5 0 1 0 5 0a2.5 2.5 0 1 0 -5 0z`;
  return `M${x} ${y}v7`;
}

/** A name that is shortened in the middle, not at the end, if there is no room. */
function nameSpan(name) {
  const letters = Array.from(name);
  const end = letters.length > 14 ? letters.length - 7 : letters.length;
  return el("span", { class: "name", title: name }, el("span", {}, letters.slice(0, end).join("")), el("span", {}, letters.slice(end).join("")));
}

const round = (v) => Math.round(v * 10) / 10;

/**
 * A chart. `spec`: title, note, unit ("#" for counts), kind ("line", "log" or "stack"), stairs, floor
 * (the axis starts at zero), wide; and for a stack `total`, the line above it, `top`, its upper edge,
 * and `guide`, whose extremes are kept when samples are thinned.
 * A series: name, color, dash, values, and optionally `label(i)`, its text in the legend, `pale` for
 * a light band and `unlisted` to hide it from the legend.
 */
class Chart {
  constructor(spec, view) {
    this.spec = spec;
    this.view = view;
    this.series = [];
    this.stale = true; // needs a redraw
    this.visible = true; // in or near the viewport
    this.plot = el("div", { class: "plot", tabindex: 0, role: "img" });
    this.legend = el("ul", { class: "legend" });
    this.note = el("p", { class: "note" }, spec.note || "");
    this.figure = el("figure", { class: spec.wide ? "panel wide" : "panel" },
      el("figcaption", {}, el("h3", {}, spec.title), this.note), this.plot, this.legend);
    this.over = draw("svg", { class: "over", "aria-hidden": "true" });
  }

  /** Replaces the series. */
  setSeries(series) {
    this.series = series;
    this.near = null;
    const shown = series.filter((s) => !s.unlisted);
    this.legend.classList.toggle("many", shown.length > 16);
    this.legend.replaceChildren(...shown.map((s) => {
      s.value = el("span", { class: "value" });
      const swatch = this.spec.kind === "stack" && !s.dash
        ? draw("rect", { x: 0.5, y: 0.5, width: 17, height: 9, fill: s.color, stroke: s.color, "fill-opacity": s.pale ? 0.42 : 0.85 })
        : draw("path", { d: "M0 5H18", stroke: s.color, "stroke-width": 2.4, "stroke-dasharray": s.dash });
      s.item = el("li", {}, draw("svg", { class: "swatch", viewBox: "0 0 18 10", "aria-hidden": "true" }, swatch),
        nameSpan(s.name), s.value);
      return s.item;
    }));
  }

  x(t) { return this.left + ((t - this.view.a) / (this.view.b - this.view.a)) * this.inner; }
  y(v) { return this.top + (1 - this.scale.place(v)) * this.height; }
  /** Returns the value as drawn: its magnitude, on a log axis. */
  drawn(v) { return this.spec.kind === "log" && finite(v) ? Math.abs(v) : v; }
  timeAt(px) {
    const f = Math.min(1, Math.max(0, (px - this.left) / this.inner));
    return this.view.a + f * (this.view.b - this.view.a);
  }

  /** Draws everything but the crosshair, at the width of the page or a given one. */
  render(fixed) {
    const { view, spec } = this;
    this.stale = false;
    const width = fixed || Math.max(240, this.plot.clientWidth || 600);
    const total = spec.wide && width > 640 ? 300 : 200;
    this.left = spec.kind === "log" ? 62 : 56;
    this.top = 22;
    this.inner = width - this.left - 14;
    const strip = view.events.length ? 10 : 0;
    this.height = total - this.top - 22 - strip - (spec.kind === "log" ? 4 : 0);
    // The visible samples, and one more on either side for lines that leave the plot.
    this.i0 = Math.max(0, lowerBound(view.t, view.a) - 1);
    this.i1 = Math.min(view.t.length, lowerBound(view.t, view.b + (view.b - view.a) * 1e-9) + 1);
    this.scale = this.makeScale();
    const base = this.top + this.height + (spec.kind === "log" ? 4 : 0);
    const svg = draw("svg", { viewBox: `0 0 ${width} ${total}`, "aria-hidden": "true" });
    svg.append(...this.axes(width, base, strip));
    const area = draw("svg", { x: this.left, y: this.top - 3, width: this.inner, height: base - this.top + 4,
      viewBox: `${this.left} ${this.top - 3} ${this.inner} ${base - this.top + 4}` });
    area.append(...(spec.kind === "stack" ? this.stack() : this.series.flatMap((s) => this.lines(s))));
    svg.append(area, ...this.marks(base + 2));
    this.base = base;
    this.over.setAttribute("viewBox", `0 0 ${width} ${total}`);
    this.plot.replaceChildren(svg, this.over);
    this.plot.setAttribute("aria-label", this.describe());
  }

  /** Returns the scale of the visible values. */
  makeScale() {
    const { spec, view } = this;
    let min = Infinity, max = -Infinity, zeros = false;
    const include = (v) => {
      if (!finite(v)) return;
      if (spec.kind === "log") {
        v = Math.abs(v);
        if (v === 0) { zeros = true; return; }
      }
      if (v < min) min = v;
      if (v > max) max = v;
    };
    const from = view.t[this.i0] < view.a && this.i1 - this.i0 > 2 ? this.i0 + 1 : this.i0;
    const to = view.t[this.i1 - 1] > view.b && this.i1 - from > 1 ? this.i1 - 1 : this.i1;
    if (spec.kind === "stack") for (let i = from; i < to; i++) { include(spec.top[i]); include(spec.total[i]); }
    else for (const s of this.series) for (let i = from; i < to; i++) include(s.values[i]);
    this.extent = [zeros ? 0 : min, zeros ? Math.max(0, max) : max];
    const count = Math.floor(this.height / (spec.kind === "log" ? 20 : 27));
    if (spec.kind === "log") return logScale(min, max, zeros, count, spec.unit, 16 / this.height);
    if (spec.floor) { min = Math.min(0, min); max = Math.max(0, max); }
    if (spec.least) max = Math.max(max, spec.least); // smaller values are rounding
    const size = Math.max(Math.abs(min), Math.abs(max));
    if (!(min <= max) || size === 0) return zeroScale();
    let span = max - min;
    if (span < size * 4e-6) span = size * 0.1; // the precision of the data ends there
    const lo = spec.floor && min === 0 ? 0 : (min + max) / 2 - span * 0.54;
    const hi = lo === 0 ? span * 1.06 : (min + max) / 2 + span * 0.54;
    return linearScale(lo, hi, count, spec.unit, spec.unit === "#");
  }

  /** Returns grid, ticks and labels. */
  axes(width, base, strip) {
    const out = [];
    const right = this.left + this.inner;
    let lines = "";
    for (const tick of this.scale.ticks) {
      const y = round(this.top + (1 - tick.at) * this.height);
      lines += `M${this.left} ${y}H${right}`;
      out.push(draw("text", { x: this.left - 6, y: y + 4, "text-anchor": "end" }, tick.text));
    }
    const { unit } = this.scale;
    if (unit) out.push(draw("text", unit.length > 6 ? { x: 2, y: 11 } : { x: this.left - 6, y: 11, "text-anchor": "end" }, unit));
    const { a, b } = this.view;
    const time = linearScale(a, b, Math.floor(2 + this.inner / 80), "s");
    let end = -Infinity;
    for (const tick of time.ticks) {
      const x = round(this.left + tick.at * this.inner);
      lines += `M${x} ${this.top}V${base}`;
      const half = tick.text.length * 3.3;
      if (x - half < end + 8 || x + half > right - 8 - 6 * time.unit.length) continue;
      out.push(draw("text", { x, y: base + strip + 15, "text-anchor": "middle" }, tick.text));
      end = x + half;
    }
    out.push(draw("text", { x: right, y: base + strip + 15, "text-anchor": "end" }, time.unit));
    out.unshift(draw("path", { class: "gridline", d: lines }));
    out.push(draw("path", { class: "axis", d: `M${this.left} ${base}H${right}` }));
    return out;
  }

  /** Returns the line of one series, broken where it has no value; zeros of a log chart are dots. */
  lines(s) {
    const { view, spec } = this;
    const log = spec.kind === "log";
    let d = "", dots = "", pen = false, lastDot = -9, lastY = 0;
    let alone = null, flat = null; // a point without neighbors; current end of a horizontal run
    const level = () => { if (flat !== null) d += `H${flat}`; flat = null; };
    const lift = () => {
      level();
      if (alone) dots += alone;
      alone = null;
      pen = false;
    };
    for (const i of thin(s.values, this.i0, this.i1, Math.ceil(this.inner))) {
      const v = this.drawn(s.values[i]);
      const x = round(this.x(view.t[i]));
      if (!finite(v) || (log && v === 0)) {
        lift();
        if (v === 0 && x - lastDot >= 1) {
          dots += `M${x} ${round(this.y(0))}h0`;
          lastDot = x;
        }
        continue;
      }
      const y = round(this.y(v));
      if (pen && y === lastY) {
        flat = x;
        alone = null;
      } else if (pen) {
        level();
        d += spec.stairs ? `H${x}V${y}` : `L${x} ${y}`;
        alone = null;
      } else {
        d += `M${x} ${y}`;
        alone = `M${x} ${y}h0`;
      }
      pen = true;
      lastY = y;
    }
    lift();
    s.path = draw("path", { class: "line", d, stroke: s.color, "stroke-dasharray": s.dash });
    const only = view.t.length === 1 ? "dots only" : "dots";
    return [s.path, draw("path", { class: only, d: dots, stroke: s.color })];
  }

  /** Returns the stacked bands and the line that they should reach. */
  stack() {
    const { view, spec } = this;
    const bands = this.series.filter((s) => s.values !== spec.total);
    const paths = bands.map(() => ""), edges = bands.map(() => "");
    let line = "", run = [];
    const flush = () => {
      if (!run.length) return;
      const xs = run.map((i) => round(this.x(view.t[i])));
      if (run.length === 1) { run.push(run[0]); xs.push(xs[0] + 3); xs[0] -= 3; }
      const under = run.map(() => 0);
      let lower = under.map(() => round(this.y(0)));
      bands.forEach((s, k) => {
        const upper = run.map((i, j) => round(this.y((under[j] += s.values[i]))));
        if (upper.some((y, j) => y !== lower[j])) {
          const edge = "M" + xs.map((x, j) => `${x} ${upper[j]}`).join("L");
          edges[k] += edge;
          paths[k] += edge;
          for (let j = run.length - 1; j >= 0; j--) paths[k] += `L${xs[j]} ${lower[j]}`;
          paths[k] += "z";
        }
        lower = upper;
      });
      line += "M" + xs.map((x, j) => `${x} ${round(this.y(spec.total[run[j]]))}`).join("L");
      run = [];
    };
    for (const i of thin(spec.guide, this.i0, this.i1, Math.ceil(this.inner)))
      if (finite(spec.top[i])) run.push(i);
      else flush();
    flush();
    const out = bands.map((s, k) => draw("path", { class: "band", d: paths[k], fill: s.color, "fill-opacity": s.pale ? 0.42 : 0.85 }));
    out.push(...bands.map((s, k) => draw("path", { class: "edge", d: edges[k], stroke: s.color })));
    out.push(draw("path", { class: "total", d: line }));
    return out;
  }

  /** Returns the events below the time axis, at most one of a kind per three pixels. */
  marks(y) {
    const last = {};
    const d = {};
    for (const e of this.view.events) {
      if (!(e.time >= this.view.a && e.time <= this.view.b)) continue;
      const x = round(this.x(e.time));
      if (x - (last[e.kind] ?? -9) < 3) continue;
      last[e.kind] = x;
      d[e.kind] = (d[e.kind] || "") + eventPath(e.kind, x, y);
    }
    const order = ["hit", "begun", "quarantined"];
    const kinds = Object.keys(d).sort((p, q) => order.indexOf(p) - order.indexOf(q));
    return kinds.map((k) => draw("path", { class: order.includes(k) ? `mark ${k}` : "mark", d: d[k] }));
  }

  /** Returns the description for screen readers. */
  describe() {
    const { spec, view, extent } = this;
    const span = `from ${format(view.a, "s")} to ${format(view.b, "s")}`;
    const range = extent[0] <= extent[1] ? `values ${format(extent[0], spec.unit)} to ${format(extent[1], spec.unit)}` : "no values";
    const shown = this.series.filter((s) => !s.unlisted).map((s) => s.name);
    const names = shown.length > 8 ? `${shown.length} lines` : shown.join(", ");
    return `${spec.title} over time, ${span}: ${names}; ${range}.`;
  }

  /** Moves the crosshair to sample `i`, or hides it; the legend shows the values of sample `shown`. */
  cursor(i, shown, brush) {
    const marks = [];
    if (brush) {
      const p = this.x(brush[0]), q = this.x(brush[1]);
      marks.push(draw("rect", { class: "brush", x: Math.min(p, q), y: this.top, width: Math.abs(p - q), height: this.base - this.top }));
    }
    const t = this.view.t[i];
    if (i !== null && t >= this.view.a && t <= this.view.b) {
      const x = this.x(t);
      marks.push(draw("path", { class: "cross", d: `M${round(x)} ${this.top}V${this.base}` }));
      if (this.spec.kind !== "stack" && this.series.length <= 16)
        for (const s of this.series)
          if (finite(s.values[i]))
            marks.push(draw("path", { class: "dot", stroke: s.color, d: `M${round(x)} ${round(this.y(this.drawn(s.values[i])))}h0` }));
    }
    this.over.replaceChildren(...marks);
    for (const s of this.series) if (s.value) s.value.textContent = this.label(s, shown);
  }

  /** Returns the value of a series at a sample as text. */
  label(s, i) {
    return s.label ? s.label(i) : format(this.drawn(s.values[i]), this.spec.unit);
  }

  /** Highlights the line nearest to height `py` at sample `i`, or none. */
  point(i, py) {
    let best = null, distance = 24;
    if (i !== null && this.spec.kind !== "stack" && this.series.length > 1)
      for (const s of this.series) {
        const off = finite(s.values[i]) ? Math.abs(this.y(s.values[i]) - py) : Infinity;
        if (off < distance) { distance = off; best = s; }
      }
    if (best === this.near) return;
    for (const s of [this.near, best]) {
      s?.path?.classList.toggle("near", s === best);
      s?.item?.classList.toggle("near", s === best);
    }
    this.near = best;
    if (best?.item && this.legend.scrollHeight > this.legend.clientHeight)
      this.legend.scrollTop = best.item.offsetTop - this.legend.offsetTop - 20;
  }
}
