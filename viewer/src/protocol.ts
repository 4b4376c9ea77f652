// The protocol between server and page. The server's side is `crates/msd-cli/src/view/wire.rs`.

/** Returns the address of the server's WebSocket. */
export function socketAddress(): string {
  const address = new URL("socket", location.href);
  address.protocol = "ws:";
  address.search = "";
  address.hash = "";
  return address.href;
}

export type Vec3 = [number, number, number];
/** x, y, z, w. */
export type Quat = [number, number, number, number];

export type Shape =
  | { type: "sphere"; radius: number }
  | { type: "capsule"; radius: number; half_height: number }
  | { type: "cylinder"; radius: number; half_height: number }
  | { type: "cone"; radius: number; half_height: number }
  | { type: "cuboid"; half_extents: Vec3 }
  | { type: "half_space"; normal: Vec3; offset: number }
  | { type: "hull"; vertices: Vec3[]; faces: number[][] };

/** A shape of a body, with its place in the body's frame, whose origin is the center of mass. Axes of revolution are z. */
export interface Collider {
  name: string;
  position: Vec3;
  rotation: Quat;
  shape: Shape;
  friction: number;
  restitution: number;
  /** Whether it pushes nothing, and reports what overlaps it. */
  sensor: boolean;
  /** Whether it takes part in anything. */
  enabled: boolean;
}

/** The constant properties of a body. Bodies are identified by their index in the list of bodies. */
export interface Body {
  name: string;
  kind: "inertial" | "environment";
  mass: number;
  /** Factor on the uniform gravity. */
  gravity_scale: number;
  /** The first step at which the body exists. */
  first_step: number;
  colliders: Collider[];
}

/** A joint: its kind, the indices of its bodies, and its anchor in each body's axes, from the center of mass, m. Joints
 * are identified by their index in the list of joints. */
export interface Joint {
  kind: "ball joint" | "rod" | "rope" | "distance joint" | "spring";
  a: number;
  b: number;
  anchor_a: Vec3;
  anchor_b: Vec3;
}

export interface Settings {
  gravity: Vec3;
  dt: number;
  /** fast, balanced or exact. */
  accuracy: string;
  solver: string;
  substeps: number;
  rest_speed: number;
  /** Values set for all bodies, if any. */
  friction: number | null;
  restitution: number | null;
}

export interface Check {
  name: string;
  verdict: "pass" | "skip" | "warn" | "fail";
  message: string;
  /** Step with the worst value. */
  step: number | null;
  /** Bodies concerned. */
  bodies: number[];
}

/** The first message about a run; sent again when another scene is opened or the scene is reset. */
export interface Hello {
  type: "hello";
  /** Frames and series of an older epoch are stale. */
  epoch: number;
  mode: "live" | "replay";
  /** Name and title of the scene or recording. */
  name: string;
  title: string;
  /** The scene's description, plain text of several lines. */
  comment: string;
  settings: Settings;
  /** Names of the levels of accuracy, from the fastest to the most exact. */
  accuracies: string[];
  /** Names of the available solvers, in live mode. */
  solvers: string[];
  /** False for a truncated recording. */
  complete: boolean;
  /** Steps from one recorded frame to the next; the last step is always recorded. */
  every: number;
  /** False for a recording without contacts. */
  contacts: boolean;
  /** Warnings of `msd check` about the scene, and settings without effect: what the checks do not cover. */
  notes: string[];
  bodies: Body[];
  joints: Joint[];
  /** Names of the columns of the series, in order. */
  columns: string[];
}

/** Bodies appended to the list. */
export interface Bodies {
  type: "bodies";
  epoch: number;
  bodies: Body[];
}

export interface Status {
  type: "status";
  /** Range of the available steps. */
  first_step: number;
  last_step: number;
  /** Live: whether the simulation runs. */
  running: boolean;
  /** Live: measured step rate. */
  steps_per_second: number;
  /** Live: target speed, simulated seconds per second; 0 is as fast as possible. */
  speed: number;
  settings: Settings;
  /** The checks of the run up to now. */
  checks: Check[];
  /** Why part of the recording cannot be read or why the simulation stopped; empty if there is no problem. */
  problem: string;
}

