// What is drawn besides the bodies.

import {
  BoxGeometry,
  ConeGeometry,
  DoubleSide,
  DynamicDrawUsage,
  EdgesGeometry,
  GreaterDepth,
  Group,
  InstancedBufferAttribute,
  type InstancedMesh,
  LessEqualDepth,
  LineBasicMaterial,
  MeshBasicMaterial,
} from "three";
import { findContact, type Overlays as Choice, type Selection } from "../model";
import type { Body, Frame, Joint, Vec3 } from "../protocol";
import { Arrows, writeAlong } from "./arrows";
import { boundsOf, emptyBox, roundDown, type Scale, type Size } from "./bounds";
import { Dots } from "./dots";
import { InstancedLines, newInstances, roomFor } from "./instances";
import { WideLines } from "./lines";
import { type Look, MARKS } from "./palette";
import { bodyPose, newPose, shapePose } from "./pose";

/** What the overlays are made from. */
export interface Sight {
  frame: Frame;
  bodies: readonly Body[];
  sizes: readonly Size[];
  places: Int32Array;
  scale: Scale;
  joints: readonly Joint[];
  /** The greatest speed of the scene up to now. */
  greatest: number;
}

/** Radius of a contact's disc in parts of the smaller body's width. */
const DOT = 0.07;
/** An overlap deeper than this part of the smaller body's width is drawn in red. */
const DEEP = 0.01;
/** A contact whose impulse is below this part of the greatest carries nothing. */
const NOTHING = 1e-9;
/** Cones of a greater coefficient are drawn shorter, so that they stay as wide. */
const WIDE = 1.5;
/** A coefficient above this is drawn as this; the cone is all but flat. */
const STEEPEST = 1e3;
/** How strongly cones behind surfaces show while they are few. */
const HIDDEN_CONES = 0.16;
const FEW_CONES = 24;

/** The smaller of the widths of a pair's bodies. */
function widthOf(sight: Sight, pair: number): number {
  const a = sight.sizes[sight.frame.pairA[pair]]?.width ?? Infinity;
  const b = sight.sizes[sight.frame.pairB[pair]]?.width ?? Infinity;
  const width = Math.min(a, b, 2 * sight.scale.edge);
  return Number.isFinite(width) ? width : sight.scale.edge;
}

/** What the point that is looked at carries. */
const load: Vec3 = [0, 0, 0];

function greatestImpulse(frame: Frame): number {
  let greatest = 0;
  eachPoint(frame, (pair, point) => {
    frame.loadOf(pair, point, load);
    greatest = Math.max(greatest, Math.hypot(...load));
  });
  return greatest;
}

/** Calls back for every point with its pair. */
function eachPoint(frame: Frame, visit: (pair: number, point: number) => void): void {
  for (let pair = 0; pair < frame.pairCount; pair++) {
    const first = frame.pairFirst[pair];
    for (let k = 0; k < frame.pairPoints[pair]; k++) visit(pair, first + k);
  }
}

function drawContacts(dots: Dots, sight: Sight, on: boolean): void {
  const { frame } = sight;
  dots.begin(on ? frame.pointCount : 0);
  if (on) {
    const least = NOTHING * greatestImpulse(frame);
    const { pointPosition: at, pointGap } = frame;
    eachPoint(frame, (pair, point) => {
      const width = widthOf(sight, pair);
      frame.loadOf(pair, point, load);
      const deep = pointGap[point] < -DEEP * width;
      const colour = deep ? MARKS.deep : Math.hypot(...load) > least ? MARKS.loaded : MARKS.idle;
      dots.add(at[3 * point], at[3 * point + 1], at[3 * point + 2], DOT * width, colour);
    });
  }
  dots.end();
}

/** Arrows of the impulses' normal parts, and with cones of the whole impulses. The answer is the longest, N s. */
function drawImpulses(arrows: Arrows, sight: Sight, normals: boolean, wholes: boolean): number {
  const { frame, scale } = sight;
  const on = normals || wholes;
  arrows.begin(on ? frame.pointCount * (normals && wholes ? 2 : 1) : 0, scale.arrow);
  const greatest = on ? greatestImpulse(frame) : 0;
  if (greatest > 0) {
    const factor = scale.arrow / greatest;
    const { pointPosition: at, pairNormal: n } = frame;
    eachPoint(frame, (pair, point) => {
      const { push } = frame.loadOf(pair, point, load);
      const x = at[3 * point];
      const y = at[3 * point + 1];
      const z = at[3 * point + 2];
      if (normals) {
        const f = factor * push;
        arrows.add(x, y, z, f * n[3 * pair], f * n[3 * pair + 1], f * n[3 * pair + 2], MARKS.normal);
      }
      if (wholes) {
        arrows.add(x, y, z, factor * load[0], factor * load[1], factor * load[2], MARKS.impulse);
      }
    });
  }
  arrows.end();
  return greatest;
}

