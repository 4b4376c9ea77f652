// What the server and the page say to each other. The other end is `crates/msd-cli/src/view/wire.rs`.

/** Where the server listens, for a page of its own. */
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

/** What a body is, besides where. Its number everywhere is its place in the list of bodies. */
export interface Body {
  name: string;
  kind: "inertial" | "environment";
  mass: number;
  /** How much of the uniform gravity acts on it. */
  gravity_scale: number;
  friction: number;
  restitution: number;
  /** The first step at which it is there. */
  first_step: number;
  /** The shape's frame in the body's, whose origin is the centre of mass. Axes of revolution are z. */
  offset: { position: Vec3; rotation: Quat };
  shape: Shape;
}

/** Two bodies that a joint connects, and where it holds each: in the body's axes, from its centre of mass. */
export interface Joint {
  a: number;
  b: number;
  anchor_a: Vec3;
  anchor_b: Vec3;
}

export interface Settings {
  gravity: Vec3;
  dt: number;
  solver: string;
  substeps: number;
  rest_speed: number;
  /** What was set for all bodies, if it was. */
  friction: number | null;
  restitution: number | null;
}

export interface Check {
  name: string;
  verdict: "pass" | "skip" | "warn" | "fail";
  message: string;
  step: number | null;
}

/** Sent first, and again whenever another scene is shown or the scene begins anew. */
export interface Hello {
  type: "hello";
  /** Frames and series of an older epoch are stale. */
  epoch: number;
  mode: "live" | "replay";
  /** The scene's or the recording's name, and its title. */
  name: string;
  title: string;
  /** What the scene's author says of it, plain text of several lines. */
  comment: string;
  settings: Settings;
  /** Solvers that can be chosen, in live mode. */
  solvers: string[];
  /** False for a recording that was cut off. */
  complete: boolean;
  /** Steps from one frame of a recording to the next; its last step is there besides. */
  every: number;
  /** False for a recording in which contacts were left out. */
  contacts: boolean;
  bodies: Body[];
  joints: Joint[];
  /** Names of the columns of a series' rows, in order. */
  columns: string[];
}

/** Bodies that were added, behind those known. */
export interface Bodies {
  type: "bodies";
  epoch: number;
  bodies: Body[];
}

export interface Status {
  type: "status";
  /** Steps that can be asked for. */
  first_step: number;
  last_step: number;
  /** Live: whether it goes on by itself. */
  running: boolean;
  /** Live: what is reached. */
  steps_per_second: number;
  /** Live: simulated seconds per second aimed at; 0 is as fast as it can. */
  speed: number;
  settings: Settings;
  /** How believable the run is up to now. */
  checks: Check[];
  /** A recording's part that cannot be read, or why a simulation stopped; empty if all is well. */
  problem: string;
}

export interface Mark {
  step: number;
  time: number;
  kind: "hit" | "warning" | "quarantined";
  text: string;
  bodies: number[];
  /** For hits the impulse, N s; for warnings how many times the limit. */
  strength: number;
}

export interface Marks {
  type: "marks";
  epoch: number;
  /** All that are known, by their steps. */
  marks: Mark[];
}

export interface Refused {
  type: "refused";
  reason: string;
}

/** The course of one body, thinned out. Answer to `motion`. */
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

/** The catalog, answer to `scenes`. */
export interface Scenes {
  type: "scenes";
  scenes: CatalogScene[];
  /** What msd was started with. */
  argument: CatalogScene | null;
}

export type Message = Hello | Bodies | Status | Marks | Refused | Motion | Scenes;

/** What the page asks for. Those of the second group are refused in a replay. */
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
  | { do: "set"; gravity?: Vec3; dt?: number; solver?: string; friction?: number; restitution?: number }
  | { do: "throw"; from: Vec3; velocity: Vec3; half_extents: Vec3; mass: number }
  | { do: "grab"; body: number; anchor: Vec3; to: Vec3 }
  | { do: "drag"; to: Vec3 }
  | { do: "release" };

const FRAME = 1;
const SERIES = 2;

/** One step. All lists are views of one buffer; vectors are three numbers in a row, rotations x, y, z, w. */
export class Frame {
  readonly epoch: number;
  readonly step: number;
  readonly time: number;
  /** How long the step took, s, and with which gravity, m/s^2. */
  readonly dt: number;
  readonly gravity: Vec3;
  readonly bodyCount: number;
  readonly pairCount: number;
  readonly pointCount: number;
  readonly bytes: number;

  /** Centres of mass, m; orientations; velocities, m/s; angular velocities in world axes, rad/s. */
  readonly position: Float64Array;
  readonly rotation: Float64Array;
  readonly velocity: Float64Array;
  readonly spin: Float64Array;
  /** Unit vectors from A to B; coefficients; impulse on B over the step, N s. */
  readonly pairNormal: Float64Array;
  readonly pairFriction: Float64Array;
  readonly pairRestitution: Float64Array;
  readonly pairImpulse: Float64Array;
  /** Midway between the surfaces, m; distance, negative if they overlap, m, both as last looked at within the last
   * substep; impulse on B over the step and in its last substep, N s; speed of approach of an impact, m/s, or 0;
   * violation of the law of contact, m/s. */
  readonly pointPosition: Float64Array;
  readonly pointGap: Float64Array;
  readonly pointImpulse: Float64Array;
  readonly pointLastImpulse: Float64Array;
  readonly pointApproach: Float64Array;
  readonly pointResidual: Float64Array;
  /** Number of each body (its place in the list of bodies), ascending; number of its island, or NO_ISLAND. */
  readonly body: Uint32Array;
  readonly island: Uint32Array;
  /** Numbers of a pair's bodies; where its points begin, and how many there are. */
  readonly pairA: Uint32Array;
  readonly pairB: Uint32Array;
  readonly pairFirst: Uint32Array;
  readonly pairPoints: Uint32Array;

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
    this.body = u32s(bodies);
    this.island = u32s(bodies);
    this.pairA = u32s(pairs);
    this.pairB = u32s(pairs);
    this.pairFirst = u32s(pairs);
    this.pairPoints = u32s(pairs);
  }

  /** Where a body stands in this frame's lists, or -1. */
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
   * What a point carries: as much along the normal as over the whole step, in the direction of the last
   * substep's impulse. The normal is that of the step's end, and only what acted along it can be held against its
   * friction cone. Where nothing acted in the last substep it is the impulse over the step.
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

/** Rows of the series, to be put at row `from` in place of all that was there. */
export interface Rows {
  epoch: number;
  from: number;
  rows: number;
  columns: number;
  /** Row after row. */
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
