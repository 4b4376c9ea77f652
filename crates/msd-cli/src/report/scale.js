"use strict";
// Number formatting, axis ticks and scales.

const MINUS = "\u2212";
const PREFIX = {
  "-24": "y", "-21": "z", "-18": "a", "-15": "f", "-12": "p", "-9": "n", "-6": "\u00b5", "-3": "m",
  0: "", 3: "k", 6: "M", 9: "G", 12: "T", 15: "P", 18: "E", 21: "Z", 24: "Y",
};
const finite = Number.isFinite;

/** Formats an integer exponent in superscript digits. */
function superscript(n) {
  return String(n).replace(/./g, (c) => (c === "-" ? "\u207b" : "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079"[c]));
}

/** Returns the exponent of the SI prefix for a number; null if there is none. */
function engineering(size, unit) {
  if (!(size > 0)) return 0;
  let e = 3 * Math.floor(Math.log10(size * (1 + 1e-12)) / 3);
  if (e === -3 && size >= 0.1) e = 0; // 0.5 m, not 500 mm
  if (unit === "s" && e > 0) e = 0; // no kiloseconds
  return e in PREFIX ? e : null;
}

/** Formats a number with `digits` significant digits and its unit: `12.30 mJ`. */
function format(v, unit, digits = 4) {
  if (!finite(v)) return "\u2013";
  const size = Math.abs(v);
  const sign = v < 0 ? MINUS : "";
  if (unit === "#") return sign + size;
  const e = engineering(size, unit);
  if (size === 0) return unit ? `0 ${unit}` : "0";
  if (!unit || e === null) {
    if (size >= 0.01 && size < 1e4) return sign + size.toPrecision(digits);
    const [m, x] = size.toExponential(digits - 2).split("e");
    return `${sign}${m}\u00d710${superscript(Number(x))}${unit ? " " + unit : ""}`;
  }
  let text = (size / 10 ** e).toPrecision(digits);
  if (text.includes("e")) text = String(Number(text));
  return `${sign}${text} ${PREFIX[e]}${unit}`;
}

/** Returns round ticks between `lo` and `hi`, at most about `count`: multiples of 1, 2 or 5. */
function roundTicks(lo, hi, count, whole) {
  const raw = (hi - lo) / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(raw));
  let step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw * (1 - 1e-9));
  if (whole) step = Math.max(1, Math.round(step));
  const ticks = [];
  for (let k = Math.ceil(lo / step - 1e-9); k * step <= hi + step * 1e-9; k++) ticks.push(k * step);
  return { ticks, step };
}

/** A linear scale with labelled ticks; the unit is shown once at the axis. */
function linearScale(lo, hi, count, unit, whole) {
  const { ticks, step } = roundTicks(lo, hi, count, whole);
  const size = Math.max(Math.abs(lo), Math.abs(hi));
  const e = unit === "#" || !unit ? 0 : engineering(size, unit) ?? 0;
  const labels = tickLabels(ticks, step, e);
  const at = (v) => (v - lo) / (hi - lo);
  const scale = { lo, hi, unit: unit === "#" ? "" : PREFIX[e] + (unit || ""), ticks: ticks.map((v, i) => ({ at: at(v), text: labels[i] })), place: at };
  if (unit === "#" || !unit || labels.every((t) => t.length <= 7)) return scale;
  // Too many digits: label relative to the first tick.
  const from = ticks.map((v) => v - ticks[0]);
  const fine = engineering(from[from.length - 1], unit) ?? 0;
  tickLabels(from, step, fine).forEach((t, i) => (scale.ticks[i].text = "+" + t));
  scale.unit = `${PREFIX[fine]}${unit} from ${labels[0]} ${PREFIX[e]}${unit}`;
  return scale;
}

/** Formats ticks `step` apart, in units of 10^e. */
function tickLabels(ticks, step, e) {
  const places = Math.min(12, Math.max(0, -Math.floor(Math.log10((step / 10 ** e) * (1 + 1e-9)))));
  return ticks.map((v) => {
    const text = (Math.abs(v) / 10 ** e).toFixed(places);
    return (v < 0 && Number(text) !== 0 ? MINUS : "") + text;
  });
}

/** A logarithmic scale; zero has its own row at the bottom, `row` of the axis high. */
function logScale(min, max, zeros, count, unit, row) {
  let lo = Math.floor(Math.log10(min) + 1e-9), hi = Math.ceil(Math.log10(max) - 1e-9);
  if (!finite(lo) || !finite(hi)) return zeroScale();
  lo = Math.max(lo, hi - 30);
  if (hi - lo < 2) lo = hi - 2;
  const base = zeros ? row : 0;
  const place = (v) => (v > 0 ? base + (1 - base) * Math.max(0, (Math.log10(v) - lo) / (hi - lo)) : 0);
  let stride = Math.ceil((hi - lo) / Math.max(1, count));
  if (stride === 2 && unit && hi - lo > 4) stride = 3;
  if (stride > 3) stride = 3 * Math.ceil(stride / 3);
  const ticks = zeros ? [{ at: 0, text: "0" }] : [];
  for (let k = lo; k <= hi; k++) {
    if (k % stride) continue;
    const e = 3 * Math.floor(k / 3);
    const text = unit && e in PREFIX ? `${10 ** (k - e)} ${PREFIX[e]}${unit}` : `10${superscript(k)}`;
    ticks.push({ at: place(10 ** k), text });
  }
  return { lo, hi, unit: "", ticks, place, zeros, base };
}

/** The scale of a quantity that is zero throughout. */
function zeroScale() {
  return { lo: 0, hi: 0, unit: "", ticks: [{ at: 0, text: "0" }], place: () => 0, zeros: true, base: 0 };
}

/** Returns the index of the first sample at or after time `t`. */
function lowerBound(times, t) {
  let a = 0, b = times.length;
  while (a < b) {
    const m = (a + b) >> 1;
    if (times[m] < t) a = m + 1;
    else b = m;
  }
  return a;
}

/** Returns the index of the sample nearest to time `t`. */
function nearest(times, t) {
  const i = lowerBound(times, t);
  if (i === 0) return 0;
  if (i === times.length) return i - 1;
  return times[i] - t < t - times[i - 1] ? i : i - 1;
}

/** Returns the indices of `values` to draw from `i0` to `i1`: all, or the extremes of each of `columns`. */
function thin(values, i0, i1, columns) {
  const out = [];
  const n = i1 - i0;
  if (n <= columns * 2) {
    for (let i = i0; i < i1; i++) out.push(i);
    return out;
  }
  for (let c = 0; c < columns; c++) {
    const a = i0 + Math.floor((c * n) / columns), b = i0 + Math.floor(((c + 1) * n) / columns);
    let low = a, high = a, gap = -1;
    for (let i = a; i < b; i++) {
      if (!finite(values[i])) { gap = i; continue; }
      if (!(values[i] >= values[low])) low = i;
      if (!(values[i] <= values[high])) high = i;
    }
    const picked = gap >= 0 ? [low, high, gap] : [low, high];
    picked.sort((p, q) => p - q);
    for (const i of picked) if (out[out.length - 1] !== i) out.push(i);
  }
  return out;
}