/** The forces by contact and the weights, at the centres of mass. */
class Forces {
  private sums = new Float64Array(0);

  /** The answer is the greatest, N. */
  draw(arrows: Arrows, sight: Sight, on: boolean): number {
    const { frame, scale, bodies } = sight;
    const { gravity } = frame;
    const count = on ? frame.bodyCount : 0;
    arrows.begin(2 * count, scale.arrow);
    if (on) this.sum(sight);
    const weight = Math.hypot(...gravity);
    let greatest = 0;
    for (let place = 0; place < count; place++) {
      const body = bodies[frame.body[place]];
      if (body?.kind !== "inertial") continue;
      const force = Math.hypot(this.sums[3 * place], this.sums[3 * place + 1], this.sums[3 * place + 2]);
      greatest = Math.max(greatest, force, body.mass * Math.abs(body.gravity_scale) * weight);
    }
    const factor = greatest > 0 && greatest < Infinity ? scale.arrow / greatest : 0;
    for (let place = 0; place < count && factor > 0; place++) {
      const body = bodies[frame.body[place]];
      if (body?.kind !== "inertial") continue;
      const x = frame.position[3 * place];
      const y = frame.position[3 * place + 1];
      const z = frame.position[3 * place + 2];
      const f = factor * body.mass * body.gravity_scale;
      arrows.add(x, y, z, f * gravity[0], f * gravity[1], f * gravity[2], MARKS.weight);
      const fx = factor * this.sums[3 * place];
      const fy = factor * this.sums[3 * place + 1];
      const fz = factor * this.sums[3 * place + 2];
      arrows.add(x, y, z, fx, fy, fz, MARKS.contactForce);
    }
    arrows.end();
    return greatest;
  }

  private sum({ frame, places }: Sight): void {
    if (this.sums.length < 3 * frame.bodyCount) this.sums = new Float64Array(3 * frame.bodyCount);
    this.sums.fill(0);
    for (let pair = 0; pair < frame.pairCount; pair++) {
      const a = places[frame.pairA[pair]] ?? -1;
      const b = places[frame.pairB[pair]] ?? -1;
      for (let axis = 0; axis < 3; axis++) {
        const force = frame.pairImpulse[3 * pair + axis] / frame.dt;
        if (a >= 0) this.sums[3 * a + axis] -= force;
        if (b >= 0) this.sums[3 * b + axis] += force;
      }
    }
  }
}

/** The answer is the time in which a body goes as far as its arrow, s. */
function drawVelocities(arrows: Arrows, sight: Sight, on: boolean): number {
  const { frame, scale, bodies, greatest } = sight;
  const count = on && greatest > 0 ? frame.bodyCount : 0;
  arrows.begin(count, scale.arrow);
  // The way gone in a round time, so that it stays the same while the greatest speed changes a little.
  const time = greatest > 0 ? roundDown((2 * scale.arrow) / greatest) : 0;
  for (let place = 0; place < count; place++) {
    if (bodies[frame.body[place]]?.kind !== "inertial") continue;
    const { position: p, velocity: v } = frame;
    const k = 3 * place;
    arrows.add(p[k], p[k + 1], p[k + 2], time * v[k], time * v[k + 1], time * v[k + 2], MARKS.velocity);
  }
  arrows.end();
  return time;
}

function coneMaterial(opacity: number, hidden: boolean): MeshBasicMaterial {
  return new MeshBasicMaterial({
    color: MARKS.cone,
    transparent: true,
    opacity,
    side: DoubleSide,
    depthWrite: false,
    depthFunc: hidden ? GreaterDepth : LessEqualDepth,
  });
}

