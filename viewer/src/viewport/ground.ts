// The ground: half-spaces, floors and walls, drawn as surfaces with a grid that fade into the horizon. If there are
// none, a bare grid is drawn below the scene.

import {
  type BufferGeometry,
  CircleGeometry,
  Color,
  DoubleSide,
  Group,
  type IUniform,
  Mesh,
  MeshBasicMaterial,
  MeshLambertMaterial,
  type Material,
  Matrix4,
  Quaternion,
  Ray,
  Vector3,
} from "three";
import type { Body, Collider, Frame, Shape } from "../protocol";
import type { Scale } from "./bounds";
import { GROUND_ORDER } from "./light";
import type { Palette } from "./palette";
import { newPose, shapePose, writeMatrix } from "./pose";
import { buildGeometry, scaleOf } from "./shapes";

/** Grid cells from one major line to the next. */
export const MAJOR_EVERY = 10;
/** Start and end of the fade, relative to the camera's distance from its target. */
const FADE_DISTANCES = [3, 14] as const;
/** Radius of the drawn part of planes, by the same measure. */
const PLANE_RADIUS = 20;

/** Fraction of the distance to the camera's target beyond which a surface does not occlude it. */
const NEAR_TARGET = 0.9;

interface Uniforms extends Record<string, IUniform> {
  gridCell: IUniform<number>;
  gridStrength: IUniform<number>;
  gridColor: IUniform<Color>;
  horizon: IUniform<Color>;
  fade: IUniform<[number, number]>;
}

const VERTEX_HEAD = `
varying vec3 vLocal;
varying vec3 vLocalNormal;
varying vec3 vView;
`;

const VERTEX = `
// Planes are scaled with the camera's distance; the grid must not be.
vLocal = position * length(modelMatrix[0].xyz);
vLocalNormal = normal;
vView = mvPosition.xyz;
`;

const FRAGMENT_HEAD = `
varying vec3 vLocal;
varying vec3 vLocalNormal;
varying vec3 vView;
uniform float gridCell;
uniform float gridStrength;
uniform vec3 gridColor;
uniform vec3 horizon;
uniform vec2 fade;
float gridLine(vec2 at, float cell) {
  vec2 q = at / cell;
  vec2 wide = fwidth(q);
  vec2 off = abs(fract(q - 0.5) - 0.5);
  vec2 line = 1.0 - smoothstep(wide * 0.4, wide * 1.4, off);
  // Lines of cells only a few pixels wide would flicker.
  line *= 1.0 - smoothstep(0.04, 0.22, wide);
  return max(line.x, line.y);
}
float grid() {
  vec3 n = abs(vLocalNormal);
  vec2 at = n.z >= max(n.x, n.y) ? vLocal.xy : n.x > n.y ? vLocal.yz : vLocal.xz;
  return max(0.5 * gridLine(at, gridCell), gridLine(at, ${MAJOR_EVERY}.0 * gridCell));
}
`;

const SURFACE = `
outgoingLight = mix(outgoingLight, gridColor, grid() * gridStrength);
outgoingLight = mix(outgoingLight, horizon, smoothstep(fade.x, fade.y, length(vView)));
#include <opaque_fragment>
`;

const LINES_ONLY = `
outgoingLight = gridColor;
diffuseColor.a = grid() * gridStrength * 1.6 * (1.0 - smoothstep(0.3 * fade.x, 0.6 * fade.y, length(vView)));
#include <opaque_fragment>
`;

function withGrid<M extends Material>(material: M, uniforms: Uniforms, fragment: string): M {
  material.onBeforeCompile = (shader) => {
    Object.assign(shader.uniforms, uniforms);
    shader.vertexShader = shader.vertexShader
      .replace("#include <common>", `#include <common>\n${VERTEX_HEAD}`)
      .replace("#include <project_vertex>", `#include <project_vertex>\n${VERTEX}`);
    shader.fragmentShader = shader.fragmentShader
      .replace("#include <common>", `#include <common>\n${FRAGMENT_HEAD}`)
      .replace("#include <opaque_fragment>", fragment);
  };
  material.customProgramCacheKey = () => fragment;
  return material;
}

/** A surface of the ground; the outer object has the pose of the body's shape. */
interface Piece {
  bodyIndex: number;
  collider: Collider;
  shape: Shape;
  outer: Group;
  inner: Mesh;
}

export class Ground {
  readonly root = new Group();
  private pieces: Piece[] = [];
  private emptyGrid: Mesh | null = null;
  private cell = 1;
  private readonly uniforms: Uniforms = {
    gridCell: { value: 1 },
    gridStrength: { value: 0.2 },
    gridColor: { value: new Color() },
    horizon: { value: new Color() },
    fade: { value: [1, 2] },
  };
  private readonly surface = withGrid(new MeshLambertMaterial(), this.uniforms, SURFACE);
  /** For walls between the camera and its target. */
  private readonly faded = withGrid(
    new MeshLambertMaterial({ transparent: true, opacity: 0.12, depthWrite: false }),
    this.uniforms,
    SURFACE,
  );
  private readonly lines = withGrid(
    new MeshBasicMaterial({ transparent: true, depthWrite: false, side: DoubleSide }),
    this.uniforms,
    LINES_ONLY,
  );
  private readonly pose = newPose();
  private readonly scratch = new Vector3();
  private readonly inverse = new Matrix4();
  private readonly ray = new Ray();

  /** Returns the colliders that are drawn as ground. */
  static members(scale: Scale): Set<Collider> {
    const flat = ["half_space", "cuboid", "hull"];
    return new Set([...scale.huge].filter(({ shape, sensor }) => !sensor && flat.includes(shape.type)));
  }

