// The 3D viewport: watches the model and redraws after changes.

import { PCFShadowMap, Scene, WebGLRenderer } from "three";
import type { Model, Selection } from "../model";
import type { Body, Collider, Frame, Hello, Settings, Vec3 } from "../protocol";
import { Signal } from "../signal";
import { Bodies } from "./bodies";
import { isNearMost, measure, type Scale, shiftScale } from "./bounds";
import { OrbitCamera } from "./camera";
import { Ground, MAJOR_EVERY } from "./ground";
import { PointerInput, PullTool, throwBox } from "./pointer";
import { Highlight } from "./highlight";
import { Labels } from "./labels";
import { Light } from "./light";
import { FloatingOrigin } from "./floating-origin";
import { type LegendLine, type OverlayInput, OverlayLayer } from "./overlays";
import { FrameRateCounter } from "./frame-rate";
import { maxSpeedIn } from "./body-color";
import { PALETTES } from "./palette";
import type { TrailInput } from "./trail";
import { type DrawnContact, Picker, Projection } from "./pick";
import { compose } from "./picture";
import { isSoftware, Quality } from "./quality";
import { allStale, type Stale } from "./stale";
import { movingSphere, positionFromMatrix } from "./readback";

/** Maximum number of colliders with shadows, which take half of the rendering time. */
const MAX_SHADOW_COLLIDERS = 4000;
const LABEL_INTERVAL_MS = 1000;
/** Maximum number of rendered pixels per CSS pixel of a picture. */
const MAX_PICTURE_RATIO = 2;

function newRenderer(canvas: HTMLCanvasElement, antialias: boolean): WebGLRenderer | null {
  try {
    const renderer = new WebGLRenderer({ canvas, antialias, powerPreference: "high-performance" });
    renderer.shadowMap.enabled = true;
    renderer.shadowMap.type = PCFShadowMap;
    // Shadows depend on the bodies, not on the camera.
    renderer.shadowMap.autoUpdate = false;
    return renderer;
  } catch {
    return null; // The browser has no WebGL.
  }
}

/** Camera distance for framing a single body, in radii of the body. */
const FRAME_RADII = 6;
/** Speed above which a lone body leaves the scene at once, in scene radii per second. */
const RUNAWAY_RADII = 20;

export class Viewport {
  /** Frames rendered in the last second. */
  readonly framesPerSecond = new Signal<number>(0);

  /** Whether the scene is drawn: not without WebGL, nor while the browser has taken its graphics memory away. */
  readonly drawing = new Signal<"works" | "lost" | "unavailable">("works");

  /** The scale of lengths and colors. */
  readonly legend = new Signal<LegendLine[]>([]);

  private readonly canvas = document.createElement("canvas");
  private readonly renderer: WebGLRenderer | null;
  private readonly scene = new Scene();
  private readonly quality = new Quality(isSoftware());
  private readonly parts = {
    bodies: new Bodies(),
    ground: new Ground(),
    light: new Light(this.quality.software),
    overlays: new OverlayLayer(),
    highlight: new Highlight(),
    labels: new Labels(),
  };
  private readonly orbit: OrbitCamera;
  private readonly projection: Projection;
  private readonly picker: Picker;
  private readonly pull: PullTool;
  private readonly pointer: PointerInput;
  private readonly counter = new FrameRateCounter(this.framesPerSecond);
  private stale = allStale();
  private readonly origin = new FloatingOrigin();
  /** The model's frame, relative to the floating origin. */
  private drawnFrame: Frame | null = null;
  /** The scene on display: its scale, the colliders drawn as ground, and the greatest speed up to now, m/s. */
  private shown: { hello: Hello; scale: Scale; ground: Set<Collider>; maxSpeed: number } | null = null;
  private filming = false;
  /** The body to frame, and the step to wait for. */
  private framing: { step: number; body: number } | null = null;
  private lastLabel = { at: -Infinity, label: "" };

