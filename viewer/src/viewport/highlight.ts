// The highlight of the selected body: a rim around it and the edges of its oriented box.

import {
  BackSide,
  type BufferGeometry,
  Group,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
} from "three";
import type { Body, Frame } from "../protocol";
import { localBox } from "./bounds";
import { WideLines } from "./lines";
import type { Palette } from "./palette";
import { newPose, shapePose, writeMatrix } from "./pose";
import { scaleOf } from "./shapes";

/** Width of the rim, relative to the shape's smallest width. */
const RIM_RATIO = 0.035;
/** Size of the drawn box, relative to the shape's. */
const BOX_SCALE = 1.06;

export class Highlight {
  readonly root = new Group();
  private readonly rim = new Mesh<BufferGeometry, MeshBasicMaterial>(
    undefined,
    new MeshBasicMaterial({ side: BackSide }),
  );
  private readonly box = new WideLines(2);
  private readonly pose = newPose();
  private readonly scratch = new Matrix4();

  constructor() {
    const box = this.box.object;
    box.matrixAutoUpdate = this.rim.matrixAutoUpdate = false;
    this.rim.frustumCulled = false;
    this.root.add(this.rim, box);
    this.box.begin(12);
    // The twelve edges of the unit cube: along each axis, at the four corners of the other two.
    for (let axis = 0; axis < 3; axis++) {
      for (const [u, v] of [[-0.5, -0.5], [-0.5, 0.5], [0.5, -0.5], [0.5, 0.5]]) {
        const from = [u, u, u];
        from[(axis + 2) % 3] = v;
        from[axis] = -0.5;
        const to = [...from];
        to[axis] = 0.5;
        this.box.add(from[0], from[1], from[2], to[0], to[1], to[2]);
      }
    }
    this.box.end();
  }

  setPalette(palette: Palette): void {
    this.rim.material.color.copy(palette.accent);
    this.box.setColor(palette.accent);
  }

  /** Moves the highlight to a body. `geometry` is that of the body's instances, if it is drawn as an instance. */
  draw(frame: Frame | null, row: number, body: Body | null, geometry: BufferGeometry | null): void {
    const visible = frame !== null && body !== null && row >= 0 && body.shape.type !== "half_space";
    this.root.visible = visible;
    if (!visible) return;
    shapePose(frame, row, body, this.pose);
    const box = localBox(body.shape);
    const width = [0, 1, 2].map((axis) => box[3 + axis] - box[axis]);
    const middle = [0, 1, 2].map((axis) => (box[3 + axis] + box[axis]) / 2);
    writeMatrix(this.pose, 1, 1, 1, this.box.object.matrix.elements, 0);
    this.box.object.matrix.multiply(this.scratch.makeTranslation(middle[0], middle[1], middle[2]));
    this.box.object.matrix.multiply(this.scratch.makeScale(BOX_SCALE * width[0], BOX_SCALE * width[1], BOX_SCALE * width[2]));
    this.box.object.matrixWorldNeedsUpdate = true;
    this.rim.visible = geometry !== null;
    if (!geometry) return;
    this.rim.geometry = geometry;
    const rim = RIM_RATIO * Math.min(...width);
    const grown = width.map((size) => 1 + (2 * rim) / size);
    const scale = scaleOf(body.shape);
    // Grow about the middle, then apply the body's scale.
    writeMatrix(this.pose, 1, 1, 1, this.rim.matrix.elements, 0);
    this.rim.matrix.multiply(
      this.scratch.makeTranslation(
        middle[0] * (1 - grown[0]),
        middle[1] * (1 - grown[1]),
        middle[2] * (1 - grown[2]),
      ),
    );
    const [sx, sy, sz] = scale.map((factor, axis) => factor * grown[axis]);
    this.rim.matrix.multiply(this.scratch.makeScale(sx, sy, sz));
    this.rim.matrixWorldNeedsUpdate = true;
  }
}
