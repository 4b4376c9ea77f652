// The overlays: contacts, impulses, friction cones, forces, velocities, boxes and joints.

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
import { findContact, type Overlays as OverlayOptions, type Selection } from "../model";
import type { Body, Frame, Joint, Vec3 } from "../protocol";
import { Arrows, writeAlong } from "./arrows";
import { boundsOf, emptyBox, include, isEmpty, NO_BOX, partsOf, roundDown, type Scale, type Size } from "./bounds";
import { Dots } from "./dots";
import { Forces } from "./forces";
import { growCapacity, InstancedLines, newInstances } from "./instances";
import { Joints } from "./joints";
import { OVERLAY_COLORS, type Palette } from "./palette";
import { newPose, shapePose } from "./pose";
import { Trail, type TrailInput } from "./trail";

/** The input of the overlays. */
export interface OverlayInput {
  frame: Frame;
  bodies: readonly Body[];
  sizes: readonly Size[];
  rows: Int32Array;
  scale: Scale;
  joints: readonly Joint[];
  /** The body whose trail is drawn, if any. */
  trail: TrailInput | null;
  /** The greatest speed of the scene up to now, m/s. */
  maxSpeed: number;
}

/** Radius of a contact's disc, relative to the smaller body's width. */
const DOT = 0.07;
/** Depth above which an overlap is drawn in red, relative to the smaller body's width. */
const DEEP = 0.01;
/** Impulse below which a contact is idle, relative to the largest impulse. */
const IDLE_IMPULSE = 1e-9;
/** Coefficient above which cones are drawn shorter, so that their width stays the same. */
const MAX_CONE_RATIO = 1.5;
/** Maximum coefficient drawn; such a cone is almost flat. */
const MAX_FRICTION = 1e3;
/** Opacity of cones behind surfaces, up to `FEW_CONES`; more are fainter. */
const HIDDEN_CONES = 0.16;
const FEW_CONES = 24;

/** Returns the smaller width of a pair's bodies. */
function widthOf(input: OverlayInput, pair: number): number {
  const a = input.sizes[input.frame.pairA[pair]]?.width ?? Infinity;
  const b = input.sizes[input.frame.pairB[pair]]?.width ?? Infinity;
  const width = Math.min(a, b, 2 * input.scale.edge);
  return Number.isFinite(width) ? width : input.scale.edge;
}

/** Scratch: the load of the current point. */
const load: Vec3 = [0, 0, 0];

function maxImpulse(frame: Frame): number {
  let largest = 0;
  eachPoint(frame, (pair, point) => {
    frame.contactLoad(pair, point, load);
    largest = Math.max(largest, Math.hypot(...load));
  });
  return largest;
}

/** Calls `visit` for every point with its pair. */
function eachPoint(frame: Frame, visit: (pair: number, point: number) => void): void {
  for (let pair = 0; pair < frame.pairCount; pair++) {
    const first = frame.pairFirst[pair];
    for (let k = 0; k < frame.pairPoints[pair]; k++) visit(pair, first + k);
  }
}

function drawContacts(dots: Dots, input: OverlayInput, on: boolean): void {
  const { frame } = input;
  dots.begin(on ? frame.pointCount : 0);
  if (on) {
    const idleLimit = IDLE_IMPULSE * maxImpulse(frame);
    const { pointPosition: at, pointGap } = frame;
    eachPoint(frame, (pair, point) => {
      const width = widthOf(input, pair);
      frame.contactLoad(pair, point, load);
      const deep = pointGap[point] < -DEEP * width;
      const color = deep ? OVERLAY_COLORS.deep : Math.hypot(...load) > idleLimit ? OVERLAY_COLORS.loaded : OVERLAY_COLORS.idle;
      dots.add(at[3 * point], at[3 * point + 1], at[3 * point + 2], DOT * width, color);
    });
  }
  dots.end();
}

/** Draws arrows for the normal components of the impulses and, with cones, for the whole impulses. Returns the largest
 * impulse, N s. */