/** Friction cones at the points that carry something: as high as the normal part of the impulse. */
class Cones {
  readonly root = new Group();
  private readonly geometry = new ConeGeometry(1, 1, 28, 1, true)
    .translate(0, -0.5, 0)
    .rotateX(-Math.PI / 2);
  private readonly seen = coneMaterial(0.24, false);
  private readonly hidden = coneMaterial(0.24, true);
  private mesh: InstancedMesh | null = null;
  private behind: InstancedMesh | null = null;
  private room = 0;

  draw({ frame, scale }: Sight, on: boolean): void {
    this.root.visible = on;
    if (!on) return;
    this.reserve(frame.pointCount);
    const greatest = greatestImpulse(frame);
    const factor = greatest > 0 ? scale.arrow / greatest : 0;
    const out = this.mesh?.instanceMatrix.array as Float32Array;
    const { pointPosition: at, pairNormal: n } = frame;
    let count = 0;
    eachPoint(frame, (pair, point) => {
      const friction = Math.min(frame.pairFriction[pair], STEEPEST);
      let height = factor * frame.loadOf(pair, point, load).push;
      if (!(height > 0.01 * scale.arrow) || !(friction > 0)) return;
      height *= Math.min(1, WIDE / friction);
      const k = 3 * point;
      const m = 3 * pair;
      const wide = friction * height;
      writeAlong(out, 16 * count++, at[k], at[k + 1], at[k + 2], n[m], n[m + 1], n[m + 2], wide, height);
    });
    if (!this.mesh || !this.behind) return;
    this.mesh.count = this.behind.count = count;
    this.mesh.visible = this.behind.visible = count > 0;
    this.mesh.instanceMatrix.needsUpdate = true;
    // Many cones inside of bodies would cover the bodies.
    this.hidden.opacity = HIDDEN_CONES / Math.max(1, count / FEW_CONES);
  }

  private reserve(needed: number): void {
    const room = roomFor(needed, this.room);
    if (room === this.room) return;
    this.room = room;
    this.mesh?.dispose();
    this.root.clear();
    this.behind?.dispose();
    this.mesh = newInstances(this.geometry, this.seen, room, false);
    this.behind = newInstances(this.geometry, this.hidden, room, false);
    this.behind.instanceMatrix = this.mesh.instanceMatrix;
    this.mesh.renderOrder = this.behind.renderOrder = 4;
    this.root.add(this.behind, this.mesh);
  }
}

/** Boxes along the world's axes around every body that moves. */
class Boxes {
  readonly root = new Group();
  readonly material = new LineBasicMaterial({ transparent: true, opacity: 0.85 });
  private readonly geometry = new EdgesGeometry(new BoxGeometry(2, 2, 2));
  private lines: InstancedLines | null = null;
  private room = 0;
  private readonly box = emptyBox();
  private readonly pose = newPose();

  draw({ frame, bodies }: Sight, on: boolean): void {
    this.root.visible = on;
    if (!on) return;
    this.reserve(frame.bodyCount);
    if (!this.lines) return;
    const out = this.lines.instanceMatrix.array as Float32Array;
    const { box } = this;
    let count = 0;
    for (let place = 0; place < frame.bodyCount; place++) {
      const body = bodies[frame.body[place]];
      if (body?.kind !== "inertial" || body.shape.type === "half_space") continue;
      shapePose(frame, place, body, this.pose);
      boundsOf(body.shape, this.pose, box);
      const at = 16 * count++;
      out.fill(0, at, at + 16);
      for (let axis = 0; axis < 3; axis++) {
        out[at + 5 * axis] = (box[3 + axis] - box[axis]) / 2;
        out[at + 12 + axis] = (box[3 + axis] + box[axis]) / 2;
      }
      out[at + 15] = 1;
    }
    this.lines.count = count;
    this.lines.visible = count > 0;
    this.lines.instanceMatrix.needsUpdate = true;
  }

  private reserve(needed: number): void {
    const room = roomFor(needed, this.room);
    if (room === this.room) return;
    this.room = room;
    this.root.clear();
    const list = new InstancedBufferAttribute(new Float32Array(16 * room), 16);
    this.lines = new InstancedLines(this.geometry, this.material, list.setUsage(DynamicDrawUsage));
    this.lines.renderOrder = 2;
    this.root.add(this.lines);
  }
}

/** From each of two bodies that a joint connects to where it is held, and from there to where the other is. */
class Joints {
  readonly lines = new WideLines(2);
  readonly ends = new Dots();
  private readonly poses = [newPose(), newPose()] as const;
  private readonly held = [new Float64Array(3), new Float64Array(3)] as const;

