// Pointer input: clicks select or throw, drags pull. All other drags move the camera.

import { Group, Plane, Vector3 } from "three";
import type { Model } from "../model";
import type { Frame, Vec3 } from "../protocol";
import type { Scale } from "./bounds";
import type { OrbitCamera } from "./camera";
import { Dots } from "./dots";
import { WideLines } from "./lines";
import type { FloatingOrigin } from "./floating-origin";
import { OVERLAY_COLORS } from "./palette";
import { type Picker, toVec3 } from "./pick";
import { bodyPose, newPose } from "./pose";

/** Movement above which a click becomes a drag, CSS pixels: larger for touch, which is less steady. */
const CLICK_PX = { fine: 4, coarse: 10 };
/** Time and distance within which two taps are a double tap, ms and CSS pixels. */
const DOUBLE_TAP_MS = 350;
const DOUBLE_TAP_PX = 24;

function isTouch(event: PointerEvent): boolean {
  return event.pointerType === "touch";
}

function isLive(model: Model): boolean {
  return model.hello.value?.mode === "live";
}

function gravityOf(model: Model): Vec3 {
  return (model.status.value ?? model.hello.value)?.settings.gravity ?? [0, 0, 0];
}

/** Throws a cube of the bodies' median size and density along the ray through a position in the window. */
export function throwBox(
  model: Model,
  picker: Picker,
  orbit: OrbitCamera,
  scale: Scale,
  origin: FloatingOrigin,
  x: number,
  y: number,
): void {
  const hit = picker.surface(x, y);
  const { ray } = picker.raycaster;
  const { edge, radius, density } = scale;
  // Start in front of the camera or, if that is far away, just outside the scene.
  let start = Math.max(4 * edge, orbit.distance - 2 * radius);
  // But not inside another body.
  if (hit) start = Math.max(Math.min(start, hit.distance - 2 * edge), edge);
  const from = origin.toWorld(ray.at(start, new Vector3()));
  const gravity = Math.hypot(...gravityOf(model));
  // Without gravity there is no reference speed: cross the scene in half a second.
  const speed = gravity > 0 ? 2 * Math.sqrt(gravity * 2 * radius) : 4 * radius;
  const velocity = toVec3(ray.direction.clone().multiplyScalar(speed));
  const half = edge / 2;
  model.atEnd.value = true;
  model.send({ do: "throw", from, velocity, half_extents: [half, half, half], mass: density * edge ** 3 });
}

/** The pull tool, which drags a body at a point of its surface. */
export class PullTool {
  readonly root = new Group();
  private held: { body: number; pointer: number } | null = null;
  /** The grabbed point in the body's axes, the target it is pulled to, and the plane in which the target moves. */
  private readonly anchor = new Vector3();
  private readonly target = new Vector3();
  private readonly plane = new Plane();
  private unsent = false;
  private readonly pose = newPose();
  private readonly dots = new Dots();
  private readonly line = new WideLines(2.5);

  constructor(
    private readonly model: Model,
    private readonly picker: Picker,
    private readonly orbit: OrbitCamera,
    private readonly origin: FloatingOrigin,
    /** Returns the frame on display. */
    private readonly drawnFrame: () => Frame | null,
  ) {
    this.line.setColor(OVERLAY_COLORS.pull);
    this.root.add(this.line.object, this.dots.root);
    this.root.visible = false;
  }

  get pointer(): number | null {
    return this.held?.pointer ?? null;
  }

  setPixels(height: number, ratio: number): void {
    this.dots.setPixels(height, ratio);
  }

  /** Grabs the body at a position in the window; returns false if there is no inertial body. */
  grab(pointer: number, x: number, y: number): boolean {
    const { model } = this;
    const frame = this.drawnFrame();
    const hit = this.picker.surface(x, y);
    if (!frame || !hit || hit.body === null) return false;
    const row = frame.rowOf(hit.body);
    if (row < 0 || model.bodies.value[hit.body]?.kind !== "inertial") return false;
    this.held = { body: hit.body, pointer };
    this.unsent = false;
    const { pose } = this;
    bodyPose(frame, row, pose);
    const away = hit.point.clone().sub(new Vector3(pose[9], pose[10], pose[11]));
    this.anchor.set(
      away.x * pose[0] + away.y * pose[1] + away.z * pose[2],
      away.x * pose[3] + away.y * pose[4] + away.z * pose[5],
      away.x * pose[6] + away.y * pose[7] + away.z * pose[8],
    );
    this.target.copy(hit.point);
    const facing = this.orbit.camera.getWorldDirection(new Vector3());
    this.plane.setFromNormalAndCoplanarPoint(facing, hit.point);
    model.atEnd.value = true; // Show the current state of the pulled body.
    const anchor = this.anchor.toArray() as Vec3;
    model.send({ do: "grab", body: hit.body, anchor, to: this.origin.toWorld(hit.point) });
    return true;
  }

  move(x: number, y: number): void {
    if (!this.held) return;
    this.picker.aim(x, y);
    if (this.picker.raycaster.ray.intersectPlane(this.plane, this.target)) this.unsent = true;
  }

  release(): void {
    if (!this.held) return;
    this.send();
    this.held = null;
    this.root.visible = false;
    this.model.send({ do: "release" });
  }

