// The colliders of all bodies, drawn by instancing: one draw call for all that share a geometry.

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
import type { Body, Collider, Frame, Vec3 } from "../protocol";
import { type Size, sizeOfBody } from "./bounds";
import { growCapacity, InstancedLines, newInstances } from "./instances";
import type { Palette } from "./palette";
import { bodyColor, type ColorOptions } from "./body-color";
import { newPose, shapePose, writeMatrix } from "./pose";
import { buildEdges, buildGeometry, buildIndexed, geometryKey, isRound, scaleOf, segmentsFor } from "./shapes";

/** Maximum number of colliders with edges, which show their orientation. */
const EDGES_UP_TO = 500;
/** Number of colliders above which a simpler and faster lighting model is used. */
const PLAIN_ABOVE = 1500;

/** Parts of the accent color in the selected collider or body, and in the other colliders of its body. */
const ACCENT = 0.6;
const ACCENT_OF_OTHERS = 0.2;
/** Opacity of sensors. */
const SENSOR_OPACITY = 0.22;

/** A drawn collider of a body. */
export interface Part {
  body: number;
  collider: Collider;
  scale: Vec3;
}

/** The instances of one geometry. */
interface Batch {
  geometry: BufferGeometry;
  edgeGeometry: BufferGeometry | null;
  round: boolean;
  mesh: InstancedMesh;
  edges: InstancedLines | null;
  sensor: boolean;
  /** The colliders; and the indices among them of those in the frame, by instance slot. */
  members: Part[];
  shown: Int32Array;
}

interface Materials {
  plain: Material;
  striped: Material;
  sensor: Material;
  edge: LineBasicMaterial;
}

function newMaterials(count: number): Materials {
  const edge = new LineBasicMaterial({ transparent: true, depthWrite: false });
  // Offset surfaces backwards, so that the edges on them are not interrupted.
  // Cast shadows from the faces towards the sun: from the far faces, light would leak in along edges.
  const back = { polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 1, shadowSide: FrontSide };
  // Drawn after everything solid, and hides nothing.
  const sensor = new MeshLambertMaterial({ transparent: true, opacity: SENSOR_OPACITY, depthWrite: false });
  if (count > PLAIN_ABOVE) {
    return {
      plain: new MeshLambertMaterial({ ...back, flatShading: true }),
      striped: new MeshLambertMaterial({ ...back, vertexColors: true }),
      sensor,
      edge,
    };
  }
  const surface = { ...back, roughness: 0.55, metalness: 0.05 };
  return {
    plain: new MeshStandardMaterial(surface),
    striped: new MeshStandardMaterial({ ...surface, vertexColors: true }),
    sensor,
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
  private excluded: ReadonlySet<Collider> = new Set();
  /** Number of colliders of all bodies. */
  private count = 0;
  private batches = new Map<string, Batch>();
  private materials = newMaterials(0);
  private readonly pose = newPose();
  private readonly color = new Color();

  /** Sets the list of bodies. The `excluded` ones are not drawn here. */
  set(list: readonly Body[], excluded: ReadonlySet<Collider>): void {
    const [previous, before] = [this.list.length, this.count];
    const count = list.reduce((sum, { colliders }) => sum + colliders.length, 0);
    const grown =
      excluded === this.excluded &&
      previous <= list.length &&
      (previous === 0 || (list[0] === this.list[0] && list[previous - 1] === this.list[previous - 1])) &&
      segmentsFor(before) === segmentsFor(count) &&
      before <= EDGES_UP_TO === count <= EDGES_UP_TO &&
      before <= PLAIN_ABOVE === count <= PLAIN_ABOVE;
    if (!grown) this.clear(count);
    this.list = list;
    this.count = count;
    this.excluded = excluded;
    for (let bodyIndex = this.sizes.length; bodyIndex < list.length; bodyIndex++) this.add(bodyIndex);
    for (const batch of this.batches.values()) this.fit(batch);
    this.rows = new Int32Array(list.length).fill(-1);
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
    this.sizes = [];
    for (const material of Object.values(this.materials) as Material[]) material.dispose();
    this.materials = newMaterials(count);
  }

  private add(bodyIndex: number): void {
    const body = this.list[bodyIndex];
    this.sizes.push(sizeOfBody(body));
    for (const collider of body.colliders) this.addPart(bodyIndex, collider);
  }

  private addPart(bodyIndex: number, collider: Collider): void {
    const { shape, sensor } = collider;
    const geometryOf = collider.enabled && !this.excluded.has(collider) ? geometryKey(shape) : null;
    if (geometryOf === null) return;
    const key = sensor ? `sensor ${geometryOf}` : geometryOf;
    let batch = this.batches.get(key);
    if (!batch) {
      const shared = this.count > PLAIN_ABOVE && !sensor ? buildIndexed(shape) : null;
      const geometry = shared ?? buildGeometry(shape, segmentsFor(this.count));
      const round = isRound(shape);
      const { plain, striped } = this.materials;
      const material = sensor ? this.materials.sensor : round ? striped : plain;
      batch = {
        geometry,
        round,
        sensor,
        edgeGeometry: this.count <= EDGES_UP_TO ? buildEdges(shape, geometry) : null,
        mesh: newInstances(geometry, material, 0),
        edges: null,
        members: [],
        shown: new Int32Array(0),
      };
      this.batches.set(key, batch);
    }
    batch.members.push({ body: bodyIndex, collider, scale: scaleOf(shape) });
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
    batch.mesh.receiveShadow = !batch.sensor;
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
    for (const { mesh, sensor } of this.batches.values()) mesh.castShadow = on && !sensor;
  }

  /** Moves all bodies to their poses in a frame, or hides them all. */
  move(frame: Frame | null): void {
    const { rows, list } = this;
    rows.fill(-1);
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
      for (let index = 0; index < batch.members.length; index++) {
        const { body, collider, scale } = batch.members[index];
        const row = rows[body];
        if (row < 0) continue;
        shapePose(frame!, row, collider, this.pose);
        writeMatrix(this.pose, scale[0], scale[1], scale[2], out, 16 * slot);
        batch.shown[slot++] = index;
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
    for (const { mesh, members, shown } of this.batches.values()) {
      const colors = mesh.instanceColor!;
      const out = colors.array as Float32Array;
      for (let slot = 0; slot < mesh.count; slot++) {
        const { body, collider } = members[shown[slot]];
        bodyColor(options, frame, this.rows[body], body, this.list[body], this.sizes[body], this.color);
        if (options.selected === body) {
          const part = options.selectedCollider === null || options.selectedCollider === collider;
          this.color.lerp(options.palette.accent, part ? ACCENT : ACCENT_OF_OTHERS);
        }
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

  /** Returns the collider that an instance shows. */
  partAt(mesh: unknown, slot: number): Part | null {
    for (const batch of this.batches.values()) if (batch.mesh === mesh) return batch.members[batch.shown[slot]];
    return null;
  }

  /** Returns the instances that show a body. */
  instancesOf(bodyIndex: number): { geometry: BufferGeometry; matrices: Float32Array; slot: number; collider: Collider }[] {
    const found = [];
    for (const { mesh, geometry, members, shown } of this.batches.values()) {
      const matrices = mesh.instanceMatrix.array as Float32Array;
      for (let slot = 0; slot < mesh.count; slot++) {
        const { body, collider } = members[shown[slot]];
        if (body === bodyIndex) found.push({ geometry, matrices, slot, collider });
      }
    }
    return found;
  }
}