function drawImpulses(arrows: Arrows, input: OverlayInput, normals: boolean, totals: boolean): number {
  const { frame, scale } = input;
  const on = normals || totals;
  arrows.begin(on ? frame.pointCount * (normals && totals ? 2 : 1) : 0, scale.arrow);
  const largest = on ? maxImpulse(frame) : 0;
  if (largest > 0) {
    const factor = scale.arrow / largest;
    const { pointPosition: at, pairNormal: n } = frame;
    eachPoint(frame, (pair, point) => {
      const { normalImpulse } = frame.contactLoad(pair, point, load);
      const x = at[3 * point];
      const y = at[3 * point + 1];
      const z = at[3 * point + 2];
      if (normals) {
        const f = factor * normalImpulse;
        arrows.add(x, y, z, f * n[3 * pair], f * n[3 * pair + 1], f * n[3 * pair + 2], OVERLAY_COLORS.normal);
      }
      if (totals) {
        arrows.add(x, y, z, factor * load[0], factor * load[1], factor * load[2], OVERLAY_COLORS.impulse);
      }
    });
  }
  arrows.end();
  return largest;
}

/** Draws the velocities and returns the time in which a body travels the length of its arrow, s. */
function drawVelocities(arrows: Arrows, input: OverlayInput, on: boolean): number {
  const { frame, scale, bodies, maxSpeed } = input;
  const count = on && maxSpeed > 0 ? frame.bodyCount : 0;
  arrows.begin(count, scale.arrow);
  // The distance travelled in a round time, so that the scale stays the same while the greatest speed varies a little.
  const time = maxSpeed > 0 ? roundDown((2 * scale.arrow) / maxSpeed) : 0;
  for (let row = 0; row < count; row++) {
    if (bodies[frame.body[row]]?.kind !== "inertial") continue;
    const { position: p, velocity: v } = frame;
    const k = 3 * row;
    arrows.add(p[k], p[k + 1], p[k + 2], time * v[k], time * v[k + 1], time * v[k + 2], OVERLAY_COLORS.velocity);
  }
  arrows.end();
  return time;
}

function coneMaterial(opacity: number, hidden: boolean): MeshBasicMaterial {
  return new MeshBasicMaterial({
    color: OVERLAY_COLORS.cone,
    transparent: true,
    opacity,
    side: DoubleSide,
    depthWrite: false,
    depthFunc: hidden ? GreaterDepth : LessEqualDepth,
  });
}

/** The friction cones of loaded points; their height is the normal component of the impulse. */
class Cones {
  readonly root = new Group();
  private readonly geometry = new ConeGeometry(1, 1, 28, 1, true)
    .translate(0, -0.5, 0)
    .rotateX(-Math.PI / 2);
  private readonly seen = coneMaterial(0.24, false);
  private readonly hidden = coneMaterial(0.24, true);
  private mesh: InstancedMesh | null = null;
  private behind: InstancedMesh | null = null;
  private capacity = 0;

  draw({ frame, scale }: OverlayInput, on: boolean): void {
    this.root.visible = on;
    if (!on) return;
    this.reserve(frame.pointCount);
    const largest = maxImpulse(frame);
    const factor = largest > 0 ? scale.arrow / largest : 0;
    const out = this.mesh?.instanceMatrix.array as Float32Array;
    const { pointPosition: at, pairNormal: n } = frame;
    let count = 0;
    eachPoint(frame, (pair, point) => {
      const friction = Math.min(frame.pairFriction[pair], MAX_FRICTION);
      let height = factor * frame.contactLoad(pair, point, load).normalImpulse;
      if (!(height > 0.01 * scale.arrow) || !(friction > 0)) return;
      height *= Math.min(1, MAX_CONE_RATIO / friction);
      const k = 3 * point;
      const m = 3 * pair;
      const radius = friction * height;
      writeAlong(out, 16 * count++, at[k], at[k + 1], at[k + 2], n[m], n[m + 1], n[m + 2], radius, height);
    });
    if (!this.mesh || !this.behind) return;
    this.mesh.count = this.behind.count = count;
    this.mesh.visible = this.behind.visible = count > 0;
    this.mesh.instanceMatrix.needsUpdate = true;
    // Many cones inside bodies would hide the bodies.
    this.hidden.opacity = HIDDEN_CONES / Math.max(1, count / FEW_CONES);
  }

  private reserve(needed: number): void {
    const capacity = growCapacity(needed, this.capacity);
    if (capacity === this.capacity) return;
    this.capacity = capacity;
    this.mesh?.dispose();
    this.root.clear();
    this.behind?.dispose();
    this.mesh = newInstances(this.geometry, this.seen, capacity, false);
    this.behind = newInstances(this.geometry, this.hidden, capacity, false);
    this.behind.instanceMatrix = this.mesh.instanceMatrix;
    this.mesh.renderOrder = this.behind.renderOrder = 4;
    this.root.add(this.behind, this.mesh);
  }
}