  constructor(
    readonly host: HTMLElement,
    readonly model: Model,
  ) {
    const { bodies, ground, light, overlays, highlight, labels } = this.parts;
    this.canvas.setAttribute("role", "img");
    this.canvas.style.display = "block";
    this.canvas.style.width = this.canvas.style.height = "100%";
    if (getComputedStyle(host).position === "static") host.style.position = "relative";
    host.append(this.canvas, labels.root);
    this.renderer = newRenderer(this.canvas, !this.quality.software);
    this.orbit = new OrbitCamera(this.canvas);
    this.projection = new Projection(this.canvas, this.orbit.camera);
    this.picker = new Picker(this.orbit.camera, this.projection, bodies, ground);
    this.pull = new PullTool(model, this.picker, this.orbit, this.origin, () => this.drawnFrame);
    const click = (x: number, y: number, touch: boolean) => this.click(x, y, touch);
    const doubleClick = (x: number, y: number) => this.doubleClick(x, y);
    this.pointer = new PointerInput(this.canvas, model, this.pull, this.orbit, click, doubleClick);
    this.scene.add(light.root, ground.root, bodies.root, highlight.root, overlays.root, this.pull.root);
    this.resize();
    new ResizeObserver(() => this.resize()).observe(host);
    if (!this.renderer) this.drawing.value = "unavailable";
    this.canvas.addEventListener("webglcontextlost", () => (this.drawing.value = "lost"));
    this.canvas.addEventListener("webglcontextrestored", () => {
      this.drawing.value = "works";
      this.stale = allStale();
    });
    this.watch();
  }

  /** Frames the whole scene from the default direction. */
  resetCamera(): void {
    this.framing = null;
    // The host may have been resized without the observer having run yet.
    this.resize();
    this.refresh();
    const { shown, drawnFrame } = this;
    if (shown && drawnFrame) {
      const bodies = this.model.bodies.value;
      this.orbit.frame(measure(drawnFrame, bodies, isNearMost(drawnFrame, bodies, shown.scale.radius)));
      this.rebaseOrigin();
    }
    this.stale.view = true;
  }

  /** Frames one body. */
  frameBody(body: number): void {
    this.framing = null;
    this.refresh();
    const frame = this.drawnFrame;
    const row = frame ? frame.rowOf(body) : -1;
    const size = this.parts.bodies.sizes[body];
    if (row < 0 || !size || !this.shown) return;
    const [x, y, z] = frame!.position.subarray(3 * row, 3 * row + 3);
    // A body that is unbounded or has no colliders is framed like the scene.
    const radius = Math.min(size.radius || Infinity, this.shown.scale.radius);
    this.orbit.approach([x, y, z], FRAME_RADII * radius);
    this.stale.view = true;
  }

  /** Frames one body as soon as the frame of this step is on display. */
  frameBodyAt(step: number, body: number): void {
    this.framing = { step, body };
  }

  /** Renders if anything changed; `now` in milliseconds. */
  draw(now: number): void {
    if (this.filming) return;
    this.advance();
    const ratio = this.quality.next(now, this.stale.view);
    const drawn = ratio !== null;
    if (drawn) this.render(ratio);
    this.counter.tick(now, drawn && this.drawing.value === "works");
    this.updateLabel(now);
  }

  /** Updates everything that changes the picture. */
  private advance(): void {
    if (this.pull.send()) this.stale.view = true;
    this.refresh();
    this.frameAwaited();
    if (this.model.follow.value) this.follow();
    if (this.orbit.update()) this.stale.view = true;
    this.rebaseOrigin();
    this.refresh();
  }

  /** Frames the body that waits for its step, unless the user has moved on. */
  private frameAwaited(): void {
    const { framing, model } = this;
    if (!framing) return;
    if (framing.step === this.drawnFrame?.step || model.atEnd.value) this.frameBody(framing.body);
    else if (framing.step !== model.cursor.value) this.framing = null;
  }

  /** Sets whether only `drawPicture` draws, at the size of its pictures. */
  setFilming(on: boolean): void {
    this.filming = on;
    this.resize();
  }

  /** Draws the scene onto another canvas, in a size in CSS pixels and with a number of pixels for each of them; with the
   * names and the legend if `annotated`. */
  drawPicture(out: HTMLCanvasElement, width: number, height: number, ratio: number, annotated: boolean): void {
    const { renderer, orbit, host } = this;
    if (!renderer) return;
    this.advance();
    const resized = width !== host.clientWidth || height !== host.clientHeight;
    if (resized) {
      renderer.setSize(width, height, false);
      orbit.setAspect(width / height);
    }
    // Without antialiasing, render at twice the resolution and downsample.
    this.render(Math.min(this.quality.software ? 2 * ratio : ratio, MAX_PICTURE_RATIO));
    const text = annotated ? { labels: this.parts.labels, legend: this.legend.value, theme: this.model.theme.value } : null;
    compose(out, this.canvas, width, height, ratio, text);
    if (!resized) return;
    this.resize();
    this.render(this.quality.full());
  }