export interface Mark {
  step: number;
  time: number;
  kind: "hit" | "warning" | "sensor" | "quarantined";
  text: string;
  bodies: number[];
  /** For contacts, the indices of the two colliders in the lists of their bodies. */
  colliders: number[];
  /** For hits the impulse, N s; for warnings the ratio to the limit. */
  strength: number;
}

export interface Marks {
  type: "marks";
  epoch: number;
  /** All marks, sorted by step. */
  marks: Mark[];
}

export interface Rejected {
  type: "rejected";
  reason: string;
}

/** The motion of one body over time, downsampled. Response to `motion`. */
export interface Motion {
  type: "motion";
  epoch: number;
  body: number;
  time: number[];
  position: [number[], number[], number[]];
  speed: number[];
  spin: number[];
}

export interface CatalogScene {
  name: string;
  title: string;
  comment: string;
}

/** The catalog. Response to `scenes`. */
export interface Scenes {
  type: "scenes";
  scenes: CatalogScene[];
  /** The scene or recording named on the command line. */
  argument: CatalogScene | null;
}

export type Message = Hello | Bodies | Status | Marks | Rejected | Motion | Scenes;

/** A command from the page. From `run` on, commands are rejected in a replay. */
export type Command =
  | { do: "frames"; from: number; count: number; stride: number }
  | { do: "motion"; body: number }
  | { do: "scenes" }
  | { do: "open"; scene: string }
  | { do: "run" }
  | { do: "pause" }
  | { do: "step" }
  | { do: "reset" }
  | { do: "speed"; factor: number }
  | { do: "set"; gravity?: Vec3; dt?: number; accuracy?: string; solver?: string; friction?: number; restitution?: number }
  | { do: "throw"; from: Vec3; velocity: Vec3; half_extents: Vec3; mass: number }
  | { do: "grab"; body: number; anchor: Vec3; to: Vec3 }
  | { do: "drag"; to: Vec3 }
  | { do: "release" };

const FRAME = 1;
const SERIES = 2;

/** One step. All columns are views of one buffer; vectors are three consecutive numbers, rotations x, y, z, w. */
export class Frame {
  readonly epoch: number;
  readonly step: number;
  readonly time: number;
  /** Time step, s, and uniform gravity, m/s^2. */
  readonly dt: number;
  readonly gravity: Vec3;
  readonly bodyCount: number;
  readonly pairCount: number;
  readonly pointCount: number;
  readonly jointCount: number;
  readonly bytes: number;

  /** Centers of mass, m; orientations; velocities, m/s; angular velocities in world axes, rad/s. */
  readonly position: Float64Array;
  readonly rotation: Float64Array;
  readonly velocity: Float64Array;
  readonly spin: Float64Array;
  /** Unit vectors from A to B; coefficients; impulse on B over the step, N s. */
  readonly pairNormal: Float64Array;
  readonly pairFriction: Float64Array;
  readonly pairRestitution: Float64Array;
  readonly pairImpulse: Float64Array;
  /** Position midway between the surfaces, m, and distance, negative if they overlap, m, both from the last
   * narrow-phase update within the last substep; impulse on B over the step and in its last substep, N s; approach
   * speed of an impact, m/s, or 0; violation of the contact law, m/s. */
  readonly pointPosition: Float64Array;
  readonly pointGap: Float64Array;
  readonly pointImpulse: Float64Array;
  readonly pointLastImpulse: Float64Array;
  readonly pointApproach: Float64Array;
  readonly pointResidual: Float64Array;
  /** Impulse of each joint on its body B over the step, N s; earlier versions did not record it. */
  readonly jointImpulse: Float64Array;
  /** Index of each body in the list of bodies, ascending; index of its island, or NO_ISLAND. */
  readonly body: Uint32Array;
  readonly island: Uint32Array;
  /** Indices of a pair's bodies; index of its first point, and number of its points. */
  readonly pairA: Uint32Array;
  readonly pairB: Uint32Array;
  /** Indices of a pair's colliders in the lists of their bodies, or NO_COLLIDER. */
  readonly pairColliderA: Uint32Array;
  readonly pairColliderB: Uint32Array;
  readonly pairFirst: Uint32Array;
  readonly pairPoints: Uint32Array;
  /** Index of each joint in the list of joints. */
  readonly joint: Uint32Array;

