// The bodies, drawn by instancing: one draw call for all bodies that share a geometry.

import {
  type BufferGeometry,
  Color,
  FrontSide,
  Group,
  type InstancedMesh,
  LineBasicMaterial,
  type Material,
  MeshLambertMaterial,
  MeshStandardMaterial,
} from "three";
import type { Body, Frame, Vec3 } from "../protocol";
import { type Size, sizeOf } from "./bounds";
import { growCapacity, InstancedLines, newInstances } from "./instances";
import type { Palette } from "./palette";
import { bodyColor, type ColorOptions } from "./body-color";
import { newPose, shapePose, writeMatrix } from "./pose";
import { buildEdges, buildGeometry, buildIndexed, geometryKey, isRound, scaleOf, segmentsFor } from "./shapes";

/** Maximum number of bodies with edges, which show their orientation. */
const EDGES_UP_TO = 500;
/** Number of bodies above which a simpler and faster lighting model is used. */
const PLAIN_ABOVE = 1500;

/** The instances of one geometry. */
interface Batch {
  geometry: BufferGeometry;
  edgeGeometry: BufferGeometry | null;
  round: boolean;
  mesh: InstancedMesh;
  edges: InstancedLines | null;
  /** Indices of its bodies; and of those in the frame, by instance slot. */
  members: number[];
  shown: Int32Array;
}

interface Materials {
  plain: Material;
  striped: Material;
  edge: LineBasicMaterial;
}

function newMaterials(count: number): Materials {
  const edge = new LineBasicMaterial({ transparent: true, depthWrite: false });
  // Offset surfaces backwards, so that the edges on them are not interrupted.
  // Cast shadows from the faces towards the sun: from the far faces, light would leak in along edges.
  const back = { polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 1, shadowSide: FrontSide };
  if (count > PLAIN_ABOVE) {
    return {
      plain: new MeshLambertMaterial({ ...back, flatShading: true }),
      striped: new MeshLambertMaterial({ ...back, vertexColors: true }),
      edge,
    };
  }
  const surface = { ...back, roughness: 0.55, metalness: 0.05 };
  return {
    plain: new MeshStandardMaterial(surface),
    striped: new MeshStandardMaterial({ ...surface, vertexColors: true }),
    edge,
  };
}

export class Bodies {
  readonly root = new Group();
  /** Dimensions of every body, by its index. */
  sizes: Size[] = [];
  /** Row of every body in the frame, or -1. */
  rows = new Int32Array(0);

  private list: readonly Body[] = [];
  private scales: Vec3[] = [];
  private excluded: ReadonlySet<number> = new Set();
  private batches = new Map<string, Batch>();
  private materials = newMaterials(0);
  /** Instance slot of each body, or -1. */
  private slots = new Int32Array(0);
  private batchOf: (Batch | null)[] = [];
  private readonly pose = newPose();
  private readonly color = new Color();

  /** Sets the list of bodies. The `excluded` ones are not drawn here. */
  set(list: readonly Body[], excluded: ReadonlySet<number>): void {
    const previous = this.list.length;
    const grown =
      excluded === this.excluded &&
      previous <= list.length &&
      (previous === 0 || (list[0] === this.list[0] && list[previous - 1] === this.list[previous - 1])) &&
      segmentsFor(previous) === segmentsFor(list.length) &&
      previous <= EDGES_UP_TO === list.length <= EDGES_UP_TO &&
      previous <= PLAIN_ABOVE === list.length <= PLAIN_ABOVE;
    if (!grown) this.clear(list.length);
    this.list = list;
    this.excluded = excluded;
    for (let bodyIndex = this.batchOf.length; bodyIndex < list.length; bodyIndex++) this.add(bodyIndex);
    for (const batch of this.batches.values()) this.fit(batch);
    this.rows = new Int32Array(list.length).fill(-1);
    this.slots = new Int32Array(list.length).fill(-1);
  }

  private clear(count: number): void {
    for (const batch of this.batches.values()) {
      this.root.remove(batch.mesh);
      if (batch.edges) this.root.remove(batch.edges);
      batch.mesh.dispose();
      batch.geometry.dispose();
      batch.edgeGeometry?.dispose();
    }
    this.batches.clear();
    this.batchOf = [];
    this.sizes = [];
    this.scales = [];
    for (const material of Object.values(this.materials) as Material[]) material.dispose();
    this.materials = newMaterials(count);
  }