  /** Returns the scene without the page as a JPEG of this size, as a data URL. */
  screenshot(width: number, height: number): string {
    const out = document.createElement("canvas");
    this.drawPicture(out, width, height, 1, false);
    return out.toDataURL("image/jpeg", 0.85);
  }

  /** Returns the position at which a body's center of mass is drawn, read back from the renderer's matrices. */
  drawnPosition(body: number): Vec3 | null {
    const { bodies, ground } = this.parts;
    const [instance] = bodies.instancesOf(body);
    if (instance) {
      const { matrices, slot, collider } = instance;
      return this.origin.toWorldSingle(positionFromMatrix(matrices, 16 * slot, collider));
    }
    const piece = ground.pieceOf(body);
    return piece && this.origin.toWorldSingle(positionFromMatrix(piece.matrix, 0, piece.collider));
  }

  /** Projects a point of the world to the window, in CSS pixels; null if it is behind the camera. */
  toScreen(point: Vec3): [number, number] | null {
    this.projection.measure();
    const screen = this.projection.project(...this.origin.toLocal(point));
    return screen && [screen.x, screen.y];
  }

  /** Returns the drawn contact points with their positions in the window; none if the overlay is off. */
  drawnContacts(): DrawnContact[] {
    const frame = this.drawnFrame;
    if (!frame || !this.model.overlays.value.contacts) return [];
    return this.picker.contacts(frame);
  }

  private watch(): void {
    const { model } = this;
    const invalidate = (...keys: (keyof Stale)[]) => {
      return () => {
        for (const key of keys) this.stale[key] = true;
      };
    };
    model.hello.watch(invalidate("bodies", "moved"));
    model.bodies.watch(invalidate("bodies", "moved"));
    model.frame.watch(invalidate("moved"));
    // The status arrives several times a second, but its settings rarely change.
    let settings = "";
    model.status.watch((status) => {
      const now = JSON.stringify(status?.settings ?? null);
      if (now !== settings) invalidate("colors", "overlays")();
      settings = now;
    });
    model.coloring.watch(invalidate("colors", "overlays"));
    model.selection.watch(invalidate("colors", "overlays"));
    model.overlays.watch(invalidate("overlays"));
    model.motion.watch(invalidate("overlays"));
    model.theme.watch(invalidate("palette"));
    model.follow.watch(invalidate("view"));
  }

  private resize(): void {
    const { clientWidth, clientHeight } = this.host;
    const width = Math.max(1, clientWidth);
    const height = Math.max(1, clientHeight);
    this.renderer?.setSize(width, height, false);
    this.orbit.setAspect(width / height);
    this.stale.view = true;
  }

  /** Updates all stale parts from the model. */
  private refresh(): void {
    const { stale, model, origin } = this;
    if (stale.bodies && this.shown?.hello !== model.hello.value) origin.point.set(0, 0, 0);
    if (stale.moved) this.drawnFrame = origin.apply(model.frame.value);
    const frame = this.drawnFrame;
    if (stale.bodies) this.updateBodies(frame);
    if (stale.palette) this.updatePalette();
    if (stale.moved) this.updatePoses(frame);
    if (stale.colors) this.updateColors(frame);
    if (stale.overlays) this.updateOverlays(frame);
  }

  /** Moves the floating origin if the camera's target is too far from it. */
  private rebaseOrigin(): void {
    const { shown, orbit, origin } = this;
    if (!shown || this.pull.pointer !== null) return;
    const { scale } = shown;
    const by = origin.rebaseOffset(orbit.controls.target, scale.radius, scale.cell * MAJOR_EVERY);
    if (!by) return;
    origin.point.add(by);
    orbit.shift(by);
    shiftScale(scale, by.x, by.y, by.z);
    this.parts.ground.shift(by);
    this.stale.moved = true;
  }

  private updateBodies(frame: Frame | null): void {
    const { hello, bodies } = this.model;
    // A new scene is measured from its first frame; until that arrives, the old one stays, without bodies.
    if (hello.value && frame && this.shown?.hello !== hello.value) this.beginScene(hello.value, frame);
    if (!this.shown || this.shown.hello !== hello.value) return;
    this.stale.bodies = false;
    this.stale.moved = true;
    this.stale.palette = true;
    this.parts.bodies.set(bodies.value, this.shown.ground);
    const colliders = bodies.value.reduce((sum, body) => sum + body.colliders.length, 0);
    const shadows = colliders <= MAX_SHADOW_COLLIDERS;
    this.parts.bodies.setShadows(shadows);
    this.parts.light.setShadows(shadows);
  }