  set(bodies: readonly Body[], members: ReadonlySet<Collider>, scale: Scale): void {
    for (const child of [...this.root.children]) this.root.remove(child);
    for (const { inner } of this.pieces) inner.geometry.dispose();
    this.emptyGrid?.geometry.dispose();
    this.emptyGrid = null;
    this.cell = scale.cell;
    this.uniforms.gridCell.value = scale.cell;
    this.pieces = bodies.flatMap(({ colliders }, bodyIndex) =>
      colliders.filter((collider) => members.has(collider)).map((collider) => this.piece(bodyIndex, collider)),
    );
    if (this.pieces.length === 0) this.addEmptyGrid(scale);
  }

  private piece(bodyIndex: number, collider: Collider): Piece {
    const { shape } = collider;
    const outer = new Group();
    outer.matrixAutoUpdate = false;
    const inner = new Mesh(this.geometry(shape), this.surface);
    inner.receiveShadow = true;
    inner.renderOrder = GROUND_ORDER;
    outer.add(inner);
    this.root.add(outer);
    if (shape.type === "half_space") {
      const up = new Vector3(0, 0, 1);
      inner.quaternion.copy(new Quaternion().setFromUnitVectors(up, new Vector3(...shape.normal)));
    }
    return { bodyIndex, collider, shape, outer, inner };
  }

  /** Creates the geometry at the shape's true size, since the grid uses its coordinates. */
  private geometry(shape: Shape): BufferGeometry {
    if (shape.type === "half_space") return new CircleGeometry(1, 64);
    const geometry = buildGeometry(shape, 8).scale(...scaleOf(shape));
    geometry.computeBoundingBox();
    return geometry;
  }

  private addEmptyGrid(scale: Scale): void {
    this.emptyGrid = new Mesh(new CircleGeometry(1, 64), this.lines);
    this.emptyGrid.position.set(0, 0, scale.box[2]);
    this.root.add(this.emptyGrid);
  }

  /** Adjusts the bare grid to a moved floating origin; surfaces of bodies move with the frame. */
  shift(by: Vector3): void {
    this.emptyGrid?.position.sub(by);
  }

  setPalette(palette: Palette): void {
    this.surface.color.copy(palette.ground);
    this.faded.color.copy(palette.ground);
    this.uniforms.gridColor.value.copy(palette.gridLine);
    this.uniforms.gridStrength.value = palette.gridStrength;
    this.uniforms.horizon.value.copy(palette.horizon);
  }

  move(frame: Frame | null, rows: Int32Array): void {
    for (const { bodyIndex, collider, outer } of this.pieces) {
      const row = frame ? (rows[bodyIndex] ?? -1) : -1;
      outer.visible = row >= 0;
      if (row < 0) continue;
      shapePose(frame!, row, collider, this.pose);
      writeMatrix(this.pose, 1, 1, 1, outer.matrix.elements, 0);
      outer.matrixWorldNeedsUpdate = true;
    }
  }

  /** Returns whether a piece occludes the camera's target. */
  private blocks(piece: Piece, eye: Vector3, target: Vector3): boolean {
    const box = piece.inner.geometry.boundingBox;
    if (!box) return false;
    this.inverse.copy(piece.outer.matrix).invert();
    const { origin, direction } = this.ray;
    origin.copy(eye).applyMatrix4(this.inverse);
    direction.copy(target).applyMatrix4(this.inverse).sub(origin);
    const length = direction.length();
    direction.normalize();
    // The ground below the target may extend up to it.
    const hit = box.containsPoint(origin) ? null : this.ray.intersectBox(box, this.scratch);
    return hit !== null && hit.distanceTo(origin) < NEAR_TARGET * length;
  }

  /** Draws walls faintly that occlude the camera's target. */
  fadeOccluders(eye: Vector3, target: Vector3): void {
    for (const piece of this.pieces) {
      piece.inner.material = this.blocks(piece, eye, target) ? this.faded : this.surface;
    }
  }

  /** Keeps the center of infinite planes near the camera's target, in whole cells so that the grid does not move. */
  center(target: Vector3, distance: number): void {
    this.uniforms.fade.value[0] = FADE_DISTANCES[0] * distance;
    this.uniforms.fade.value[1] = FADE_DISTANCES[1] * distance;
    const step = MAJOR_EVERY * this.cell;
    for (const { shape, outer, inner } of this.pieces) {
      if (shape.type !== "half_space") continue;
      // Round the target along the plane, in the plane's own axes.
      const at = this.scratch.copy(target).applyMatrix4(this.inverse.copy(outer.matrix).invert());
      at.applyQuaternion(inner.quaternion.conjugate());
      inner.quaternion.conjugate();
      at.set(step * Math.round(at.x / step), step * Math.round(at.y / step), shape.offset);
      inner.position.copy(at.applyQuaternion(inner.quaternion));
      inner.scale.setScalar(PLANE_RADIUS * distance);
    }
    if (this.emptyGrid) {
      this.emptyGrid.scale.setScalar(PLANE_RADIUS * distance);
      this.emptyGrid.position.x = step * Math.round(target.x / step);
      this.emptyGrid.position.y = step * Math.round(target.y / step);
    }
  }

  /** Returns the meshes for ray casts. */
  meshes(): Mesh[] {
    return this.pieces
      .filter(({ outer, inner }) => outer.visible && inner.material !== this.faded)
      .map(({ inner }) => inner);
  }

  /** Returns the renderer's matrix of a body's first piece, and its collider. */
  pieceOf(bodyIndex: number): { matrix: Float32Array; collider: Collider } | null {
    const piece = this.pieces.find((one) => one.bodyIndex === bodyIndex);
    if (!piece?.outer.visible) return null;
    return { matrix: new Float32Array(piece.outer.matrix.elements), collider: piece.collider };
  }
}
