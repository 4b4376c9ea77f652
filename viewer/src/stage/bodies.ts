// The bodies, by instancing: one drawing command for all that share a form.

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
import { InstancedLines, newInstances, roomFor } from "./instances";
import type { Look } from "./palette";
import { type Paint, paint } from "./painter";
import { newPose, shapePose, writeMatrix } from "./pose";
import { buildEdges, buildGeometry, buildShared, cornersFor, formOf, isRound, scaleOf } from "./shapes";

/** Up to so many bodies their edges are drawn, which shows how they are turned. */
const EDGES_UP_TO = 500;
/** Above so many bodies a plainer and quicker way of lighting is used. */
const PLAIN_ABOVE = 1500;

/** The copies of one form. */
interface Batch {
  geometry: BufferGeometry;
  edgeGeometry: BufferGeometry | null;
  round: boolean;
  mesh: InstancedMesh;
  edges: InstancedLines | null;
  /** Numbers of its bodies; and of those in the frame, by their place among the copies. */
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
  // Surfaces a little back, so that the edges on them are not broken.
  // Shadows by the sides towards the sun: by the far sides, light would leak in along edges.
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
  /** Lengths of every body, by its number. */
  sizes: Size[] = [];
  /** Where every body stands in the frame's lists, or -1. */
  places = new Int32Array(0);

  private list: readonly Body[] = [];
  private scales: Vec3[] = [];
  private without: ReadonlySet<number> = new Set();
  private batches = new Map<string, Batch>();
  private materials = newMaterials(0);
  /** Place of each body among its form's copies, or -1. */
  private slots = new Int32Array(0);
  private batchOf: (Batch | null)[] = [];
  private readonly pose = newPose();
  private readonly colour = new Color();

  /** The bodies that there are. Those `without` are drawn by someone else. */
  set(list: readonly Body[], without: ReadonlySet<number>): void {
    const known = this.list.length;
    const grown =
      without === this.without &&
      known <= list.length &&
      (known === 0 || (list[0] === this.list[0] && list[known - 1] === this.list[known - 1])) &&
      cornersFor(known) === cornersFor(list.length) &&
      known <= EDGES_UP_TO === list.length <= EDGES_UP_TO &&
      known <= PLAIN_ABOVE === list.length <= PLAIN_ABOVE;
    if (!grown) this.clear(list.length);
    this.list = list;
    this.without = without;
    for (let number = this.batchOf.length; number < list.length; number++) this.add(number);
    for (const batch of this.batches.values()) this.fit(batch);
    this.places = new Int32Array(list.length).fill(-1);
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

  private add(number: number): void {
    const { shape } = this.list[number];
    this.sizes.push(sizeOf(shape));
    this.scales.push(scaleOf(shape));
    const form = this.without.has(number) ? null : formOf(shape);
    if (form === null) {
      this.batchOf.push(null);
      return;
    }
    let batch = this.batches.get(form);
    if (!batch) {
      const shared = this.list.length > PLAIN_ABOVE ? buildShared(shape) : null;
      const geometry = shared ?? buildGeometry(shape, cornersFor(this.list.length));
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
      this.batches.set(form, batch);
    }
    batch.members.push(number);
    this.batchOf.push(batch);
  }

  /** Gives a form's copies more room if they need it. */
  private fit(batch: Batch): void {
    const room = roomFor(batch.members.length, batch.shown.length);
    if (room === batch.shown.length) return;
    const { mesh: old } = batch;
    this.root.remove(old);
    if (batch.edges) this.root.remove(batch.edges);
    batch.mesh = newInstances(batch.geometry, old.material as Material, room);
    batch.mesh.castShadow = old.castShadow;
    batch.mesh.receiveShadow = true;
    old.dispose();
    batch.shown = new Int32Array(room);
    this.root.add(batch.mesh);
    if (!batch.edgeGeometry) return;
    batch.edges = new InstancedLines(batch.edgeGeometry, this.materials.edge, batch.mesh.instanceMatrix);
    batch.edges.renderOrder = 1;
    this.root.add(batch.edges);
  }

  setLook(look: Look): void {
    this.materials.edge.color.copy(look.edge);
    this.materials.edge.opacity = look.edgeOpacity;
  }

  setShadows(on: boolean): void {
    for (const { mesh } of this.batches.values()) mesh.castShadow = on;
  }

  /** Moves all bodies to where they are in a frame, or hides them all. */
  move(frame: Frame | null): void {
    const { places, slots, list } = this;
    places.fill(-1);
    slots.fill(-1);
    if (frame) {
      for (let place = 0; place < frame.bodyCount; place++) {
        const number = frame.body[place];
        if (number < list.length) places[number] = place;
      }
    }
    for (const batch of this.batches.values()) {
      const matrices = batch.mesh.instanceMatrix;
      const out = matrices.array as Float32Array;
      let slot = 0;
      for (const number of batch.members) {
        const place = places[number];
        if (place < 0) continue;
        shapePose(frame!, place, list[number], this.pose);
        const scale = this.scales[number];
        writeMatrix(this.pose, scale[0], scale[1], scale[2], out, 16 * slot);
        batch.shown[slot] = number;
        slots[number] = slot++;
      }
      batch.mesh.count = slot;
      batch.mesh.visible = slot > 0;
      if (batch.edges) {
        batch.edges.count = slot;
        batch.edges.visible = slot > 0;
      }
      // Found again when a ray is cast.
      batch.mesh.boundingSphere = null;
      matrices.clearUpdateRanges();
      matrices.addUpdateRange(0, 16 * slot);
      matrices.needsUpdate = true;
    }
  }

  paint(how: Paint, frame: Frame): void {
    for (const { mesh, shown } of this.batches.values()) {
      const colours = mesh.instanceColor!;
      const out = colours.array as Float32Array;
      for (let slot = 0; slot < mesh.count; slot++) {
        const number = shown[slot];
        paint(how, frame, this.places[number], number, this.list[number], this.sizes[number], this.colour);
        out[3 * slot] = this.colour.r;
        out[3 * slot + 1] = this.colour.g;
        out[3 * slot + 2] = this.colour.b;
      }
      colours.clearUpdateRanges();
      colours.addUpdateRange(0, 3 * mesh.count);
      colours.needsUpdate = true;
    }
  }

  /** What rays are cast at. */
  meshes(): InstancedMesh[] {
    return [...this.batches.values()].filter(({ mesh }) => mesh.visible).map(({ mesh }) => mesh);
  }

  /** The body that a copy shows. */
  bodyAt(mesh: unknown, slot: number): number {
    for (const batch of this.batches.values()) if (batch.mesh === mesh) return batch.shown[slot];
    return -1;
  }

  /** The copy that shows a body. */
  copyOf(number: number): { geometry: BufferGeometry; matrices: Float32Array; slot: number } | null {
    const batch = this.batchOf[number];
    const slot = this.slots[number] ?? -1;
    if (!batch || slot < 0) return null;
    const matrices = batch.mesh.instanceMatrix.array as Float32Array;
    return { geometry: batch.geometry, matrices, slot };
  }
}