  private beginScene(hello: Hello, frame: Frame): void {
    const list = this.model.bodies.value;
    const scale = measure(frame, list);
    // Keep the camera when a scene is reset.
    const last = this.shown?.hello;
    const again = last?.name === hello.name && last.mode === hello.mode;
    const ground = Ground.members(scale);
    this.shown = { hello, scale, ground, maxSpeed: 0 };
    this.parts.ground.set(list, ground, scale);
    if (!again) this.orbit.frame(scale);
    this.pointer.reset();
    this.followRunaway(frame, list, scale);
  }

  /** Follows a lone body that would leave the view within a second. */
  private followRunaway(frame: Frame, list: readonly Body[], scale: Scale): void {
    const moving = list.map((body, bodyIndex) => (body.kind === "inertial" ? bodyIndex : -1)).filter((bodyIndex) => bodyIndex >= 0);
    if (moving.length !== 1 || maxSpeedIn(frame, list) < RUNAWAY_RADII * scale.radius) return;
    this.model.selection.value = { kind: "body", body: moving[0] };
    this.model.follow.value = true;
  }

  private updatePalette(): void {
    const palette = PALETTES[this.model.theme.value];
    const { bodies, ground, light, overlays, highlight, labels } = this.parts;
    for (const part of [bodies, ground, light, overlays, highlight, labels]) part.setPalette(palette);
    this.stale.palette = false;
    this.stale.colors = this.stale.overlays = true;
  }

  private updatePoses(frame: Frame | null): void {
    const { bodies, ground, light } = this.parts;
    const list = this.model.bodies.value;
    const { shown } = this;
    const drawn = shown && shown.hello === this.model.hello.value ? frame : null;
    bodies.move(drawn);
    ground.move(drawn, bodies.rows);
    if (drawn && shown) {
      shown.maxSpeed = Math.max(shown.maxSpeed, maxSpeedIn(drawn, list));
      const { x, y, z, radius } = movingSphere(drawn, list, bodies.sizes, shown.scale, this.orbit.controls.target);
      light.fit(x, y, z, radius);
    }
    if (this.renderer) this.renderer.shadowMap.needsUpdate = true;
    this.stale.moved = false;
    this.stale.overlays = true;
    // The assignment of instances to bodies may have changed.
    this.stale.colors = true;
  }

  private settings(): Settings | null {
    return (this.model.status.value ?? this.model.hello.value)?.settings ?? null;
  }

  private updateColors(frame: Frame | null): void {
    const { model } = this;
    this.stale.colors = false;
    this.stale.view = true;
    if (!frame || !this.shown) return;
    this.parts.bodies.paint(
      {
        coloring: model.coloring.value,
        palette: PALETTES[model.theme.value],
        settings: this.settings(),
        maxSpeed: this.shown.maxSpeed,
        selected: model.selection.value?.kind === "body" ? model.selection.value.body : null,
        selectedCollider: this.selectedCollider(),
      },
      frame,
    );
  }

  private updateOverlays(frame: Frame | null): void {
    const { overlays, highlight, bodies } = this.parts;
    const { selection, overlays: choice } = this.model;
    this.stale.overlays = false;
    this.stale.view = true;
    const legend = overlays.draw(frame && this.overlayInput(frame), choice.value, selection.value);
    if (this.model.coloring.value === "speed" && this.shown && this.shown.maxSpeed > 0) {
      legend.push({ label: "colors up to", value: this.shown.maxSpeed, unit: "m/s" });
    }
    this.legend.value = legend;
    const bodyIndex = selection.value?.kind === "body" ? selection.value.body : -1;
    const row = bodies.rows[bodyIndex] ?? -1;
    const body: Body | null = this.model.bodies.value[bodyIndex] ?? null;
    highlight.draw(frame, row, body, this.selectedCollider(), row < 0 ? [] : bodies.instancesOf(bodyIndex));
  }

  private selectedCollider(): Collider | null {
    const [body, collider] = [this.model.selectedBody(), this.model.selectedCollider()];
    return body === null || collider === null ? null : (this.model.bodies.value[body]?.colliders[collider] ?? null);
  }