  private add(bodyIndex: number): void {
    const { shape } = this.list[bodyIndex];
    this.sizes.push(sizeOf(shape));
    this.scales.push(scaleOf(shape));
    const key = this.excluded.has(bodyIndex) ? null : geometryKey(shape);
    if (key === null) {
      this.batchOf.push(null);
      return;
    }
    let batch = this.batches.get(key);
    if (!batch) {
      const shared = this.list.length > PLAIN_ABOVE ? buildIndexed(shape) : null;
      const geometry = shared ?? buildGeometry(shape, segmentsFor(this.list.length));
      const round = isRound(shape);
      batch = {
        geometry,
        round,
        edgeGeometry: this.list.length <= EDGES_UP_TO ? buildEdges(shape, geometry) : null,
        mesh: newInstances(geometry, round ? this.materials.striped : this.materials.plain, 0),
        edges: null,
        members: [],
        shown: new Int32Array(0),
      };
      this.batches.set(key, batch);
    }
    batch.members.push(bodyIndex);
    this.batchOf.push(batch);
  }

  /** Grows the instance buffers of a batch if needed. */
  private fit(batch: Batch): void {
    const capacity = growCapacity(batch.members.length, batch.shown.length);
    if (capacity === batch.shown.length) return;
    const { mesh: old } = batch;
    this.root.remove(old);
    if (batch.edges) this.root.remove(batch.edges);
    batch.mesh = newInstances(batch.geometry, old.material as Material, capacity);
    batch.mesh.castShadow = old.castShadow;
    batch.mesh.receiveShadow = true;
    old.dispose();
    batch.shown = new Int32Array(capacity);
    this.root.add(batch.mesh);
    if (!batch.edgeGeometry) return;
    batch.edges = new InstancedLines(batch.edgeGeometry, this.materials.edge, batch.mesh.instanceMatrix);
    batch.edges.renderOrder = 1;
    this.root.add(batch.edges);
  }

  setPalette(palette: Palette): void {
    this.materials.edge.color.copy(palette.edge);
    this.materials.edge.opacity = palette.edgeOpacity;
  }

  setShadows(on: boolean): void {
    for (const { mesh } of this.batches.values()) mesh.castShadow = on;
  }

  /** Moves all bodies to their poses in a frame, or hides them all. */
  move(frame: Frame | null): void {
    const { rows, slots, list } = this;
    rows.fill(-1);
    slots.fill(-1);
    if (frame) {
      for (let row = 0; row < frame.bodyCount; row++) {
        const bodyIndex = frame.body[row];
        if (bodyIndex < list.length) rows[bodyIndex] = row;
      }
    }
    for (const batch of this.batches.values()) {
      const matrices = batch.mesh.instanceMatrix;
      const out = matrices.array as Float32Array;
      let slot = 0;
      for (const bodyIndex of batch.members) {
        const row = rows[bodyIndex];
        if (row < 0) continue;
        shapePose(frame!, row, list[bodyIndex], this.pose);
        const scale = this.scales[bodyIndex];
        writeMatrix(this.pose, scale[0], scale[1], scale[2], out, 16 * slot);
        batch.shown[slot] = bodyIndex;
        slots[bodyIndex] = slot++;
      }
      batch.mesh.count = slot;
      batch.mesh.visible = slot > 0;
      if (batch.edges) {
        batch.edges.count = slot;
        batch.edges.visible = slot > 0;
      }
      // Recomputed when a ray is cast.
      batch.mesh.boundingSphere = null;
      matrices.clearUpdateRanges();
      matrices.addUpdateRange(0, 16 * slot);
      matrices.needsUpdate = true;
    }
  }

  paint(options: ColorOptions, frame: Frame): void {
    for (const { mesh, shown } of this.batches.values()) {
      const colors = mesh.instanceColor!;
      const out = colors.array as Float32Array;
      for (let slot = 0; slot < mesh.count; slot++) {
        const bodyIndex = shown[slot];
        bodyColor(options, frame, this.rows[bodyIndex], bodyIndex, this.list[bodyIndex], this.sizes[bodyIndex], this.color);
        out[3 * slot] = this.color.r;
        out[3 * slot + 1] = this.color.g;
        out[3 * slot + 2] = this.color.b;
      }
      colors.clearUpdateRanges();
      colors.addUpdateRange(0, 3 * mesh.count);
      colors.needsUpdate = true;
    }
  }

  /** Returns the meshes for ray casts. */
  meshes(): InstancedMesh[] {
    return [...this.batches.values()].filter(({ mesh }) => mesh.visible).map(({ mesh }) => mesh);
  }

  /** Returns the body that an instance shows. */
  bodyAt(mesh: unknown, slot: number): number {
    for (const batch of this.batches.values()) if (batch.mesh === mesh) return batch.shown[slot];
    return -1;
  }

  /** Returns the instance that shows a body. */
  instanceFor(bodyIndex: number): { geometry: BufferGeometry; matrices: Float32Array; slot: number } | null {
    const batch = this.batchOf[bodyIndex];
    const slot = this.slots[bodyIndex] ?? -1;
    if (!batch || slot < 0) return null;
    const matrices = batch.mesh.instanceMatrix.array as Float32Array;
    return { geometry: batch.geometry, matrices, slot };
  }
}
