// Formatting of numbers and shapes.

import type { Quat, Shape, Vec3 } from "../protocol";

/** Formats a number with about this many significant digits, with an exponent if it would be long otherwise. */
export function significant(value: number, digits = 7): string {
  if (value === 0) return "0";
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "unknown" : value > 0 ? "infinite" : "-infinite";
  const size = Math.abs(value);
  if (size < 1e-3 || size >= 10 ** Math.max(digits, 6)) return trimmed(value.toExponential(digits - 1));
  return trimmed(value.toPrecision(digits));
}

/** Removes trailing zeros. */
function trimmed(text: string): string {
  const [mantissa, exponent] = text.split("e");
  const short = mantissa.includes(".") ? mantissa.replace(/\.?0+$/, "") : mantissa;
  return exponent === undefined ? short : `${short}e${exponent.replace("+", "")}`;
}

export const seconds = (time: number): string => (Number.isFinite(time) ? `${time.toFixed(3)} s` : "unknown");

/** Formats the ticks of an axis with as many digits as are needed to distinguish them. */
export function tickLabels(ticks: readonly (number | null)[], increment: number): string[] {
  const largest = Math.max(...ticks.map((tick) => Math.abs(tick ?? 0)));
  const exponential = largest > 0 && (largest < 1e-3 || largest >= 1e5);
  // Position of the increment's last digit: 0.25 needs two decimals, 0.5 one.
  const power = Math.floor(Math.log10(increment) + 1e-9);
  const mantissa = increment / 10 ** power;
  const last = Math.abs(mantissa - Math.round(mantissa)) > 1e-6 ? power - 1 : power;
  const decimals = (count: number) => Math.min(Math.max(count, 0), 12);
  return ticks.map((tick) => {
    if (tick === null) return "";
    if (tick === 0) return "0";
    if (!exponential) return tick.toFixed(decimals(-last));
    return trimmed(tick.toExponential(decimals(Math.floor(Math.log10(Math.abs(tick)) + 1e-9) - last)));
  });
}

/** Formats the ticks of a logarithmic axis, which are powers of ten. */
export function powerLabels(ticks: readonly (number | null)[]): string[] {
  return ticks.map((tick) => (tick === null ? "" : significant(tick, 2)));
}

export const length = (v: ArrayLike<number>): number => Math.hypot(v[0], v[1], v[2]);

export const dot = (a: ArrayLike<number>, b: ArrayLike<number>): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];

/** Returns the axis and the angle of a rotation, at most 180 degrees. */
export function axisAngle([x, y, z, w]: Quat): { axis: Vec3; angle: number } {
  const size = Math.hypot(x, y, z);
  if (size === 0) return { axis: [0, 0, 1], angle: 0 };
  const sign = w < 0 ? -1 : 1;
  const angle = (2 * Math.atan2(size, Math.abs(w)) * 180) / Math.PI;
  return { axis: [(sign * x) / size, (sign * y) / size, (sign * z) / size], angle };
}

const meters = (value: number) => significant(value, 5);

export function shapeText(shape: Shape): string {
  switch (shape.type) {
    case "sphere":
      return `sphere, radius ${meters(shape.radius)} m`;
    case "capsule":
    case "cylinder":
    case "cone": {
      const part = shape.type === "capsule" ? "segment length" : "height";
      return `${shape.type}, radius ${meters(shape.radius)} m, ${part} ${meters(2 * shape.half_height)} m`;
    }
    case "cuboid":
      return `box, ${shape.half_extents.map((half) => meters(2 * half)).join(" × ")} m`;
    case "half_space":
      return `half-space, normal (${shape.normal.map(meters).join(", ")}), offset ${meters(shape.offset)} m`;
    case "hull":
      return `convex hull, ${shape.vertices.length} vertices, ${shape.faces.length} faces`;
    default:
      return "unknown shape";
  }
}

export const plural = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`;
