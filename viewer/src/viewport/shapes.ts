// Geometries of shapes. Bodies with the same geometry key share a geometry and differ by a scale along its axes.

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

/** Returns the tessellation of round shapes: segments per circle, a multiple of 8. */
export function segmentsFor(bodies: number): number {
  if (bodies <= 60) return 48;
  if (bodies <= 500) return 24;
  return bodies <= 4000 ? 16 : 8;
}

/** Returns the key of a shape's geometry. Half-spaces have none. */
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

/** Returns the factors that scale the shared geometry to the shape. */
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

/** Returns whether a rotation about an axis would be invisible without stripes. */
export function isRound(shape: Shape): boolean {
  return ["sphere", "capsule", "cylinder", "cone"].includes(shape.type);
}

const STRIPE_BRIGHTNESS = 0.66;
/** Distance below which vertices of unit shapes are merged. */
const MERGE_DISTANCE = 1e-4;

/** Darkens every other octant (or, about an axis of revolution, quadrant) of a round shape. */
function stripe(source: BufferGeometry, octants: boolean): BufferGeometry {
  const geometry = source.toNonIndexed();
  const at = geometry.getAttribute("position");
  const colors = new Float32Array(3 * at.count);
  for (let vertex = 0; vertex < at.count; vertex += 3) {
    let x = 0;
    let y = 0;
    let z = 0;
    for (let k = vertex; k < vertex + 3; k++) {
      x += at.getX(k);
      y += at.getY(k);
      z += at.getZ(k);
    }
    const sign = x * y * (octants ? z : 1);
    colors.fill(sign > 0 ? 1 : STRIPE_BRIGHTNESS, 3 * vertex, 3 * vertex + 9);
  }
  geometry.setAttribute("color", new Float32BufferAttribute(colors, 3));
  geometry.deleteAttribute("uv");
  // Merge vertices of the same color again.
  return mergeVertices(geometry, MERGE_DISTANCE);
}

function subtract(a: Vec3, b: Vec3): Vec3 {
  return [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
}

function dot(a: Vec3, b: Vec3): number {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/** Returns a face's unit normal, summed over its triangles, so that collinear vertices do no harm. */
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

/** Creates the triangles of a hull, with one outward normal per face. */
function hullGeometry(vertices: Vec3[], faces: number[][]): BufferGeometry {
  const middle: Vec3 = [0, 0, 0];
  for (const v of vertices) for (let axis = 0; axis < 3; axis++) middle[axis] += v[axis] / vertices.length;
  const positions: number[] = [];
  const normals: number[] = [];
  for (const face of faces) {
    const normal = faceNormal(vertices, face);
    const inward = dot(normal, subtract(vertices[face[0]], middle)) < 0;
    const outward: Vec3 = inward ? [-normal[0], -normal[1], -normal[2]] : normal;
    for (let k = 2; k < face.length; k++) {
      const [second, third] = inward ? [face[k], face[k - 1]] : [face[k - 1], face[k]];
      positions.push(...vertices[face[0]], ...vertices[second], ...vertices[third]);
      normals.push(...outward, ...outward, ...outward);
    }
  }
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new Float32BufferAttribute(positions, 3));
  geometry.setAttribute("normal", new Float32BufferAttribute(normals, 3));
  return geometry;
}

/** Creates the edges of a hull, except those between coplanar faces. */
function hullEdges(vertices: Vec3[], faces: number[][]): BufferGeometry {
  const edges = new Map<string, { from: number; to: number; normal: Vec3; flat: boolean }>();
  for (const face of faces) {
    const normal = faceNormal(vertices, face);
    face.forEach((from, k) => {
      const to = face[(k + 1) % face.length];
      const key = from < to ? `${from} ${to}` : `${to} ${from}`;
      const other = edges.get(key);
      if (other) other.flat = Math.abs(dot(normal, other.normal)) > COPLANAR_COSINE;
      else edges.set(key, { from, to, normal, flat: false });
    });
  }
  const ends: number[] = [];
  for (const { from, to, flat } of edges.values()) {
    if (!flat) ends.push(...vertices[from], ...vertices[to]);
  }
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new Float32BufferAttribute(ends, 3));
  return geometry;
}

/** Cosine of the angle below which two faces are coplanar. */
const COPLANAR_COSINE = 0.9999;

const CUBOID_VERTICES: Vec3[] = [
  [-1, -1, -1], [1, -1, -1], [1, 1, -1], [-1, 1, -1],
  [-1, -1, 1], [1, -1, 1], [1, 1, 1], [-1, 1, 1],
];
const CUBOID_FACES = [[3, 2, 1, 0], [4, 5, 6, 7], [0, 1, 5, 4], [1, 2, 6, 5], [2, 3, 7, 6], [3, 0, 4, 7]];

/** Creates a hull or cuboid whose faces share vertices, which takes the GPU a third of the work. It has no normals;
 * flat shading derives them from screen-space derivatives. */
export function buildIndexed(shape: Shape): BufferGeometry | null {
  const cuboid = shape.type === "cuboid";
  if (!cuboid && shape.type !== "hull") return null;
  const vertices = cuboid ? CUBOID_VERTICES : shape.vertices;
  const triangles: number[] = [];
  for (const face of cuboid ? CUBOID_FACES : shape.faces) {
    for (let k = 2; k < face.length; k++) triangles.push(face[0], face[k - 1], face[k]);
  }
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new Float32BufferAttribute(vertices.flat(), 3));
  geometry.setIndex(triangles);
  return geometry;
}

/** Creates the shared geometry of a shape. three.js aligns solids of revolution with y, msd with z. */
export function buildGeometry(shape: Shape, segments: number): BufferGeometry {
  const upright = Math.PI / 2;
  switch (shape.type) {
    case "sphere":
      return stripe(new SphereGeometry(1, segments, segments / 2).rotateX(upright), true);
    case "capsule": {
      const height = (2 * shape.half_height) / shape.radius;
      return stripe(new CapsuleGeometry(1, height, segments / 4, segments).rotateX(upright), false);
    }
    case "cylinder":
      return stripe(new CylinderGeometry(1, 1, 2, segments).rotateX(upright), false);
    case "cone":
      return stripe(new ConeGeometry(1, 2, segments).rotateX(upright), false);
    case "cuboid":
      return new BoxGeometry(2, 2, 2);
    case "hull":
      return hullGeometry(shape.vertices, shape.faces);
    case "half_space":
      return new BufferGeometry();
  }
}

/** Creates the sharp edges of a shape, or returns null if it has none. */
export function buildEdges(shape: Shape, geometry: BufferGeometry): BufferGeometry | null {
  if (shape.type === "sphere" || shape.type === "capsule") return null;
  if (shape.type === "hull") return hullEdges(shape.vertices, shape.faces);
  return new EdgesGeometry(geometry, 40);
}
