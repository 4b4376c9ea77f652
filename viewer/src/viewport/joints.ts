// The joints: a dot at each anchor, and a line from anchor to anchor where they are apart.

import type { Frame, Vec3 } from "../protocol";
import { Dots } from "./dots";
import { WideLines } from "./lines";
import type { OverlayInput } from "./overlays";
import { OVERLAY_COLORS } from "./palette";
import { bodyPose, newPose } from "./pose";

/** Radius of an anchor's dot, relative to the bodies' median edge. */
const DOT = 0.06;
/** Distance above which the anchors of a ball joint are apart, relative to the bodies' median edge. */
const APART = 0.02;

const pose = newPose();

/** Computes the position of an anchor in the axes of the frame. */
export function anchorPosition(frame: Frame, row: number, anchor: Vec3, out: Float64Array): void {
  bodyPose(frame, row, pose);
  for (let axis = 0; axis < 3; axis++) {
    out[axis] = pose[9 + axis] + pose[axis] * anchor[0] + pose[3 + axis] * anchor[1] + pose[6 + axis] * anchor[2];
  }
}

export class Joints {
  readonly lines = new WideLines(2.5);
  readonly anchors = new Dots();
  private readonly onA = new Float64Array(3);
  private readonly onB = new Float64Array(3);

  constructor() {
    this.lines.setColor(OVERLAY_COLORS.joint);
  }

  draw({ frame, joints, rows, scale }: OverlayInput, on: boolean): void {
    const list = on ? joints : [];
    this.lines.begin(list.length);
    this.anchors.begin(2 * list.length);
    const { onA: p, onB: q } = this;
    for (const { kind, a, b, anchor_a, anchor_b } of list) {
      const [from, to] = [rows[a] ?? -1, rows[b] ?? -1];
      if (from < 0 || to < 0) continue;
      anchorPosition(frame, from, anchor_a, p);
      anchorPosition(frame, to, anchor_b, q);
      this.anchors.add(p[0], p[1], p[2], DOT * scale.edge, OVERLAY_COLORS.joint);
      this.anchors.add(q[0], q[1], q[2], DOT * scale.edge, OVERLAY_COLORS.joint);
      const gap = Math.hypot(q[0] - p[0], q[1] - p[1], q[2] - p[2]);
      if (kind !== "ball joint" || gap > APART * scale.edge) this.lines.add(p[0], p[1], p[2], q[0], q[1], q[2]);
    }
    this.lines.end();
    this.anchors.end();
  }
}
