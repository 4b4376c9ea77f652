// The forces: weights, contact forces and the forces of joints, as arrows of one scale.

import { Group } from "three";
import { Arrows } from "./arrows";
import { anchorPosition } from "./joints";
import type { OverlayInput } from "./overlays";
import { OVERLAY_COLORS } from "./palette";

/** Returns the length of a vector of a list. */
function length(list: Float64Array, row: number): number {
  return Math.hypot(list[3 * row], list[3 * row + 1], list[3 * row + 2]);
}

/** The weight and the contact force of each body, drawn at its center of mass, and the force of each joint, drawn at the
 * anchor of its second body, or of the first if the second is of the environment. */
export class Forces {
  readonly root = new Group();
  private readonly arrows = new Arrows();
  /** On top of the joints' lines, along which most of their forces point. */
  private readonly jointArrows = new Arrows(true);
  private sums = new Float64Array(0);
  private readonly anchor = new Float64Array(3);

  constructor() {
    this.root.add(this.arrows.root, this.jointArrows.root);
  }

  /** Draws the arrows and returns the largest force, N. */
  draw(input: OverlayInput, on: boolean): number {
    const { arrows } = this;
    const { frame, scale, bodies } = input;
    const { gravity } = frame;
    const count = on ? frame.bodyCount : 0;
    const jointCount = on ? frame.jointCount : 0;
    arrows.begin(2 * count, scale.arrow);
    this.jointArrows.begin(jointCount, scale.arrow);
    if (on) this.sum(input);
    const weight = Math.hypot(...gravity);
    let largest = 0;
    for (let row = 0; row < count; row++) {
      const body = bodies[frame.body[row]];
      if (body?.kind !== "inertial") continue;
      const force = length(this.sums, row);
      largest = Math.max(largest, force, body.mass * Math.abs(body.gravity_scale) * weight);
    }
    for (let row = 0; row < jointCount; row++) {
      largest = Math.max(largest, length(frame.jointImpulse, row) / frame.dt);
    }
    const factor = largest > 0 && largest < Infinity ? scale.arrow / largest : 0;
    for (let row = 0; row < count && factor > 0; row++) {
      const body = bodies[frame.body[row]];
      if (body?.kind !== "inertial") continue;
      const x = frame.position[3 * row];
      const y = frame.position[3 * row + 1];
      const z = frame.position[3 * row + 2];
      const f = factor * body.mass * body.gravity_scale;
      arrows.add(x, y, z, f * gravity[0], f * gravity[1], f * gravity[2], OVERLAY_COLORS.weight);
      const fx = factor * this.sums[3 * row];
      const fy = factor * this.sums[3 * row + 1];
      const fz = factor * this.sums[3 * row + 2];
      arrows.add(x, y, z, fx, fy, fz, OVERLAY_COLORS.contactForce);
    }
    if (factor > 0) for (let row = 0; row < jointCount; row++) this.addJoint(input, row, factor / frame.dt);
    arrows.end();
    this.jointArrows.end();
    return largest;
  }

  private addJoint({ frame, joints, bodies, rows }: OverlayInput, row: number, factor: number): void {
    const joint = joints[frame.joint[row]];
    if (!joint) return;
    const onB = bodies[joint.b]?.kind === "inertial";
    const bodyRow = rows[onB ? joint.b : joint.a] ?? -1;
    if (bodyRow < 0) return;
    anchorPosition(frame, bodyRow, onB ? joint.anchor_b : joint.anchor_a, this.anchor);
    const [x, y, z] = this.anchor;
    const k = 3 * row;
    const f = onB ? factor : -factor;
    const { jointImpulse: impulse } = frame;
    this.jointArrows.add(x, y, z, f * impulse[k], f * impulse[k + 1], f * impulse[k + 2], OVERLAY_COLORS.jointForce);
  }

  private sum({ frame, rows }: OverlayInput): void {
    if (this.sums.length < 3 * frame.bodyCount) this.sums = new Float64Array(3 * frame.bodyCount);
    this.sums.fill(0);
    for (let pair = 0; pair < frame.pairCount; pair++) {
      const a = rows[frame.pairA[pair]] ?? -1;
      const b = rows[frame.pairB[pair]] ?? -1;
      for (let axis = 0; axis < 3; axis++) {
        const force = frame.pairImpulse[3 * pair + axis] / frame.dt;
        if (a >= 0) this.sums[3 * a + axis] -= force;
        if (b >= 0) this.sums[3 * b + axis] += force;
      }
    }
  }
}