  constructor() {
    this.lines.setColour(MARKS.joint);
  }

  draw({ frame, joints, places, scale, bodies }: Sight, on: boolean): void {
    const list = on ? joints : [];
    this.lines.begin(3 * list.length);
    this.ends.begin(2 * list.length);
    const radius = 0.06 * scale.edge;
    const [p, q] = this.held;
    for (const { a, b, at_a, at_b } of list) {
      const [from, to] = [places[a] ?? -1, places[b] ?? -1];
      if (from < 0 || to < 0) continue;
      this.hold(0, frame, from, at_a, bodies[a].kind === "inertial");
      this.hold(1, frame, to, at_b, bodies[b].kind === "inertial");
      this.lines.add(p[0], p[1], p[2], q[0], q[1], q[2]);
      this.ends.add(p[0], p[1], p[2], radius, MARKS.joint);
      this.ends.add(q[0], q[1], q[2], radius, MARKS.joint);
    }
    this.lines.end();
    this.ends.end();
  }

  /** Finds where a body is held, and draws the arm to there of one that moves. */
  private hold(end: 0 | 1, frame: Frame, place: number, at: Vec3, arm: boolean): void {
    const [pose, point] = [this.poses[end], this.held[end]];
    bodyPose(frame, place, pose);
    for (let row = 0; row < 3; row++) {
      point[row] = pose[9 + row] + pose[row] * at[0] + pose[3 + row] * at[1] + pose[6 + row] * at[2];
    }
    if (arm) this.lines.add(pose[9], pose[10], pose[11], point[0], point[1], point[2]);
  }
}

/** What a length or a colour in the picture stands for. */
export interface LegendLine {
  what: string;
  value: number;
  unit: string;
}

export class OverlayLayer {
  readonly root = new Group();
  private readonly dots = new Dots();
  private readonly chosen = new Dots(true);
  private readonly impulses = new Arrows();
  private readonly forceArrows = new Arrows();
  private readonly velocities = new Arrows();
  private readonly forces = new Forces();
  private readonly cones = new Cones();
  private readonly boxes = new Boxes();
  private readonly joints = new Joints();

  constructor() {
    this.root.add(this.dots.root, this.chosen.root, this.impulses.root, this.forceArrows.root);
    this.root.add(this.velocities.root, this.cones.root, this.boxes.root);
    this.root.add(this.joints.lines.object, this.joints.ends.root);
  }

  setLook(look: Look): void {
    this.boxes.material.color.copy(look.box);
  }

  setPixels(height: number, ratio: number): void {
    this.dots.setPixels(height, ratio);
    this.chosen.setPixels(height, ratio);
    this.joints.ends.setPixels(height, ratio);
  }

  /** Draws what is chosen, and says how long arrows are. */
  draw(sight: Sight | null, choice: Choice, selection: Selection | null): LegendLine[] {
    this.root.visible = sight !== null;
    if (!sight) return [];
    const legend: LegendLine[] = [{ what: "grid", value: sight.scale.cell, unit: "m" }];
    drawContacts(this.dots, sight, choice.contacts);
    const impulse = drawImpulses(this.impulses, sight, choice.normals, choice.cones);
    if (impulse > 0) legend.push({ what: "longest impulse", value: impulse, unit: "N s" });
    this.cones.draw(sight, choice.cones);
    const force = this.forces.draw(this.forceArrows, sight, choice.forces);
    if (force > 0) legend.push({ what: "longest force", value: force, unit: "N" });
    const time = drawVelocities(this.velocities, sight, choice.velocities);
    if (choice.velocities && time > 0) legend.push({ what: "velocities: way in", value: time, unit: "s" });
    this.boxes.draw(sight, choice.bounds);
    this.joints.draw(sight, choice.joints);
    this.drawChosen(sight, selection);
    return legend;
  }

  /** A ring around the selected contact point, whether the points are drawn or not. */
  private drawChosen(sight: Sight, selection: Selection | null): void {
    this.chosen.begin(1);
    const found = selection?.kind === "contact" ? findContact(sight.frame, selection) : null;
    if (found) {
      const [x, y, z] = sight.frame.pointPosition.subarray(3 * found.point, 3 * found.point + 3);
      this.chosen.add(x, y, z, 2.6 * DOT * widthOf(sight, found.pair), MARKS.chosen);
    }
    this.chosen.end();
  }
}
