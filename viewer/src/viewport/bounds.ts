// Bounds and dimensions of shapes and of the scene.

import type { Body, Collider, Frame, Shape, Vec3 } from "../protocol";
import { localPose, newPose, type Pose, shapePose } from "./pose";

/** Minimum x, y, z, then maximum x, y, z. */
export type Box = Float64Array;

export function emptyBox(): Box {
  return Float64Array.of(Infinity, Infinity, Infinity, -Infinity, -Infinity, -Infinity);
}

export const NO_BOX: Readonly<Box> = emptyBox();

export function isEmpty(box: Box): boolean {
  return !(box[0] <= box[3]);
}

export function include(box: Box, other: Box): void {
  for (let axis = 0; axis < 3; axis++) {
    box[axis] = Math.min(box[axis], other[axis]);
    box[3 + axis] = Math.max(box[3 + axis], other[3 + axis]);
  }
}

export function diagonal(box: Box): number {
  return isEmpty(box) ? 0 : Math.hypot(box[3] - box[0], box[4] - box[1], box[5] - box[2]);
}

export function centerOf(box: Box): Vec3 {
  return [(box[0] + box[3]) / 2, (box[1] + box[4]) / 2, (box[2] + box[5]) / 2];
}

/** Computes the exact axis-aligned bounding box of a shape, with a closed formula per kind. `a` is the component of the
 * axis of revolution. */
export function boundsOf(shape: Shape, pose: Pose, out: Box): void {
  for (let axis = 0; axis < 3; axis++) {
    const at = pose[9 + axis];
    const a = pose[6 + axis];
    const across = Math.sqrt(Math.max(0, 1 - a * a));
    let min = 0;
    let max = 0;
    switch (shape.type) {
      case "sphere":
        max = shape.radius;
        min = -max;
        break;
      case "capsule":
        max = shape.radius + shape.half_height * Math.abs(a);
        min = -max;
        break;
      case "cylinder":
        max = shape.radius * across + shape.half_height * Math.abs(a);
        min = -max;
        break;
      case "cone": {
        const tip = shape.half_height * a;
        const rim = shape.radius * across;
        max = Math.max(tip, rim - tip);
        min = Math.min(tip, -rim - tip);
        break;
      }
      case "cuboid": {
        const [hx, hy, hz] = shape.half_extents;
        max = Math.abs(pose[axis]) * hx + Math.abs(pose[3 + axis]) * hy + Math.abs(a) * hz;
        min = -max;
        break;
      }
      case "hull":
        min = Infinity;
        max = -Infinity;
        for (const [x, y, z] of shape.vertices) {
          const value = pose[axis] * x + pose[3 + axis] * y + a * z;
          if (value < min) min = value;
          if (value > max) max = value;
        }
        break;
      case "half_space":
        min = -Infinity;
        max = Infinity;
        break;
    }
    out[axis] = at + min;
    out[3 + axis] = at + max;
  }
}

/** Returns the bounding box of a shape in its own axes. */
export function localBox(shape: Shape): Box {
  const box = emptyBox();
  boundsOf(shape, newPose(), box);
  return box;
}

function hullVolume(vertices: Vec3[], faces: number[][]): number {
  let six = 0;
  for (const face of faces) {
    const a = vertices[face[0]];
    for (let k = 2; k < face.length; k++) {
      const b = vertices[face[k - 1]];
      const c = vertices[face[k]];
      six +=
        a[0] * (b[1] * c[2] - b[2] * c[1]) +
        a[1] * (b[2] * c[0] - b[0] * c[2]) +
        a[2] * (b[0] * c[1] - b[1] * c[0]);
    }
  }
  return Math.abs(six) / 6;
}

export function volumeOf(shape: Shape): number {
  switch (shape.type) {
    case "sphere":
      return (4 / 3) * Math.PI * shape.radius ** 3;
    case "capsule":
      return Math.PI * shape.radius ** 2 * ((4 / 3) * shape.radius + 2 * shape.half_height);
    case "cylinder":
      return 2 * Math.PI * shape.radius ** 2 * shape.half_height;
    case "cone":
      return (2 / 3) * Math.PI * shape.radius ** 2 * shape.half_height;
    case "cuboid":
      return 8 * shape.half_extents[0] * shape.half_extents[1] * shape.half_extents[2];
    case "hull":
      return hullVolume(shape.vertices, shape.faces);
    case "half_space":
      return Infinity;
  }
}

