// Many instances of one geometry, drawn in one call.

import {
  type BufferGeometry,
  DynamicDrawUsage,
  InstancedBufferAttribute,
  InstancedMesh,
  type LineBasicMaterial,
  LineSegments,
  type Material,
} from "three";

/** Creates an instanced mesh with colors, whose buffers are written directly. */
export function newInstances(
  geometry: BufferGeometry,
  material: Material,
  capacity: number,
  colored = true,
): InstancedMesh {
  const mesh = new InstancedMesh(geometry, material, capacity);
  mesh.instanceMatrix.setUsage(DynamicDrawUsage);
  if (colored) {
    mesh.instanceColor = new InstancedBufferAttribute(new Float32Array(3 * capacity), 3);
    mesh.instanceColor.setUsage(DynamicDrawUsage);
  }
  mesh.count = 0;
  // The instances move: their common bounds would have to be recomputed for every rendered frame.
  mesh.frustumCulled = false;
  mesh.matrixAutoUpdate = false;
  return mesh;
}

/** Line segments drawn once per instance. The renderer checks only `isInstancedMesh` and these fields, whatever the
 * object's class; the buffers can be shared with a mesh. */
export class InstancedLines extends LineSegments<BufferGeometry, LineBasicMaterial> {
  readonly isInstancedMesh = true;
  readonly morphTexture = null;
  override count = 0;

  constructor(
    geometry: BufferGeometry,
    material: LineBasicMaterial,
    public instanceMatrix: InstancedBufferAttribute,
    public instanceColor: InstancedBufferAttribute | null = null,
  ) {
    super(geometry, material);
    this.frustumCulled = false;
    this.matrixAutoUpdate = false;
    this.raycast = () => {};
  }
}

/** Returns the capacity, at least doubled if it is too small. */
export function growCapacity(needed: number, capacity: number): number {
  return needed <= capacity ? capacity : Math.max(needed, 2 * capacity, 16);
}
