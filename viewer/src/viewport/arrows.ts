// Arrows with a shaft and a head, instanced. Parts hidden by bodies show through faintly, unless the arrows are drawn on
// top of everything.

import {
  type BufferGeometry,
  type Color,
  ConeGeometry,
  CylinderGeometry,
  GreaterDepth,
  Group,
  type InstancedMesh,
  MeshBasicMaterial,
} from "three";
import { growCapacity, newInstances } from "./instances";

const SIDES = 10;
/** Radii of shaft and head, and length of the head, relative to the longest arrow. */
const SHAFT_RADIUS = 0.018;
const HEAD_RADIUS = 0.05;
const HEAD_LENGTH = 0.13;

const hidden = { transparent: true, depthFunc: GreaterDepth, depthWrite: false };

/** An instanced mesh, and a faint one with the same instances where the first is occluded. */
class SeeThroughMesh {
  readonly root = new Group();
  visibleMesh: InstancedMesh;
  private occludedMesh: InstancedMesh;
  capacity = 0;

  constructor(
    private readonly geometry: BufferGeometry,
    private readonly material: MeshBasicMaterial,
    private readonly faint: MeshBasicMaterial,
    private readonly order: number,
  ) {
    this.visibleMesh = newInstances(geometry, material, 0);
    this.occludedMesh = newInstances(geometry, faint, 0);
  }

  reserve(needed: number): void {
    const capacity = growCapacity(needed, this.capacity);
    if (capacity === this.capacity) return;
    this.capacity = capacity;
    this.root.clear();
    this.visibleMesh.dispose();
    this.occludedMesh.dispose();
    this.visibleMesh = newInstances(this.geometry, this.material, capacity);
    this.occludedMesh = newInstances(this.geometry, this.faint, capacity, false);
    this.occludedMesh.instanceMatrix = this.visibleMesh.instanceMatrix;
    this.occludedMesh.instanceColor = this.visibleMesh.instanceColor;
    this.visibleMesh.renderOrder = this.order;
    this.occludedMesh.renderOrder = this.order + 1;
    this.root.add(this.occludedMesh, this.visibleMesh);
  }

  finish(count: number): void {
    this.visibleMesh.count = this.occludedMesh.count = count;
    this.root.visible = count > 0;
    this.visibleMesh.instanceMatrix.needsUpdate = true;
    this.visibleMesh.instanceColor!.needsUpdate = true;
  }
}

/** Writes the column-major matrix that turns a geometry along z into a direction. */
export function writeAlong(
  out: Float32Array,
  at: number,
  x: number,
  y: number,
  z: number,
  dx: number,
  dy: number,
  dz: number,
  radius: number,
  height: number,
): void {
  // Any perpendicular direction, from an axis far from the direction.
  const flat = Math.abs(dz) < 0.8;
  let ux = flat ? -dy : 0;
  let uy = flat ? dx : -dz;
  const uz = flat ? 0 : dy;
  const length = Math.hypot(ux, uy, uz) || 1;
  ux /= length;
  uy /= length;
  const wz = uz / length;
  out[at] = ux * radius;
  out[at + 1] = uy * radius;
  out[at + 2] = wz * radius;
  out[at + 3] = 0;
  out[at + 4] = (dy * wz - dz * uy) * radius;
  out[at + 5] = (dz * ux - dx * wz) * radius;
  out[at + 6] = (dx * uy - dy * ux) * radius;
  out[at + 7] = 0;
  out[at + 8] = dx * height;
  out[at + 9] = dy * height;
  out[at + 10] = dz * height;
  out[at + 11] = 0;
  out[at + 12] = x;
  out[at + 13] = y;
  out[at + 14] = z;
  out[at + 15] = 1;
}

export class Arrows {
  readonly root = new Group();
  private readonly shafts: SeeThroughMesh;
  private readonly heads: SeeThroughMesh;
  private count = 0;
  private longest = 1;

  constructor(onTop = false) {
    const material = new MeshBasicMaterial({ depthTest: !onTop, transparent: onTop });
    const faint = new MeshBasicMaterial({ ...hidden, opacity: 0.6, visible: !onTop });
    // On top of the lines, which are drawn over bodies.
    const order = onTop ? 9 : 2;
    const shaft = new CylinderGeometry(1, 1, 1, SIDES).translate(0, 0.5, 0).rotateX(Math.PI / 2);
    const head = new ConeGeometry(1, 1, SIDES).translate(0, 0.5, 0).rotateX(Math.PI / 2);
    this.shafts = new SeeThroughMesh(shaft, material, faint, order);
    this.heads = new SeeThroughMesh(head, material, faint, order);
    this.root.add(this.shafts.root, this.heads.root);
  }

  /** Clears the arrows and reserves space for `max`. The length of the longest sets the thickness. */
  begin(max: number, longest: number): void {
    this.shafts.reserve(max);
    this.heads.reserve(max);
    this.count = 0;
    this.longest = longest;
  }

  /** Adds an arrow at a point; arrows too short to be visible are skipped. */
  add(x: number, y: number, z: number, dx: number, dy: number, dz: number, color: Color): void {
    const length = Math.hypot(dx, dy, dz);
    if (!(length > 0.004 * this.longest) || length === Infinity) return;
    const part = Math.min(1, length / (2.5 * HEAD_LENGTH * this.longest));
    const tip = Math.min(HEAD_LENGTH * this.longest, 0.4 * length);
    const ux = dx / length;
    const uy = dy / length;
    const uz = dz / length;
    const shaft = length - tip;
    const at = this.count++;
    const shafts = this.shafts.visibleMesh.instanceMatrix.array as Float32Array;
    const heads = this.heads.visibleMesh.instanceMatrix.array as Float32Array;
    writeAlong(shafts, 16 * at, x, y, z, ux, uy, uz, part * SHAFT_RADIUS * this.longest, shaft);
    writeAlong(
      heads,
      16 * at,
      x + ux * shaft,
      y + uy * shaft,
      z + uz * shaft,
      ux,
      uy,
      uz,
      part * HEAD_RADIUS * this.longest,
      tip,
    );
    const shaftColors = this.shafts.visibleMesh.instanceColor!.array as Float32Array;
    const headColors = this.heads.visibleMesh.instanceColor!.array as Float32Array;
    shaftColors[3 * at] = headColors[3 * at] = color.r;
    shaftColors[3 * at + 1] = headColors[3 * at + 1] = color.g;
    shaftColors[3 * at + 2] = headColors[3 * at + 2] = color.b;
  }

  end(): void {
    if (this.shafts.capacity === 0) return;
    this.shafts.finish(this.count);
    this.heads.finish(this.count);
  }
}
