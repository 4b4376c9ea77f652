// Numbers and shapes as text.

import type { Quat, Shape, Vec3 } from "../protocol";

/** About so many significant digits, with an exponent if it would be long otherwise. */
export function significant(value: number, digits = 7): string {
  if (value === 0) return "0";
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "unknown" : value > 0 ? "infinite" : "-infinite";
  const size = Math.abs(value);
  if (size < 1e-3 || size >= 10 ** Math.max(digits, 6)) return trimmed(value.toExponential(digits - 1));
  return trimmed(value.toPrecision(digits));
}

/** Without zeros that say nothing. */
function trimmed(text: string): string {
  const [mantissa, exponent] = text.split("e");
  const short = mantissa.includes(".") ? mantissa.replace(/\.?0+$/, "") : mantissa;
  return exponent === undefined ? short : `${short}e${exponent.replace("+", "")}`;
}

export const seconds = (time: number): string => (Number.isFinite(time) ? `${time.toFixed(3)} s` : "unknown");

/** Labels for the ticks of an axis, all with as many digits as tell them apart. */
export function tickLabels(ticks: readonly (number | null)[], increment: number): string[] {
  const largest = Math.max(...ticks.map((tick) => Math.abs(tick ?? 0)));
  const far = largest > 0 && (largest < 1e-3 || largest >= 1e5);
  // Where the increment's last digit stands: 0.25 needs two places, 0.5 one.
  const power = Math.floor(Math.log10(increment) + 1e-9);
  const mantissa = increment / 10 ** power;
  const last = Math.abs(mantissa - Math.round(mantissa)) > 1e-6 ? power - 1 : power;
  const decimals = (count: number) => Math.min(Math.max(count, 0), 12);
  return ticks.map((tick) => {
    if (tick === null) return "";
    if (tick === 0) return "0";
    if (!far) return tick.toFixed(decimals(-last));
    return trimmed(tick.toExponential(decimals(Math.floor(Math.log10(Math.abs(tick)) + 1e-9) - last)));
  });
}

/** Ticks of a logarithmic axis are powers of ten. */
export function powerLabels(ticks: readonly (number | null)[]): string[] {
  return ticks.map((tick) => (tick === null ? "" : significant(tick, 2)));
}

export const length = (v: ArrayLike<number>): number => Math.hypot(v[0], v[1], v[2]);

export const dot = (a: ArrayLike<number>, b: ArrayLike<number>): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];

/** The axis and the angle in degrees of a rotation; the shorter way round. */
export function axisAngle([x, y, z, w]: Quat): { axis: Vec3; angle: number } {
  const size = Math.hypot(x, y, z);
  if (size === 0) return { axis: [0, 0, 1], angle: 0 };
  const sign = w < 0 ? -1 : 1;
  const angle = (2 * Math.atan2(size, Math.abs(w)) * 180) / Math.PI;
  return { axis: [(sign * x) / size, (sign * y) / size, (sign * z) / size], angle };
}

const metres = (value: number) => significant(value, 5);

export function shapeText(shape: Shape): string {
  switch (shape.type) {
    case "sphere":
      return `sphere, radius ${metres(shape.radius)} m`;
    case "capsule":
    case "cylinder":
    case "cone": {
      const part = shape.type === "capsule" ? "straight part" : "height";
      return `${shape.type}, radius ${metres(shape.radius)} m, ${part} ${metres(2 * shape.half_height)} m`;
    }
    case "cuboid":
      return `box, ${shape.half_extents.map((half) => metres(2 * half)).join(" × ")} m`;
    case "half_space":
      return `half space, normal (${shape.normal.map(metres).join(", ")}), offset ${metres(shape.offset)} m`;
    case "hull":
      return `convex hull, ${shape.vertices.length} corners, ${shape.faces.length} faces`;
    default:
      return "unknown shape";
  }
}

export const plural = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`;
