// Picking: finds the body or contact point under the pointer.

import { type Camera, Raycaster, Vector2, Vector3 } from "three";
import type { Collider, Frame, Vec3 } from "../protocol";
import type { Bodies } from "./bodies";
import type { Ground } from "./ground";

/** Pick radius of contact points, CSS pixels: larger for touch. */
const NEAR_PX = { fine: 10, coarse: 24 };
/** Points whose distances from the pointer differ by less than this are ranked by depth, CSS pixels. */
const SAME_PX = 3;

export interface Hit {
  /** Index of the body; null for the ground. */
  body: number | null;
  /** The collider hit; null for the ground. */
  collider: Collider | null;
  point: Vector3;
  distance: number;
}

export interface DrawnContact {
  a: number;
  b: number;
  colliders: [number, number];
  point: number;
  /** Position in the window, CSS pixels. */
  screen: [number, number];
}

/** The projection between the scene and the window. */
export class Projection {
  private readonly at = new Vector3();
  private readonly rect = { left: 0, top: 0, width: 1, height: 1 };

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly camera: Camera,
  ) {}

  /** Measures the canvas in the window and returns its rectangle. */
  measure(): Readonly<typeof this.rect> {
    const { left, top, width, height } = this.canvas.getBoundingClientRect();
    return Object.assign(this.rect, { left, top, width, height });
  }

  /** Returns the position in the window, CSS pixels, and the depth; null behind the camera. Call `measure` first. */
  project(x: number, y: number, z: number): { x: number; y: number; depth: number } | null {
    const at = this.at.set(x, y, z).applyMatrix4(this.camera.matrixWorldInverse);
    const depth = -at.z;
    if (!(depth > 0)) return null;
    at.applyMatrix4(this.camera.projectionMatrix);
    const { left, top, width, height } = this.rect;
    return { x: left + ((at.x + 1) / 2) * width, y: top + ((1 - at.y) / 2) * height, depth };
  }

  /** Converts a position in the window to normalized device coordinates, from -1 to 1. */
  toNdc(clientX: number, clientY: number, out: Vector2): Vector2 {
    this.measure();
    const { left, top, width, height } = this.rect;
    return out.set(((clientX - left) / width) * 2 - 1, 1 - ((clientY - top) / height) * 2);
  }
}

export class Picker {
  readonly raycaster = new Raycaster();
  private readonly at = new Vector2();

  constructor(
    private readonly camera: Camera,
    private readonly projection: Projection,
    private readonly bodies: Bodies,
    private readonly ground: Ground,
  ) {}

  /** Sets the ray through a position in the window. */
  aim(clientX: number, clientY: number): void {
    this.raycaster.setFromCamera(this.projection.toNdc(clientX, clientY, this.at), this.camera);
  }

  /** Returns the nearest surface at a position in the window; that of a sensor only if no solid body is behind it. */
  surface(clientX: number, clientY: number): Hit | null {
    this.aim(clientX, clientY);
    const found = this.raycaster.intersectObjects([...this.bodies.meshes(), ...this.ground.meshes()], false);
    let sensor: Hit | null = null;
    for (const { instanceId, object, point, distance } of found) {
      const part = instanceId === undefined ? null : this.bodies.partAt(object, instanceId);
      const hit = { body: part?.body ?? null, collider: part?.collider ?? null, point, distance };
      if (!hit.collider?.sensor) return sensor && !hit.collider ? sensor : hit;
      sensor ??= hit;
    }
    return sensor;
  }

  /** Returns the contact point nearest to the pointer; among equally near ones, the one nearest to the camera. */
  contact(frame: Frame, clientX: number, clientY: number, touch: boolean): Omit<DrawnContact, "screen"> | null {
    const near = touch ? NEAR_PX.coarse : NEAR_PX.fine;
    let best: Omit<DrawnContact, "screen"> | null = null;
    let bestRank = Infinity;
    let bestDepth = Infinity;
    this.eachContact(frame, (pair, k, x, y, depth) => {
      const distance = Math.hypot(x - clientX, y - clientY);
      if (distance > near) return;
      const rank = Math.floor(distance / SAME_PX);
      if (rank > bestRank || (rank === bestRank && depth >= bestDepth)) return;
      bestRank = rank;
      bestDepth = depth;
      best = { ...pairAt(frame, pair), point: k };
    });
    return best;
  }

  /** Returns all contact points in front of the camera. */
  contacts(frame: Frame): DrawnContact[] {
    const list: DrawnContact[] = [];
    this.eachContact(frame, (pair, point, x, y) => {
      list.push({ ...pairAt(frame, pair), point, screen: [x, y] });
    });
    return list;
  }

  private eachContact(
    frame: Frame,
    visit: (pair: number, k: number, x: number, y: number, depth: number) => void,
  ): void {
    this.projection.measure();
    const { pointPosition: at } = frame;
    for (let pair = 0; pair < frame.pairCount; pair++) {
      for (let k = 0; k < frame.pairPoints[pair]; k++) {
        const point = frame.pairFirst[pair] + k;
        const screen = this.projection.project(at[3 * point], at[3 * point + 1], at[3 * point + 2]);
        if (screen) visit(pair, k, screen.x, screen.y, screen.depth);
      }
    }
  }
}

function pairAt(frame: Frame, pair: number): Pick<DrawnContact, "a" | "b" | "colliders"> {
  const colliders: [number, number] = [frame.pairColliderA[pair], frame.pairColliderB[pair]];
  return { a: frame.pairA[pair], b: frame.pairB[pair], colliders };
}

export function toVec3(v: Vector3): Vec3 {
  return [v.x, v.y, v.z];
}