  /** Releases the body without a command to the server, because the scene has changed. */
  cancel(): void {
    this.held = null;
    this.unsent = false;
    this.root.visible = false;
  }

  /** Sends the target if it has moved, and returns whether it has. Call once per animation frame. */
  send(): boolean {
    if (!this.held) return false;
    if (!this.unsent) return false;
    this.unsent = false;
    this.model.send({ do: "drag", to: this.origin.toWorld(this.target) });
    return true;
  }

  /** Draws the line from the grabbed point to the target. */
  draw(scale: Scale): void {
    const frame = this.drawnFrame();
    const row = this.held && frame ? frame.rowOf(this.held.body) : -1;
    this.root.visible = row >= 0;
    if (row < 0) return;
    const { pose, anchor, target } = this;
    bodyPose(frame!, row, pose);
    const from = [0, 1, 2].map(
      (axis) => pose[9 + axis] + pose[axis] * anchor.x + pose[3 + axis] * anchor.y + pose[6 + axis] * anchor.z,
    );
    this.line.begin(1);
    this.line.add(from[0], from[1], from[2], target.x, target.y, target.z);
    this.line.end();
    this.dots.begin(2);
    this.dots.add(from[0], from[1], from[2], 0.05 * scale.edge, OVERLAY_COLORS.pull);
    this.dots.add(target.x, target.y, target.z, 0.08 * scale.edge, OVERLAY_COLORS.loaded);
    this.dots.end();
  }
}

/** The dispatcher of pointer events: distinguishes clicks from drags. */
export class PointerInput {
  /** Clicks since the last drag, and the last of them. */
  private clicks = 0;
  private last = { at: -Infinity, x: 0, y: 0 };
  private down: { pointer: number; x: number; y: number; moved: boolean } | null = null;

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly model: Model,
    private readonly pull: PullTool,
    private readonly orbit: OrbitCamera,
    private readonly click: (x: number, y: number, touch: boolean) => void,
    private readonly doubleClick: (x: number, y: number) => void,
  ) {
    // Runs before the camera's listeners, which must not receive the start of a pull.
    canvas.addEventListener("pointerdown", (event) => this.onDown(event), { capture: true });
    canvas.addEventListener("pointermove", (event) => this.onMove(event));
    canvas.addEventListener("pointerup", (event) => this.onUp(event));
    canvas.addEventListener("dblclick", (event) => this.onDoubleClick(event));
    canvas.addEventListener("pointercancel", (event) => this.onEnd(event));
    canvas.addEventListener("lostpointercapture", (event) => this.onEnd(event));
  }

  private pulls(event: PointerEvent): boolean {
    const tool = this.model.tool.value;
    return isLive(this.model) && (tool === "pull" || (tool === "orbit" && event.shiftKey));
  }

  private onDown(event: PointerEvent): void {
    if (this.pull.pointer !== null) {
      event.stopImmediatePropagation();
      return;
    }
    if (event.button !== 0 || this.down) {
      // A second finger or another button: not a click.
      if (this.down) this.down.moved = true;
      return;
    }
    const { pointerId: pointer, clientX: x, clientY: y } = event;
    if (this.pulls(event) && this.pull.grab(pointer, x, y)) {
      event.stopImmediatePropagation();
      this.orbit.controls.enabled = false;
      try {
        this.canvas.setPointerCapture(pointer);
      } catch {
        // The pointer has been released already; its end event will follow.
      }
      return;
    }
    this.down = { pointer, x, y, moved: false };
  }

  private onMove(event: PointerEvent): void {
    if (this.pull.pointer === event.pointerId) this.pull.move(event.clientX, event.clientY);
    const { down } = this;
    if (down?.pointer !== event.pointerId) return;
    const limit = isTouch(event) ? CLICK_PX.coarse : CLICK_PX.fine;
    if (Math.hypot(event.clientX - down.x, event.clientY - down.y) > limit) down.moved = true;
  }

  private onUp(event: PointerEvent): void {
    const { down } = this;
    this.onMove(event);
    this.onEnd(event);
    if (!down || down.pointer !== event.pointerId) return;
    this.clicks = down.moved ? 0 : this.clicks + 1;
    if (down.moved) return;
    const { clientX: x, clientY: y, timeStamp: at } = event;
    this.click(x, y, isTouch(event));
    const { last } = this;
    const again = at - last.at < DOUBLE_TAP_MS && Math.hypot(x - last.x, y - last.y) <= DOUBLE_TAP_PX;
    if (isTouch(event) && again) this.doubleClick(x, y);
    // A third tap is not another double tap.
    this.last = { at: again ? -Infinity : at, x, y };
  }

  /** Handles a double click of a mouse, whose speed the user has chosen in the system; not two short drags. */
  private onDoubleClick(event: MouseEvent): void {
    if (this.clicks >= 2) this.doubleClick(event.clientX, event.clientY);
  }

  private onEnd(event: PointerEvent): void {
    if (this.down?.pointer === event.pointerId && event.type !== "lostpointercapture") this.down = null;
    if (this.pull.pointer !== event.pointerId) return;
    this.pull.release();
    this.orbit.controls.enabled = true;
  }

  /** Cancels a pull because the scene has changed. */
  reset(): void {
    this.pull.cancel();
    this.orbit.controls.enabled = true;
  }
}
