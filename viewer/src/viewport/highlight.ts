// The highlight of the selected body or collider: a rim around it and the edges of its oriented box.

import {
  BackSide,
  type BufferGeometry,
  Group,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
} from "three";
import type { Body, Collider, Frame } from "../protocol";
import { boxOfParts, localBox, partsOf } from "./bounds";
import { WideLines } from "./lines";
import type { Palette } from "./palette";
import { bodyPose, newPose, shapePose, writeMatrix } from "./pose";
import { scaleOf } from "./shapes";

/** Width of the rim, relative to the shape's smallest width. */
const RIM_RATIO = 0.035;
/** Size of the drawn box, relative to the shape's. */
const BOX_SCALE = 1.06;

export class Highlight {
  readonly root = new Group();
  private readonly rims: Mesh<BufferGeometry, MeshBasicMaterial>[] = [];
  private readonly rimMaterial = new MeshBasicMaterial({ side: BackSide });
  private readonly box = new WideLines(2);
  private readonly pose = newPose();
  private readonly scratch = new Matrix4();

  constructor() {
    const box = this.box.object;
    box.matrixAutoUpdate = false;
    this.root.add(box);
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
    this.rimMaterial.color.copy(palette.accent);
    this.box.setColor(palette.accent);
  }

  /** Moves the highlight to a body, or to one of its colliders. `instances` are those of the body. */
  draw(
    frame: Frame | null,
    row: number,
    body: Body | null,
    only: Collider | null,
    instances: readonly { collider: Collider; geometry: BufferGeometry }[],
  ): void {
    const parts = only ? [only] : body ? partsOf(body) : [];
    const visible = frame !== null && row >= 0 && parts.length > 0 && parts.every(({ shape }) => shape.type !== "half_space");
    this.root.visible = visible;
    if (!visible) return;
    // The box of one shape has its axes, that of several those of the body.
    if (parts.length === 1) shapePose(frame, row, parts[0], this.pose);
    else bodyPose(frame, row, this.pose);
    const box = parts.length === 1 ? localBox(parts[0].shape) : boxOfParts(parts);
    const width = [0, 1, 2].map((axis) => box[3 + axis] - box[axis]);
    const middle = [0, 1, 2].map((axis) => (box[3 + axis] + box[axis]) / 2);
    const { matrix } = this.box.object;
    writeMatrix(this.pose, 1, 1, 1, matrix.elements, 0);
    matrix.multiply(this.scratch.makeTranslation(middle[0], middle[1], middle[2]));
    matrix.multiply(this.scratch.makeScale(BOX_SCALE * width[0], BOX_SCALE * width[1], BOX_SCALE * width[2]));
    this.box.object.matrixWorldNeedsUpdate = true;
    const drawn = instances.filter(({ collider }) => parts.includes(collider));
    drawn.forEach(({ collider, geometry }, index) => this.drawRim(index, frame, row, collider, geometry));
    this.rims.forEach((rim, index) => (rim.visible = index < drawn.length));
  }

  private drawRim(index: number, frame: Frame, row: number, collider: Collider, geometry: BufferGeometry): void {
    const rim = (this.rims[index] ??= this.newRim());
    rim.geometry = geometry;
    shapePose(frame, row, collider, this.pose);
    const box = localBox(collider.shape);
    const width = [0, 1, 2].map((axis) => box[3 + axis] - box[axis]);
    const middle = [0, 1, 2].map((axis) => (box[3 + axis] + box[axis]) / 2);
    const thickness = RIM_RATIO * Math.min(...width);
    const grown = width.map((size) => 1 + (2 * thickness) / size);
    // Grow about the middle, then apply the shape's scale.
    writeMatrix(this.pose, 1, 1, 1, rim.matrix.elements, 0);
    rim.matrix.multiply(
      this.scratch.makeTranslation(
        middle[0] * (1 - grown[0]),
        middle[1] * (1 - grown[1]),
        middle[2] * (1 - grown[2]),
      ),
    );
    const [sx, sy, sz] = scaleOf(collider.shape).map((factor, axis) => factor * grown[axis]);
    rim.matrix.multiply(this.scratch.makeScale(sx, sy, sz));
    rim.matrixWorldNeedsUpdate = true;
  }

  private newRim(): Mesh<BufferGeometry, MeshBasicMaterial> {
    const rim = new Mesh<BufferGeometry, MeshBasicMaterial>(undefined, this.rimMaterial);
    rim.matrixAutoUpdate = rim.frustumCulled = false;
    this.root.add(rim);
    return rim;
  }
}