/** The axis-aligned bounding boxes of all inertial bodies. */
class Boxes {
  readonly root = new Group();
  readonly material = new LineBasicMaterial({ transparent: true, opacity: 0.85 });
  private readonly geometry = new EdgesGeometry(new BoxGeometry(2, 2, 2));
  private lines: InstancedLines | null = null;
  private capacity = 0;
  private readonly box = emptyBox();
  private readonly part = emptyBox();
  private readonly pose = newPose();

  draw({ frame, bodies }: OverlayInput, on: boolean): void {
    this.root.visible = on;
    if (!on) return;
    this.reserve(frame.bodyCount);
    if (!this.lines) return;
    const out = this.lines.instanceMatrix.array as Float32Array;
    const { box } = this;
    let count = 0;
    for (let row = 0; row < frame.bodyCount; row++) {
      const body = bodies[frame.body[row]];
      if (body?.kind !== "inertial") continue;
      box.set(NO_BOX);
      for (const part of partsOf(body)) {
        shapePose(frame, row, part, this.pose);
        boundsOf(part.shape, this.pose, this.part);
        include(box, this.part);
      }
      if (isEmpty(box) || !Number.isFinite(box[0])) continue;
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
    const capacity = growCapacity(needed, this.capacity);
    if (capacity === this.capacity) return;
    this.capacity = capacity;
    this.root.clear();
    const list = new InstancedBufferAttribute(new Float32Array(16 * capacity), 16);
    this.lines = new InstancedLines(this.geometry, this.material, list.setUsage(DynamicDrawUsage));
    this.lines.renderOrder = 2;
    this.root.add(this.lines);
  }
}

/** The value that a length or a color in the viewport represents. */
export interface LegendLine {
  label: string;
  value: number;
  unit: string;
}

export class OverlayLayer {
  readonly root = new Group();
  private readonly dots = new Dots();
  private readonly selected = new Dots(true);
  private readonly impulses = new Arrows();
  private readonly velocities = new Arrows();
  private readonly forces = new Forces();
  private readonly cones = new Cones();
  private readonly boxes = new Boxes();
  private readonly joints = new Joints();
  private readonly trail = new Trail();

  constructor() {
    this.root.add(this.dots.root, this.selected.root, this.impulses.root, this.forces.root);
    this.root.add(this.velocities.root, this.cones.root, this.boxes.root);
    this.root.add(this.joints.lines.object, this.joints.anchors.root, this.trail.line.object);
  }

  setPalette(palette: Palette): void {
    this.boxes.material.color.copy(palette.box);
    // The color of the selected body's outline.
    this.trail.line.setColor(palette.accent);
  }

  setPixels(height: number, ratio: number): void {
    this.dots.setPixels(height, ratio);
    this.selected.setPixels(height, ratio);
    this.joints.anchors.setPixels(height, ratio);
  }

  /** Draws the enabled overlays and returns the legend. */
  draw(input: OverlayInput | null, options: OverlayOptions, selection: Selection | null): LegendLine[] {
    this.root.visible = input !== null;
    if (!input) return [];
    const legend: LegendLine[] = [{ label: "grid", value: input.scale.cell, unit: "m" }];
    drawContacts(this.dots, input, options.contacts);
    const impulse = drawImpulses(this.impulses, input, options.normals, options.cones);
    if (impulse > 0) legend.push({ label: "longest impulse arrow", value: impulse, unit: "N s" });
    this.cones.draw(input, options.cones);
    const force = this.forces.draw(input, options.forces);
    if (force > 0) legend.push({ label: "longest force arrow", value: force, unit: "N" });
    const time = drawVelocities(this.velocities, input, options.velocities);
    if (options.velocities && time > 0) legend.push({ label: "velocity arrow: distance in", value: time, unit: "s" });
    this.boxes.draw(input, options.bounds);
    this.joints.draw(input, options.joints);
    this.trail.draw(input, options.trail ? input.trail : null);
    this.drawSelected(input, selection);
    return legend;
  }

  /** Draws a ring around the selected contact point, whether or not the points are drawn. */
  private drawSelected(input: OverlayInput, selection: Selection | null): void {
    this.selected.begin(1);
    const found = selection?.kind === "contact" ? findContact(input.frame, selection) : null;
    if (found) {
      const [x, y, z] = input.frame.pointPosition.subarray(3 * found.point, 3 * found.point + 3);
      this.selected.add(x, y, z, 2.6 * DOT * widthOf(input, found.pair), OVERLAY_COLORS.selected);
    }
    this.selected.end();
  }
}
