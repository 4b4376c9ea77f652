// The 3D view: watches the model and draws when something changed.

import { PCFShadowMap, Scene, WebGLRenderer } from "three";
import type { Model } from "../model";
import type { Body, Frame, Hello, Settings, Vec3 } from "../protocol";
import { Signal } from "../signal";
import { Bodies } from "./bodies";
import { measure, nearMost, type Scale, shiftScale } from "./bounds";
import { Eye } from "./camera";
import { Ground, STRONG } from "./ground";
import { Hand, Pull, throwBox } from "./hand";
import { Highlight } from "./highlight";
import { Labels, MOST_LABELS } from "./labels";
import { Light } from "./light";
import { Origin } from "./origin";
import { type LegendLine, OverlayLayer, type Sight } from "./overlays";
import { greatestSpeed } from "./painter";
import { LOOKS } from "./palette";
import { Picker, Projection, type ShownContact } from "./pick";
import { isSoftware, Quality } from "./quality";
import { shownPosition, spread } from "./readback";

/** Above so many bodies there are no shadows: they would be half of the work. */
const SHADOWS_UP_TO = 4000;
const LABEL_EVERY_MS = 1000;

/** What is not yet as the model wants it. */
interface Stale {
  bodies: boolean;
  moved: boolean;
  colours: boolean;
  overlays: boolean;
  look: boolean;
  view: boolean;
}

const everything = (): Stale => ({
  bodies: true,
  moved: true,
  colours: true,
  overlays: true,
  look: true,
  view: true,
});

function newRenderer(canvas: HTMLCanvasElement, model: Model, antialias: boolean): WebGLRenderer | null {
  try {
    const renderer = new WebGLRenderer({ canvas, antialias, powerPreference: "high-performance" });
    renderer.shadowMap.enabled = true;
    renderer.shadowMap.type = PCFShadowMap;
    // Shadows change with the bodies, not with the camera.
    renderer.shadowMap.autoUpdate = false;
    return renderer;
  } catch {
    model.notice.value = "This browser cannot draw in 3D here: WebGL is missing or switched off.";
    return null;
  }
}

/** A body that is shown alone is seen from so many of its radii. */
const CLOSE = 6;
/** A body that moves by so many radii of the scene in a second leaves it. */
const GONE = 20;

/** What a canvas shows, in this size. */
function asJpeg(canvas: HTMLCanvasElement, width: number, height: number): string {
  const type = "image/jpeg";
  const quality = 0.85;
  const small = document.createElement("canvas");
  small.width = width;
  small.height = height;
  const context = small.getContext("2d");
  if (!context || canvas.width === width) return canvas.toDataURL(type, quality);
  context.imageSmoothingQuality = "high";
  context.drawImage(canvas, 0, 0, width, height);
  return small.toDataURL(type, quality);
}

/** Counts pictures. */
class Counter {
  private since = 0;
  private count = 0;

  constructor(private readonly out: Signal<number>) {}

  tick(now: number, drawn: boolean): void {
    if (drawn) this.count++;
    const past = now - this.since;
    if (past < 1000) return;
    this.out.value = Math.round((this.count * 1000) / past);
    this.count = 0;
    this.since = now;
  }
}

export class Stage {
  /** Pictures drawn in the last second. */
  readonly framesPerSecond = new Signal<number>(0);