  constructor(buffer: ArrayBuffer) {
    const head = new DataView(buffer);
    this.epoch = head.getUint32(4, true);
    this.step = head.getFloat64(8, true);
    this.time = head.getFloat64(16, true);
    this.dt = head.getFloat64(24, true);
    this.gravity = [head.getFloat64(32, true), head.getFloat64(40, true), head.getFloat64(48, true)];
    const bodies = (this.bodyCount = head.getUint32(56, true));
    const pairs = (this.pairCount = head.getUint32(60, true));
    const points = (this.pointCount = head.getUint32(64, true));
    const joints = (this.jointCount = head.getUint32(68, true));
    this.bytes = buffer.byteLength;
    let at = 72;
    const f64s = (count: number) => {
      const view = new Float64Array(buffer, at, count);
      at += 8 * count;
      return view;
    };
    const u32s = (count: number) => {
      const view = new Uint32Array(buffer, at, count);
      at += 4 * count;
      return view;
    };
    this.position = f64s(3 * bodies);
    this.rotation = f64s(4 * bodies);
    this.velocity = f64s(3 * bodies);
    this.spin = f64s(3 * bodies);
    this.pairNormal = f64s(3 * pairs);
    this.pairFriction = f64s(pairs);
    this.pairRestitution = f64s(pairs);
    this.pairImpulse = f64s(3 * pairs);
    this.pointPosition = f64s(3 * points);
    this.pointGap = f64s(points);
    this.pointImpulse = f64s(3 * points);
    this.pointLastImpulse = f64s(3 * points);
    this.pointApproach = f64s(points);
    this.pointResidual = f64s(points);
    this.jointImpulse = f64s(3 * joints);
    this.body = u32s(bodies);
    this.island = u32s(bodies);
    this.pairA = u32s(pairs);
    this.pairB = u32s(pairs);
    this.pairColliderA = u32s(pairs);
    this.pairColliderB = u32s(pairs);
    this.pairFirst = u32s(pairs);
    this.pairPoints = u32s(pairs);
    this.joint = u32s(joints);
  }

  /** Returns the row of a body in this frame's columns, or -1. */
  rowOf(body: number): number {
    let low = 0;
    let high = this.bodyCount;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.body[middle] < body) low = middle + 1;
      else high = middle;
    }
    return low < this.bodyCount && this.body[low] === body ? low : -1;
  }

  /**
   * Computes the load of a contact point: the direction of the last substep's impulse, scaled so that its normal
   * component equals that over the whole step. The stored normal is that of the end of the step, and only an impulse of
   * that time can be compared with its friction cone. If there was no impulse in the last substep, the load is the
   * impulse over the step, and `summed` is true.
   */
  contactLoad(pair: number, point: number, out: [number, number, number]): { normalImpulse: number; summed: boolean } {
    const { pairNormal: n, pointImpulse: whole, pointLastImpulse: last } = this;
    let normalImpulse = 0;
    let lastNormalImpulse = 0;
    for (let axis = 0; axis < 3; axis++) {
      normalImpulse += n[3 * pair + axis] * whole[3 * point + axis];
      lastNormalImpulse += n[3 * pair + axis] * last[3 * point + axis];
    }
    const summed = !(lastNormalImpulse > 0 && normalImpulse > 0);
    const from = summed ? whole : last;
    const factor = summed ? 1 : normalImpulse / lastNormalImpulse;
    for (let axis = 0; axis < 3; axis++) out[axis] = factor * from[3 * point + axis];
    return { normalImpulse, summed };
  }
}

export const NO_ISLAND = 0xffffffff;
/** The collider of a contact that its body did not have when it first appeared. */
export const NO_COLLIDER = 0xffffffff;

/** Rows of the series that replace all rows from `from` on. */
export interface Rows {
  epoch: number;
  from: number;
  rows: number;
  columns: number;
  /** Values in row-major order. */
  values: Float64Array;
}

export function decode(buffer: ArrayBuffer): Frame | Rows {
  const head = new DataView(buffer);
  const kind = head.getUint32(0, true);
  if (kind === FRAME) return new Frame(buffer);
  if (kind !== SERIES) throw new Error(`unknown message ${kind}`);
  const rows = head.getUint32(12, true);
  const columns = head.getUint32(16, true);
  return {
    epoch: head.getUint32(4, true),
    from: head.getUint32(8, true),
    rows,
    columns,
    values: new Float64Array(buffer, 24, rows * columns),
  };
}
