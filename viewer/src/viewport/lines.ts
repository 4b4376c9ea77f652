// Lines several pixels wide; WebGL lines are one pixel wide.

import type { Color } from "three";
import { LineMaterial } from "three/addons/lines/LineMaterial.js";
import { LineSegments2 } from "three/addons/lines/LineSegments2.js";
import { LineSegmentsGeometry } from "three/addons/lines/LineSegmentsGeometry.js";
import { growCapacity } from "./instances";

export class WideLines {
  readonly object: LineSegments2;
  private capacity = 0;
  private count = 0;

  constructor(pixels: number) {
    // Visible through bodies, since these lines are annotations.
    const material = new LineMaterial({ linewidth: pixels, depthTest: false, transparent: true });
    this.object = new LineSegments2(new LineSegmentsGeometry(), material);
    this.object.frustumCulled = false;
    this.object.renderOrder = 8;
    this.object.visible = false;
    this.object.raycast = () => {};
  }

  setColor(color: Color): void {
    this.object.material.color.copy(color);
  }

  begin(max: number): void {
    this.count = 0;
    const capacity = growCapacity(max, this.capacity);
    if (capacity === this.capacity) return;
    this.capacity = capacity;
    this.object.geometry.dispose();
    this.object.geometry = new LineSegmentsGeometry();
    this.object.geometry.setPositions(new Float32Array(6 * capacity));
  }

  add(ax: number, ay: number, az: number, bx: number, by: number, bz: number): void {
    const { array } = this.object.geometry.getAttribute("instanceStart");
    array[6 * this.count] = ax;
    array[6 * this.count + 1] = ay;
    array[6 * this.count + 2] = az;
    array[6 * this.count + 3] = bx;
    array[6 * this.count + 4] = by;
    array[6 * this.count + 5] = bz;
    this.count++;
  }

  end(): void {
    this.object.visible = this.count > 0;
    if (this.count === 0) return;
    this.object.geometry.instanceCount = this.count;
    const start = this.object.geometry.getAttribute("instanceStart");
    if ("data" in start) start.data.needsUpdate = true;
  }
}
