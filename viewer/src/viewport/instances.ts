// Many copies of one geometry, drawn in one go.

import {
  type BufferGeometry,
  DynamicDrawUsage,
  InstancedBufferAttribute,
  InstancedMesh,
  type LineBasicMaterial,
  LineSegments,
  type Material,
} from "three";

/** An instanced mesh with colours, whose copies are written straight into its lists. */
export function newInstances(
  geometry: BufferGeometry,
  material: Material,
  capacity: number,
  coloured = true,
): InstancedMesh {
  const mesh = new InstancedMesh(geometry, material, capacity);
  mesh.instanceMatrix.setUsage(DynamicDrawUsage);
  if (coloured) {
    mesh.instanceColor = new InstancedBufferAttribute(new Float32Array(3 * capacity), 3);
    mesh.instanceColor.setUsage(DynamicDrawUsage);
  }
  mesh.count = 0;
  // The copies move; a bound around all of them would have to be found anew for every picture.
  mesh.frustumCulled = false;
  mesh.matrixAutoUpdate = false;
  return mesh;
}

/** Line segments that are drawn once for every copy. The renderer asks for `isInstancedMesh` and these fields,
 * whatever the object is; the lists can be those of a mesh. */
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

/** Twice the room, or what is needed. */
export function growCapacity(needed: number, capacity: number): number {
  return needed <= capacity ? capacity : Math.max(needed, 2 * capacity, 16);
}