/** Dimensions of one body, m: half the diagonal of its box, its smallest width, and the edge of the cube of the same
 * volume. */
export interface Size {
  radius: number;
  width: number;
  edge: number;
}

export function sizeOf(shape: Shape): Size {
  if (shape.type === "half_space") return { radius: Infinity, width: Infinity, edge: Infinity };
  const box = localBox(shape);
  const width = Math.min(box[3] - box[0], box[4] - box[1], box[5] - box[2]);
  return { radius: diagonal(box) / 2, width, edge: Math.cbrt(volumeOf(shape)) };
}

/** Returns the colliders that make up a body: those that push, or if there are none, its sensors. */
export function partsOf(body: Body): Collider[] {
  const enabled = body.colliders.filter((collider) => collider.enabled);
  const solid = enabled.filter((collider) => !collider.sensor);
  return solid.length > 0 ? solid : enabled;
}

/** Returns the bounding box of several colliders in the frame of their body. */
export function boxOfParts(parts: readonly Collider[]): Box {
  const [box, one, pose] = [emptyBox(), emptyBox(), newPose()];
  for (const part of parts) {
    localPose(part, pose);
    boundsOf(part.shape, pose, one);
    include(box, one);
  }
  return box;
}

/** Returns the dimensions of a body: of several colliders, those of all together, but the width of the thinnest. */
export function sizeOfBody(body: Body): Size {
  const parts = partsOf(body);
  if (parts.length === 1) return sizeOf(parts[0].shape);
  if (parts.length === 0) return { radius: 0, width: Infinity, edge: 0 };
  const width = Math.min(...parts.map(({ shape }) => sizeOf(shape).width));
  return { radius: diagonal(boxOfParts(parts)) / 2, width, edge: Math.cbrt(volumeOfParts(parts)) };
}

function volumeOfParts(parts: readonly Collider[]): number {
  return parts.reduce((sum, { shape }) => sum + volumeOf(shape), 0);
}

export function median(values: number[]): number {
  const sorted = values.filter(Number.isFinite).sort((a, b) => a - b);
  return sorted.length > 0 ? sorted[sorted.length >> 1] : 0;
}

/** The scale of the scene, which sets the sizes of everything drawn, m. */
export interface Scale {
  /** Box around the inertial bodies and small environment bodies. */
  box: Box;
  center: Vec3;
  radius: number;
  /** Edge of the cube of the median body's volume. */
  edge: number;
  /** Median density of the bodies, kg/m^3. */
  density: number;
  /** Spacing of the grid lines. */
  cell: number;
  /** Length of the longest arrow. */
  arrow: number;
  /** Colliders too large to be framed as a whole: the ground and the walls. */
  huge: Set<Collider>;
}

/** Shifts the scale to another origin. */
export function shiftScale(scale: Scale, x: number, y: number, z: number): void {
  [x, y, z].forEach((by, axis) => {
    scale.box[axis] -= by;
    scale.box[3 + axis] -= by;
    scale.center[axis] -= by;
  });
}

/** Rounds a positive number down to 1, 2 or 5 times a power of ten. */
export function roundDown(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  const digit = value / power;
  return (digit >= 5 ? 5 : digit >= 2 ? 2 : 1) * power;
}

/** Ratio of an environment collider's diagonal to that of all inertial bodies above which it is huge. */
const HUGE_RATIO = 1.5;
/** Distance below the scene beyond which a floor is not framed, relative to the scene's diagonal. */
const MAX_DROP = 2;
/** Approximate number of grid lines across the scene. */
const LINES_ACROSS = 12;

/** Returns whether the center of a box is above or below another box. */
function isUnder(other: Box, box: Box): boolean {
  const [x, y] = centerOf(box);
  return other[0] <= x && x <= other[3] && other[1] <= y && y <= other[4];
}

/** Returns the plane of a half-space in world axes. */
function planeOf(localNormal: Vec3, offset: number, pose: Pose): { normal: Vec3; offset: number } {
  const normal: Vec3 = [0, 0, 0];
  for (let axis = 0; axis < 3; axis++) {
    normal[axis] = pose[axis] * localNormal[0] + pose[3 + axis] * localNormal[1] + pose[6 + axis] * localNormal[2];
    offset += normal[axis] * pose[9 + axis];
  }
  return { normal, offset };
}