  private overlayInput(frame: Frame): OverlayInput | null {
    if (!this.shown) return null;
    const { scale, maxSpeed, hello } = this.shown;
    const { sizes, rows } = this.parts.bodies;
    const bodies = this.model.bodies.value;
    return { frame, bodies, sizes, rows, scale, joints: hello.joints, trail: this.trailInput(), maxSpeed };
  }

  private trailInput(): TrailInput | null {
    const body = this.model.selectedBody();
    const motion = this.model.motion.value;
    return body === null ? null : { body, motion: motion?.body === body ? motion : null, origin: this.origin.point };
  }

  private follow(): void {
    const frame = this.drawnFrame;
    const body = this.model.selectedBody();
    const row = body !== null && frame ? frame.rowOf(body) : -1;
    if (row < 0) {
      this.orbit.follow(null, null);
      return;
    }
    const [x, y, z] = frame!.position.subarray(3 * row, 3 * row + 3);
    this.orbit.follow(body, [x, y, z]);
  }

  private render(ratio: number): void {
    const { renderer, orbit, shown } = this;
    this.stale.view = false;
    if (renderer && renderer.getPixelRatio() !== ratio) renderer.setPixelRatio(ratio);
    const radius = shown?.scale.radius ?? 1;
    const distance = Math.max(orbit.distance, radius);
    orbit.setRange(radius);
    this.parts.ground.center(orbit.controls.target, distance);
    this.parts.ground.fadeOccluders(orbit.camera.position, orbit.controls.target);
    this.parts.light.center(orbit.camera.position, orbit.distance);
    if (shown) this.pull.draw(shown.scale);
    const pixels = renderer?.domElement.height ?? 1;
    this.parts.overlays.setPixels(pixels, ratio);
    this.pull.setPixels(pixels, ratio);
    renderer?.render(this.scene, orbit.camera);
    this.parts.labels.place(this.drawnFrame, this.model, this.projection, (body) => this.isGround(body));
  }

  private click(x: number, y: number, touch: boolean): void {
    const { model, shown } = this;
    const frame = this.drawnFrame;
    if (!frame || !shown) return;
    const live = model.hello.value?.mode === "live";
    if (live && model.tool.value === "throw") {
      throwBox(model, this.picker, this.orbit, shown.scale, this.origin, x, y);
      return;
    }
    if (live && model.tool.value === "pull") return;
    const contact = model.overlays.value.contacts ? this.picker.contact(frame, x, y, touch) : null;
    if (contact) {
      model.selection.value = { kind: "contact", ...contact };
      return;
    }
    model.selection.value = this.bodyAt(x, y);
  }

  /** Returns the body at a position in the window, with the collider there if it has several. */
  private bodyAt(x: number, y: number): Extract<Selection, { kind: "body" }> | null {
    const { body = null, collider = null } = this.picker.surface(x, y) ?? {};
    if (body === null) return null;
    const { colliders } = this.model.bodies.value[body];
    return { kind: "body", body, ...(collider && colliders.length > 1 && { collider: colliders.indexOf(collider) }) };
  }

  /** Returns whether a body is drawn as ground. */
  private isGround(body: number): boolean {
    const { ground } = this.shown ?? {};
    return this.model.bodies.value[body]?.colliders.some((collider) => ground?.has(collider)) ?? false;
  }

  private doubleClick(x: number, y: number): void {
    const { model } = this;
    const selection = this.bodyAt(x, y);
    if (selection === null || (model.hello.value?.mode === "live" && model.tool.value !== "orbit")) return;
    model.selection.value = selection;
    this.frameBody(selection.body);
  }

  /** Updates the canvas's label for screen readers, at most once per interval. */
  private updateLabel(now: number): void {
    if (now - this.lastLabel.at < LABEL_INTERVAL_MS) return;
    const { hello, frame } = this.model;
    const step = frame.value ? `, step ${frame.value.step}, ${frame.value.bodyCount} bodies` : "";
    if (this.drawing.value === "unavailable") return; // The page says so in words.
    const label = hello.value ? `3D view of ${hello.value.title || hello.value.name}${step}` : "3D view, empty";
    this.lastLabel.at = now;
    if (label === this.lastLabel.label) return;
    this.lastLabel.label = label;
    this.canvas.setAttribute("aria-label", label);
  }
}

