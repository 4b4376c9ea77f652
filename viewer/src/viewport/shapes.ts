// Geometries of shapes. Bodies of one form share a geometry and differ by a scale along its axes.

import {
  BoxGeometry,
  BufferGeometry,
  CapsuleGeometry,
  ConeGeometry,
  CylinderGeometry,
  EdgesGeometry,
  Float32BufferAttribute,
  SphereGeometry,
} from "three";
import { mergeVertices } from "three/addons/utils/BufferGeometryUtils.js";
import type { Shape, Vec3 } from "../protocol";

/** How finely round shapes are drawn: corners on a circle, a multiple of 8. */
export function segmentsFor(bodies: number): number {
  if (bodies <= 60) return 48;
  if (bodies <= 500) return 24;
  return bodies <= 4000 ? 16 : 8;
}

/** Which geometry a shape has. Half-spaces have none. */
export function geometryKey(shape: Shape): string | null {
  switch (shape.type) {
    case "half_space":
      return null;
    case "capsule":
      return `capsule ${(shape.half_height / shape.radius).toPrecision(7)}`;
    case "hull":
      return `hull ${JSON.stringify([shape.vertices, shape.faces])}`;
    default:
      return shape.type;
  }
}

/** The factors that make its form's geometry the shape. */
export function scaleOf(shape: Shape): Vec3 {
  switch (shape.type) {
    case "sphere":
    case "capsule":
      return [shape.radius, shape.radius, shape.radius];
    case "cylinder":
    case "cone":
      return [shape.radius, shape.radius, shape.half_height];
    case "cuboid":
      return shape.half_extents;
    default:
      return [1, 1, 1];
  }
}

/** Whether its turning about an axis could not be seen if it had one colour. */
export function isRound(shape: Shape): boolean {
  return ["sphere", "capsule", "cylinder", "cone"].includes(shape.type);
}

const STRIPE_DARKNESS = 0.66;
/** Corners of unit shapes nearer than this are the same. */
const MERGE_DISTANCE = 1e-4;

/** Makes every other eighth (or, along an axis of revolution, quarter) of a round shape darker. */
function stripe(source: BufferGeometry, eighths: boolean): BufferGeometry {
  const geometry = source.toNonIndexed();
  const at = geometry.getAttribute("position");
  const colours = new Float32Array(3 * at.count);
  for (let corner = 0; corner < at.count; corner += 3) {
    let x = 0;
    let y = 0;
    let z = 0;
    for (let k = corner; k < corner + 3; k++) {
      x += at.getX(k);
      y += at.getY(k);
      z += at.getZ(k);
    }
    const sign = x * y * (eighths ? z : 1);
    colours.fill(sign > 0 ? 1 : STRIPE_DARKNESS, 3 * corner, 3 * corner + 9);
  }
  geometry.setAttribute("color", new Float32BufferAttribute(colours, 3));
  geometry.deleteAttribute("uv");
  // Corners of one colour are shared again.
  return mergeVertices(geometry, MERGE_DISTANCE);
}