  /** What lengths and colours stand for. */
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
  private readonly eye: Eye;
  private readonly projection: Projection;
  private readonly picker: Picker;
  private readonly pull: Pull;
  private readonly hand: Hand;
  private readonly counter = new Counter(this.framesPerSecond);
  private stale = everything();
  private readonly origin = new Origin();
  /** The model's frame about the stage's origin. */
  private seen: Frame | null = null;
  /** The scene that is shown: its size, and its greatest speed up to now. */
  private shown: { hello: Hello; scale: Scale; ground: Set<number>; greatest: number } | null = null;
  private told = { at: -Infinity, label: "" };

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
    this.renderer = newRenderer(this.canvas, model, !this.quality.software);
    this.eye = new Eye(this.canvas);
    this.projection = new Projection(this.canvas, this.eye.camera);
    this.picker = new Picker(this.eye.camera, this.projection, bodies, ground);
    this.pull = new Pull(model, this.picker, this.eye, this.origin, () => this.seen);
    this.hand = new Hand(this.canvas, model, this.pull, this.eye, (x, y, finger) => this.click(x, y, finger));
    this.scene.add(light.root, ground.root, bodies.root, highlight.root, overlays.root, this.pull.root);
    this.resize();
    new ResizeObserver(() => this.resize()).observe(host);
    this.canvas.addEventListener("webglcontextrestored", () => (this.stale = everything()));
    this.watch();
  }

  /** Shows the whole scene from its usual side. */
  resetCamera(): void {
    // The host may have another size that has not been told of yet.
    this.resize();
    this.refresh();
    const { shown, seen } = this;
    if (shown && seen) {
      const bodies = this.model.bodies.value;
      this.eye.frame(measure(seen, bodies, nearMost(seen, bodies, shown.scale.radius)));
      this.settle();
    }
    this.stale.view = true;
  }

  /** Shows one body. */
  frameBody(body: number): void {
    this.refresh();
    const frame = this.seen;
    const place = frame ? frame.placeOf(body) : -1;
    const size = this.parts.bodies.sizes[body];
    if (place < 0 || !size || !this.shown) return;
    const [x, y, z] = frame!.position.subarray(3 * place, 3 * place + 3);
    // What has no end is looked at as the scene is.
    const radius = Math.min(size.radius, this.shown.scale.radius);
    this.eye.approach([x, y, z], CLOSE * radius);
    this.stale.view = true;
  }

  /** Draws if anything changed; `now` in milliseconds. */
  draw(now: number): void {
    if (this.pull.send()) this.stale.view = true;
    this.refresh();
    if (this.model.follow.value) this.follow();
    if (this.eye.update()) this.stale.view = true;
    this.settle();
    this.refresh();
    const ratio = this.quality.next(now, this.stale.view);
    const drawn = ratio !== null;
    if (drawn) this.render(ratio);
    this.counter.tick(now, drawn);
    this.tell(now);
  }

  /** The scene alone as a JPEG of this size, as a data address. */
  picture(width: number, height: number): string {
    const { renderer, eye } = this;
    if (!renderer) return "";
    this.refresh();
    renderer.setSize(width, height, false);
    eye.setAspect(width / height);
    // Where edges are not smoothed, twice the pixels are drawn, and taken together.
    this.render(this.quality.software ? 2 : 1);
    const address = asJpeg(this.canvas, width, height);
    this.resize();
    this.render(this.quality.full());
    return address;
  }

  /** Where a body's centre of mass is drawn, read back from what the renderer was given. */
  positionShown(body: number): Vec3 | null {
    const { bodies, ground } = this.parts;
    const what = this.model.bodies.value[body];
    if (!what) return null;
    const copy = bodies.copyOf(body);
    if (copy) return this.origin.shownAt(shownPosition(copy.matrices, 16 * copy.slot, what));
    const matrix = ground.matrixOf(body);
    return matrix && this.origin.shownAt(shownPosition(matrix, 0, what));
  }

  /** Where a point of the world is in the window, in CSS pixels, or null if it is behind the camera. */
  toScreen(point: Vec3): [number, number] | null {
    this.projection.measure();
    const place = this.projection.place(...this.origin.toStage(point));
    return place && [place.x, place.y];
  }

  /** The contact points that are drawn, and where in the window; none if they are not shown. */
  contactsShown(): ShownContact[] {
    const frame = this.seen;
    if (!frame || !this.model.overlays.value.contacts) return [];
    return this.picker.contacts(frame);
  }

  private watch(): void {
    const { model } = this;
    const mark = (...keys: (keyof Stale)[]) => {
      return () => {
        for (const key of keys) this.stale[key] = true;
      };
    };
    model.hello.watch(mark("bodies", "moved"));
    model.bodies.watch(mark("bodies", "moved"));
    model.frame.watch(mark("moved"));
    // Told several times a second, but seldom with other settings.
    let settings = "";
    model.status.watch((status) => {
      const now = JSON.stringify(status?.settings ?? null);
      if (now !== settings) mark("colours", "overlays")();
      settings = now;
    });
    model.colouring.watch(mark("colours", "overlays"));
    model.selection.watch(mark("colours", "overlays"));
    model.overlays.watch(mark("overlays"));
    model.theme.watch(mark("look"));
    model.follow.watch(mark("view"));
  }

  private resize(): void {
    const { clientWidth, clientHeight } = this.host;
    const width = Math.max(1, clientWidth);
    const height = Math.max(1, clientHeight);
    this.renderer?.setSize(width, height, false);
    this.eye.setAspect(width / height);
    this.stale.view = true;
  }

  /** Brings everything in line with the model. */
  private refresh(): void {
    const { stale, model, origin } = this;
    if (stale.bodies && this.shown?.hello !== model.hello.value) origin.at.set(0, 0, 0);
    if (stale.moved) this.seen = origin.see(model.frame.value);
    const frame = this.seen;
    if (stale.bodies) this.takeBodies(frame);
    if (stale.look) this.takeLook();
    if (stale.moved) this.takeFrame(frame);
    if (stale.colours) this.takeColours(frame);
    if (stale.overlays) this.takeOverlays(frame);
  }

  /** Moves the stage's origin if the camera looks at something too far from it. */
  private settle(): void {
    const { shown, eye, origin } = this;
    if (!shown || this.pull.pointer !== null) return;
    const { scale } = shown;
    const by = origin.wanted(eye.controls.target, scale.radius, scale.cell * STRONG);
    if (!by) return;
    origin.at.add(by);
    eye.shift(by);
    shiftScale(scale, by.x, by.y, by.z);
    this.parts.ground.shift(by);
    this.stale.moved = true;
  }

  private takeBodies(frame: Frame | null): void {
    const { hello, bodies } = this.model;
    // A new scene is measured by its first frame; until then the old one stays, without bodies.
    if (hello.value && frame && this.shown?.hello !== hello.value) this.begin(hello.value, frame);
    if (!this.shown || this.shown.hello !== hello.value) return;
    this.stale.bodies = false;
    this.stale.moved = true;
    this.stale.look = true;
    this.parts.bodies.set(bodies.value, this.shown.ground);
    const shadows = bodies.value.length <= SHADOWS_UP_TO;
    this.parts.bodies.setShadows(shadows);
    this.parts.light.setShadows(shadows);
  }

  private begin(hello: Hello, frame: Frame): void {
    const list = this.model.bodies.value;
    const scale = measure(frame, list);
    // A scene that begins anew is looked at from where it was.
    const last = this.shown?.hello;
    const again = last?.name === hello.name && last.mode === hello.mode;
    const ground = Ground.members(list, scale);
    this.shown = { hello, scale, ground, greatest: 0 };
    this.parts.ground.set(list, ground, scale);
    if (!again) this.eye.frame(scale);
    this.hand.reset();
    this.followRunaway(frame, list, scale);
  }

  /** A lone body that would be gone in a second is followed from the start. */
  private followRunaway(frame: Frame, list: readonly Body[], scale: Scale): void {
    const moving = list.map((body, number) => (body.kind === "inertial" ? number : -1)).filter((number) => number >= 0);
    if (moving.length !== 1 || greatestSpeed(frame, list) < GONE * scale.radius) return;
    this.model.selection.value = { kind: "body", body: moving[0] };
    this.model.follow.value = true;
  }

  private takeLook(): void {
    const look = LOOKS[this.model.theme.value];
    const { bodies, ground, light, overlays, highlight, labels } = this.parts;
    for (const part of [bodies, ground, light, overlays, highlight, labels]) part.setLook(look);
    this.stale.look = false;
    this.stale.colours = this.stale.overlays = true;
  }

  private takeFrame(frame: Frame | null): void {
    const { bodies, ground, light } = this.parts;
    const list = this.model.bodies.value;
    const { shown } = this;
    const drawn = shown && shown.hello === this.model.hello.value ? frame : null;
    bodies.move(drawn);
    ground.move(drawn, list, bodies.places);
    if (drawn && shown) {
      shown.greatest = Math.max(shown.greatest, greatestSpeed(drawn, list));
      const { x, y, z, radius } = spread(drawn, list, bodies.sizes, shown.scale, this.eye.controls.target);
      light.fit(x, y, z, radius);
    }
    if (this.renderer) this.renderer.shadowMap.needsUpdate = true;
    this.stale.moved = false;
    this.stale.overlays = true;
    // Which copy shows which body may be another one now.
    this.stale.colours = true;
  }

  private settings(): Settings | null {
    return (this.model.status.value ?? this.model.hello.value)?.settings ?? null;
  }

  private takeColours(frame: Frame | null): void {
    const { model } = this;
    this.stale.colours = false;
    this.stale.view = true;
    if (!frame || !this.shown) return;
    this.parts.bodies.paint(
      {
        colouring: model.colouring.value,
        look: LOOKS[model.theme.value],
        settings: this.settings(),
        greatest: this.shown.greatest,
        selected: model.selection.value?.kind === "body" ? model.selection.value.body : null,
      },
      frame,
    );
  }

  private takeOverlays(frame: Frame | null): void {
    const { overlays, highlight, bodies } = this.parts;
    const { selection, overlays: choice } = this.model;
    this.stale.overlays = false;
    this.stale.view = true;
    const legend = overlays.draw(frame && this.sight(frame), choice.value, selection.value);
    if (this.model.colouring.value === "speed" && this.shown && this.shown.greatest > 0) {
      legend.push({ what: "brightest", value: this.shown.greatest, unit: "m/s" });
    }
    this.legend.value = legend;
    const number = selection.value?.kind === "body" ? selection.value.body : -1;
    const place = bodies.places[number] ?? -1;
    const body: Body | null = this.model.bodies.value[number] ?? null;
    highlight.draw(frame, place, body, bodies.copyOf(number)?.geometry ?? null);
  }

  private sight(frame: Frame): Sight | null {
    if (!this.shown) return null;
    const { scale, greatest, hello } = this.shown;
    const { sizes, places } = this.parts.bodies;
    const bodies = this.model.bodies.value;
    return { frame, bodies, sizes, places, scale, joints: hello.joints, greatest };
  }

  private follow(): void {
    const frame = this.seen;
    const body = this.model.selectedBody();
    const place = body !== null && frame ? frame.placeOf(body) : -1;
    if (place < 0) {
      this.eye.follow(null, null);
      return;
    }
    const [x, y, z] = frame!.position.subarray(3 * place, 3 * place + 3);
    this.eye.follow(body, [x, y, z]);
  }

  private render(ratio: number): void {
    const { renderer, eye, shown } = this;
    this.stale.view = false;
    if (renderer && renderer.getPixelRatio() !== ratio) renderer.setPixelRatio(ratio);
    const radius = shown?.scale.radius ?? 1;
    const distance = Math.max(eye.distance, radius);
    eye.setRange(radius);
    this.parts.ground.centre(eye.controls.target, distance);
    this.parts.ground.unveil(eye.camera.position, eye.controls.target);
    this.parts.light.centre(eye.camera.position, eye.distance);
    if (shown) this.pull.draw(shown.scale);
    const pixels = renderer?.domElement.height ?? 1;
    this.parts.overlays.setPixels(pixels, ratio);
    this.pull.setPixels(pixels, ratio);
    renderer?.render(this.scene, eye.camera);
    this.placeLabels();
  }

  private placeLabels(): void {
    const { labels } = this.parts;
    const { model } = this;
    const frame = this.seen;
    let count = 0;
    if (frame && model.overlays.value.names) {
      this.projection.measure();
      const { left, top } = this.canvas.getBoundingClientRect();
      const all = frame.bodyCount <= MOST_LABELS;
      const chosen = model.selectedBody();
      for (let at = 0; at < frame.bodyCount; at++) {
        const number = frame.body[at];
        if ((!all && number !== chosen) || this.shown?.ground.has(number)) continue;
        const p = frame.position;
        const place = this.projection.place(p[3 * at], p[3 * at + 1], p[3 * at + 2]);
        if (place) labels.place(count++, model.nameOf(number), place.x - left, place.y - top);
      }
    }
    labels.end(count);
  }

  private click(x: number, y: number, finger: boolean): void {
    const { model, shown } = this;
    const frame = this.seen;
    if (!frame || !shown) return;
    const live = model.hello.value?.mode === "live";
    if (live && model.tool.value === "throw") {
      throwBox(model, this.picker, this.eye, shown.scale, this.origin, x, y);
      return;
    }
    if (live && model.tool.value === "pull") return;
    const contact = model.overlays.value.contacts ? this.picker.contact(frame, x, y, finger) : null;
    if (contact) {
      model.selection.value = { kind: "contact", ...contact };
      return;
    }
    const body = this.picker.surface(x, y)?.body ?? null;
    model.selection.value = body === null ? null : { kind: "body", body };
  }

  /** Says in words what is seen, not too often. */
  private tell(now: number): void {
    if (now - this.told.at < LABEL_EVERY_MS) return;
    const { hello, frame } = this.model;
    const step = frame.value ? `, step ${frame.value.step}, ${frame.value.bodyCount} bodies` : "";
    const label = hello.value ? `3D view of ${hello.value.title || hello.value.name}${step}` : "3D view, empty";
    this.told.at = now;
    if (label === this.told.label) return;
    this.told.label = label;
    this.canvas.setAttribute("aria-label", label);
  }
}

