// Arrows: a shaft and a head each, instanced. What a body hides is drawn faintly through it.

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
import { newInstances, roomFor } from "./instances";

const SIDES = 10;
/** Shaft's and head's radii and the head's length, in parts of the longest arrow. */
const SHAFT = 0.018;
const HEAD = 0.05;
const TIP = 0.13;

const hidden = { transparent: true, depthFunc: GreaterDepth, depthWrite: false };

/** A mesh and its faint twin with the same copies. */
class Twins {
  readonly root = new Group();
  front: InstancedMesh;
  private behind: InstancedMesh;
  room = 0;

  constructor(
    private readonly geometry: BufferGeometry,
    private readonly material: MeshBasicMaterial,
    private readonly faint: MeshBasicMaterial,
  ) {
    this.front = newInstances(geometry, material, 0);
    this.behind = newInstances(geometry, faint, 0);
  }

  reserve(needed: number): void {
    const room = roomFor(needed, this.room);
    if (room === this.room) return;
    this.room = room;
    this.root.clear();
    this.front.dispose();
    this.behind.dispose();
    this.front = newInstances(this.geometry, this.material, room);
    this.behind = newInstances(this.geometry, this.faint, room, false);
    this.behind.instanceMatrix = this.front.instanceMatrix;
    this.behind.instanceColor = this.front.instanceColor;
    this.front.renderOrder = 2;
    this.behind.renderOrder = 3;
    this.root.add(this.behind, this.front);
  }

  finish(count: number): void {
    this.front.count = this.behind.count = count;
    this.root.visible = count > 0;
    this.front.instanceMatrix.needsUpdate = true;
    this.front.instanceColor!.needsUpdate = true;
  }
}

/** Copies of a geometry along z, each turned into a direction. Writes the columns of a matrix. */
export function writeAlong(
  out: Float32Array,
  at: number,
  x: number,
  y: number,
  z: number,
  dx: number,
  dy: number,
  dz: number,
  wide: number,
  long: number,
): void {
  // Any direction across: from the axis that the direction is farthest from.
  const flat = Math.abs(dz) < 0.8;
  let ux = flat ? -dy : 0;
  let uy = flat ? dx : -dz;
  const uz = flat ? 0 : dy;
  const length = Math.hypot(ux, uy, uz) || 1;
  ux /= length;
  uy /= length;
  const wz = uz / length;
  out[at] = ux * wide;
  out[at + 1] = uy * wide;
  out[at + 2] = wz * wide;
  out[at + 3] = 0;
  out[at + 4] = (dy * wz - dz * uy) * wide;
  out[at + 5] = (dz * ux - dx * wz) * wide;
  out[at + 6] = (dx * uy - dy * ux) * wide;
  out[at + 7] = 0;
  out[at + 8] = dx * long;
  out[at + 9] = dy * long;
  out[at + 10] = dz * long;
  out[at + 11] = 0;
  out[at + 12] = x;
  out[at + 13] = y;
  out[at + 14] = z;
  out[at + 15] = 1;
}

export class Arrows {
  readonly root = new Group();
  private readonly shafts: Twins;
  private readonly heads: Twins;
  private count = 0;
  private longest = 1;

  constructor() {
    const material = new MeshBasicMaterial();
    const faint = new MeshBasicMaterial({ ...hidden, opacity: 0.6 });
    const shaft = new CylinderGeometry(1, 1, 1, SIDES).translate(0, 0.5, 0).rotateX(Math.PI / 2);
    const head = new ConeGeometry(1, 1, SIDES).translate(0, 0.5, 0).rotateX(Math.PI / 2);
    this.shafts = new Twins(shaft, material, faint);
    this.heads = new Twins(head, material, faint);
    this.root.add(this.shafts.root, this.heads.root);
  }

  /** Begins anew with room for so many; `longest` is the length of the longest, by which they are thick. */
  begin(most: number, longest: number): void {
    this.shafts.reserve(most);
    this.heads.reserve(most);
    this.count = 0;
    this.longest = longest;
  }

  /** An arrow from a point; those too short to be seen are left out. */
  add(x: number, y: number, z: number, dx: number, dy: number, dz: number, colour: Color): void {
    const length = Math.hypot(dx, dy, dz);
    if (!(length > 0.004 * this.longest) || length === Infinity) return;
    const part = Math.min(1, length / (2.5 * TIP * this.longest));
    const tip = Math.min(TIP * this.longest, 0.4 * length);
    const ux = dx / length;
    const uy = dy / length;
    const uz = dz / length;
    const shaft = length - tip;
    const at = this.count++;
    const shafts = this.shafts.front.instanceMatrix.array as Float32Array;
    const heads = this.heads.front.instanceMatrix.array as Float32Array;
    writeAlong(shafts, 16 * at, x, y, z, ux, uy, uz, part * SHAFT * this.longest, shaft);
    writeAlong(
      heads,
      16 * at,
      x + ux * shaft,
      y + uy * shaft,
      z + uz * shaft,
      ux,
      uy,
      uz,
      part * HEAD * this.longest,
      tip,
    );
    const shaftColours = this.shafts.front.instanceColor!.array as Float32Array;
    const headColours = this.heads.front.instanceColor!.array as Float32Array;
    shaftColours[3 * at] = headColours[3 * at] = colour.r;
    shaftColours[3 * at + 1] = headColours[3 * at + 1] = colour.g;
    shaftColours[3 * at + 2] = headColours[3 * at + 2] = colour.b;
  }

  end(): void {
    if (this.shafts.room === 0) return;
    this.shafts.finish(this.count);
    this.heads.finish(this.count);
  }
}