/** Returns the height of a plane at the center of a box. */
function heightUnder({ normal, offset }: { normal: Vec3; offset: number }, box: Box): number {
  const [x, y] = centerOf(box);
  return normal[2] > 0 ? (offset - normal[0] * x - normal[1] * y) / normal[2] : -Infinity;
}

/** Distance from the median position within which bodies are framed, in scene radii. */
const NEAR_RADII = 6;

/** Returns a predicate that excludes the few bodies far away from most inertial bodies. `radius` is the scene's. */
export function isNearMost(
  frame: Frame,
  bodies: readonly Body[],
  radius: number,
): (row: number) => boolean {
  const columns: number[][] = [[], [], []];
  for (let row = 0; row < frame.bodyCount; row++) {
    if (bodies[frame.body[row]]?.kind !== "inertial") continue;
    for (let axis = 0; axis < 3; axis++) columns[axis].push(frame.position[3 * row + axis]);
  }
  const middle = columns.map(median);
  return (row) => {
    const p = frame.position.subarray(3 * row, 3 * row + 3);
    return Math.hypot(p[0] - middle[0], p[1] - middle[1], p[2] - middle[2]) < NEAR_RADII * radius;
  };
}

/** Measures the scene in a frame, by the inertial bodies that are included. */
export function measure(
  frame: Frame,
  bodies: readonly Body[],
  included: (row: number) => boolean = () => true,
): Scale {
  const pose = newPose();
  const [partBox, bodyBox] = [emptyBox(), emptyBox()];
  const moving = emptyBox();
  const fixed: { collider: Collider; box: Box }[] = [];
  const planes: { normal: Vec3; offset: number }[] = [];
  const huge = new Set<Collider>();
  const edges: number[] = [];
  const densities: number[] = [];
  for (let row = 0; row < frame.bodyCount; row++) {
    const body = bodies[frame.body[row]];
    if (!body) continue;
    const parts = partsOf(body);
    bodyBox.set(NO_BOX);
    for (const collider of parts) {
      const { shape } = collider;
      shapePose(frame, row, collider, pose);
      if (shape.type === "half_space") {
        huge.add(collider);
        if (!collider.sensor) planes.push(planeOf(shape.normal, shape.offset, pose));
        continue;
      }
      boundsOf(shape, pose, partBox);
      if (body.kind === "inertial") include(bodyBox, partBox);
      else fixed.push({ collider, box: partBox.slice() });
    }
    if (body.kind === "inertial" && parts.length === 0) {
      // A body without shapes is a point.
      const at = frame.position.subarray(3 * row, 3 * row + 3);
      bodyBox.set(at);
      bodyBox.set(at, 3);
    }
    if (isEmpty(bodyBox) || !included(row)) continue;
    include(moving, bodyBox);
    const volume = volumeOfParts(parts);
    if (!(volume > 0)) continue;
    edges.push(Math.cbrt(volume));
    densities.push(body.mass / volume);
  }
  const box = moving.slice();
  const floors: number[] = [];
  const maxDiagonal = isEmpty(moving) ? Infinity : HUGE_RATIO * diagonal(moving);
  for (const { collider, box: other } of fixed) {
    if (diagonal(other) > maxDiagonal) {
      huge.add(collider);
      if (!collider.sensor && isUnder(other, box)) floors.push(other[5]);
    } else {
      include(box, other);
    }
  }
  for (const plane of planes) floors.push(heightUnder(plane, box));
  // Include the floor below the bodies if it is not far.
  const floor = Math.max(...floors.filter((height) => height <= box[2]), -Infinity);
  if (box[2] - floor < MAX_DROP * diagonal(box)) box[2] = floor;
  if (isEmpty(box)) box.set([-0.5, -0.5, -0.5, 0.5, 0.5, 0.5]);
  const radius = diagonal(box) / 2 || 1;
  const edge = median(edges) || radius / 5;
  return {
    box,
    center: centerOf(box),
    radius,
    edge,
    density: median(densities) || 1000,
    cell: roundDown((2 * radius) / LINES_ACROSS),
    arrow: Math.min(radius, Math.max(1.2 * edge, 0.15 * radius)),
    huge,
  };
}
