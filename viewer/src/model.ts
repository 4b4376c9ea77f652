// All that the page knows, as signals. Stage and panels watch them and set the user's choices; `session.ts`
// sets what comes from the server; nobody else talks to anybody.

import type { Body, Command, Frame, Hello, Mark, Motion, Status } from "./protocol";
import { Signal } from "./signal";

/** What is drawn besides the bodies. */
export interface Overlays {
  contacts: boolean;
  normals: boolean;
  cones: boolean;
  forces: boolean;
  velocities: boolean;
  bounds: boolean;
  names: boolean;
  joints: boolean;
}

/** What a body's colour tells. */
export type Colouring = "body" | "island" | "speed" | "rest";

/** What a click and a drag on the scene do. Orbit: a click selects, a drag turns the camera. Throw: a click
 * throws a box. Pull: a drag pulls the body under the pointer by a spring. */
export type Tool = "orbit" | "throw" | "pull";

export type Theme = "dark" | "light";

/** A body by its number; a contact point by its pair's bodies and its place among their points. */
export type Selection =
  | { kind: "body"; body: number }
  | { kind: "contact"; a: number; b: number; point: number };

/** The course of the run by columns, which `hello.columns` names: column -> one number a row. */
export class Series {
  constructor(
    readonly names: readonly string[],
    readonly columns: readonly number[][],
  ) {}

  get length(): number {
    return this.columns[0]?.length ?? 0;
  }

  /** A column by its name; empty if there is none. */
  column(name: string): readonly number[] {
    return this.columns[this.names.indexOf(name)] ?? [];
  }
}

export class Model {
  // From the server.
  readonly connection = new Signal<"connecting" | "open" | "lost">("connecting");
  readonly hello = new Signal<Hello | null>(null);
  readonly bodies = new Signal<readonly Body[]>([]);
  readonly status = new Signal<Status | null>(null);
  readonly series = new Signal<Series>(new Series([], []));
  readonly marks = new Signal<readonly Mark[]>([]);
  readonly motion = new Signal<Motion | null>(null);
  /** What is drawn now. */
  readonly frame = new Signal<Frame | null>(null);

  // The player's. In live mode `atEnd` says that the newest frame is shown; else the cursor's is.
  readonly cursor = new Signal<number>(0);
  readonly atEnd = new Signal<boolean>(true);
  readonly playing = new Signal<boolean>(false);
  readonly speed = new Signal<number>(1);
  readonly loop = new Signal<boolean>(false);

  // The user's.
  readonly selection = new Signal<Selection | null>(null);
  readonly follow = new Signal<boolean>(false);
  readonly tool = new Signal<Tool>("orbit");
  readonly colouring = new Signal<Colouring>("body");
  readonly theme = new Signal<Theme>("dark");
  readonly overlays = new Signal<Overlays>({
    contacts: false,
    normals: false,
    cones: false,
    forces: false,
    velocities: false,
    bounds: false,
    names: false,
    joints: true,
  });
  /** A sentence for the user, shown for some seconds. */
  readonly notice = new Signal<string>("");

  /** Sends a command; `session.ts` puts the real one here. */
  send: (command: Command) => void = () => {};

  /** A body's name as shown. */
  nameOf(body: number): string {
    return this.bodies.value[body]?.name || `body ${body}`;
  }

  /** Steps from one picture of a playing recording to the next: more than one when more than 60 a second would
   * have to be drawn. */
  stride(): number {
    const every = this.hello.value?.every ?? 1;
    const dt = this.status.value?.settings.dt;
    if (!dt || !this.playing.value) return every;
    return every * Math.max(1, Math.floor(this.speed.value / (dt * every * 60) + 1e-9));
  }

  /** The step of a frame that there is, nearest to a step: multiples of `every`, and the last one. */
  nearestRecorded(step: number): number {
    const { first_step, last_step } = this.status.value ?? { first_step: 0, last_step: 0 };
    const every = this.hello.value?.every ?? 1;
    const inside = Math.min(Math.max(step, first_step), last_step);
    const near = every * Math.round(inside / every);
    return near > last_step || last_step - inside < Math.abs(inside - near) ? last_step : near;
  }

  toggle(overlay: keyof Overlays): void {
    this.overlays.value = { ...this.overlays.value, [overlay]: !this.overlays.value[overlay] };
  }

  /** The selected body, or the second of a selected contact's. */
  selectedBody(): number | null {
    const chosen = this.selection.value;
    if (!chosen) return null;
    return chosen.kind === "body" ? chosen.body : chosen.b;
  }
}

/** The place in a frame of a selected contact's pair and point, or null if they do not touch any more. */
export function findContact(
  frame: Frame,
  chosen: { a: number; b: number; point: number },
): { pair: number; point: number } | null {
  for (let pair = 0; pair < frame.pairCount; pair++) {
    if (frame.pairA[pair] !== chosen.a || frame.pairB[pair] !== chosen.b) continue;
    if (chosen.point >= frame.pairPoints[pair]) return null;
    return { pair, point: frame.pairFirst[pair] + chosen.point };
  }
  return null;
}