function subtract(a: Vec3, b: Vec3): Vec3 {
  return [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
}

function dot(a: Vec3, b: Vec3): number {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/** A face's unit normal by the sum over its sides, which does not care for corners in one line. */
function faceNormal(vertices: Vec3[], face: number[]): Vec3 {
  const sum: Vec3 = [0, 0, 0];
  const start = vertices[face[0]];
  for (let k = 2; k < face.length; k++) {
    const u = subtract(vertices[face[k - 1]], start);
    const v = subtract(vertices[face[k]], start);
    sum[0] += u[1] * v[2] - u[2] * v[1];
    sum[1] += u[2] * v[0] - u[0] * v[2];
    sum[2] += u[0] * v[1] - u[1] * v[0];
  }
  const length = Math.hypot(...sum) || 1;
  return [sum[0] / length, sum[1] / length, sum[2] / length];
}

/** Triangles of a hull, each face with its own normal, which points away from the middle. */
function hullGeometry(vertices: Vec3[], faces: number[][]): BufferGeometry {
  const middle: Vec3 = [0, 0, 0];
  for (const v of vertices) for (let axis = 0; axis < 3; axis++) middle[axis] += v[axis] / vertices.length;
  const corners: number[] = [];
  const normals: number[] = [];
  for (const face of faces) {
    const normal = faceNormal(vertices, face);
    const inward = dot(normal, subtract(vertices[face[0]], middle)) < 0;
    const outward: Vec3 = inward ? [-normal[0], -normal[1], -normal[2]] : normal;
    for (let k = 2; k < face.length; k++) {
      const [second, third] = inward ? [face[k], face[k - 1]] : [face[k - 1], face[k]];
      corners.push(...vertices[face[0]], ...vertices[second], ...vertices[third]);
      normals.push(...outward, ...outward, ...outward);
    }
  }
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new Float32BufferAttribute(corners, 3));
  geometry.setAttribute("normal", new Float32BufferAttribute(normals, 3));
  return geometry;
}

/** Sides of a hull's faces, but none inside a flat part that is made of several faces. */
function hullEdges(vertices: Vec3[], faces: number[][]): BufferGeometry {
  const known = new Map<string, { from: number; to: number; normal: Vec3; flat: boolean }>();
  for (const face of faces) {
    const normal = faceNormal(vertices, face);
    face.forEach((from, k) => {
      const to = face[(k + 1) % face.length];
      const key = from < to ? `${from} ${to}` : `${to} ${from}`;
      const other = known.get(key);
      if (other) other.flat = Math.abs(dot(normal, other.normal)) > COPLANAR_COSINE;
      else known.set(key, { from, to, normal, flat: false });
    });
  }
  const ends: number[] = [];
  for (const { from, to, flat } of known.values()) {
    if (!flat) ends.push(...vertices[from], ...vertices[to]);
  }
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new Float32BufferAttribute(ends, 3));
  return geometry;
}

/** Cosine of the angle below which two faces are one. */
const COPLANAR_COSINE = 0.9999;

const CORNERS: Vec3[] = [
  [-1, -1, -1], [1, -1, -1], [1, 1, -1], [-1, 1, -1],
  [-1, -1, 1], [1, -1, 1], [1, 1, 1], [-1, 1, 1],
];
const SIDES = [[3, 2, 1, 0], [4, 5, 6, 7], [0, 1, 5, 4], [1, 2, 6, 5], [2, 3, 7, 6], [3, 0, 4, 7]];

/** A hull or cuboid whose faces share their corners: a third of the work for the graphics. It has no normals;
 * they are to be found from the slope of what is drawn. */
export function buildIndexed(shape: Shape): BufferGeometry | null {
  const cuboid = shape.type === "cuboid";
  if (!cuboid && shape.type !== "hull") return null;
  const vertices = cuboid ? CORNERS : shape.vertices;
  const triangles: number[] = [];
  for (const face of cuboid ? SIDES : shape.faces) {
    for (let k = 2; k < face.length; k++) triangles.push(face[0], face[k - 1], face[k]);
  }
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new Float32BufferAttribute(vertices.flat(), 3));
  geometry.setIndex(triangles);
  return geometry;
}

/** The geometry of a shape's form. The library's solids of revolution stand along y, ours along z. */
export function buildGeometry(shape: Shape, corners: number): BufferGeometry {
  const upright = Math.PI / 2;
  switch (shape.type) {
    case "sphere":
      return stripe(new SphereGeometry(1, corners, corners / 2).rotateX(upright), true);
    case "capsule": {
      const height = (2 * shape.half_height) / shape.radius;
      return stripe(new CapsuleGeometry(1, height, corners / 4, corners).rotateX(upright), false);
    }
    case "cylinder":
      return stripe(new CylinderGeometry(1, 1, 2, corners).rotateX(upright), false);
    case "cone":
      return stripe(new ConeGeometry(1, 2, corners).rotateX(upright), false);
    case "cuboid":
      return new BoxGeometry(2, 2, 2);
    case "hull":
      return hullGeometry(shape.vertices, shape.faces);
    case "half_space":
      return new BufferGeometry();
  }
}

/** The lines where a shape has sharp edges, or null if it has none. */
export function buildEdges(shape: Shape, geometry: BufferGeometry): BufferGeometry | null {
  if (shape.type === "sphere" || shape.type === "capsule") return null;
  if (shape.type === "hull") return hullEdges(shape.vertices, shape.faces);
  return new EdgesGeometry(geometry, 40);
}
