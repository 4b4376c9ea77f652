// The state of the page, as signals. The viewport and the panels watch them and set the user's choices;
// `connection.ts` sets the data from the server. There is no other communication between these parts.

import { type Body, type Command, type Frame, type Hello, type Mark, type Motion, NO_COLLIDER, type Status } from "./protocol";
import { Signal } from "./signal";

/** The overlays drawn in addition to the bodies. */
export interface Overlays {
  contacts: boolean;
  normals: boolean;
  cones: boolean;
  forces: boolean;
  velocities: boolean;
  bounds: boolean;
  names: boolean;
  joints: boolean;
  trail: boolean;
}

/** The property that a body's color represents. */
export type Coloring = "body" | "island" | "speed" | "rest";

/** The action of a click and a drag in the viewport. Orbit: a click selects, a drag rotates the camera. Throw: a click
 * throws a box. Pull: a drag pulls the body under the pointer with a spring. */
export type Tool = "orbit" | "throw" | "pull";

export type Theme = "dark" | "light";

/** A body by its index, and one of its colliders if it has several; or a contact point by the bodies of its pair, their
 * colliders and its index among their points. Without colliders, it is in the first pair of these bodies. */
export type Selection =
  | { kind: "body"; body: number; collider?: number }
  | { kind: "contact"; a: number; b: number; colliders?: [number, number]; point: number };

export type ContactSelection = Extract<Selection, { kind: "contact" }>;

/** The time series of the run, by column: `hello.columns` has the names, every column one number per row. */
export class Series {
  constructor(
    readonly names: readonly string[],
    readonly columns: readonly number[][],
  ) {}

  get length(): number {
    return this.columns[0]?.length ?? 0;
  }

  /** Returns a column by name; empty if there is none. */
  column(name: string): readonly number[] {
    return this.columns[this.names.indexOf(name)] ?? [];
  }
}

export class Model {
  // Set from the server's messages.
  readonly connection = new Signal<"connecting" | "open" | "lost">("connecting");
  readonly hello = new Signal<Hello | null>(null);
  readonly bodies = new Signal<readonly Body[]>([]);
  readonly status = new Signal<Status | null>(null);
  readonly series = new Signal<Series>(new Series([], []));
  readonly marks = new Signal<readonly Mark[]>([]);
  readonly motion = new Signal<Motion | null>(null);
  /** The frame on display. */
  readonly frame = new Signal<Frame | null>(null);

  // Set by the player. In live mode, `atEnd` means that the newest frame is shown; otherwise the cursor's is.
  readonly cursor = new Signal<number>(0);
  readonly atEnd = new Signal<boolean>(true);
  readonly playing = new Signal<boolean>(false);
  readonly speed = new Signal<number>(1);
  readonly loop = new Signal<boolean>(false);

  // Set by the user.
  readonly selection = new Signal<Selection | null>(null);
  readonly follow = new Signal<boolean>(false);
  readonly tool = new Signal<Tool>("orbit");
  readonly coloring = new Signal<Coloring>("body");
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
    trail: true,
  });
  /** A message to the user, shown for a few seconds. */
  readonly notice = new Signal<string>("");

  /** Sends a command; set by `connection.ts`. */
  send: (command: Command) => void = () => {};

  /** Returns a body's display name. */
  nameOf(body: number): string {
    return this.bodies.value[body]?.name || `body ${body}`;
  }

  /** Returns the display name of a body's collider: that of the body if it has no other, else both. */
  colliderName(body: number, collider: number): string {
    const { length } = this.bodies.value[body]?.colliders ?? [];
    return length === 1 && collider === 0 ? this.nameOf(body) : `${this.nameOf(body)}/${this.ownNameOf(body, collider)}`;
  }

  /** Returns the name of a body's collider without that of the body. */
  ownNameOf(body: number, collider: number): string {
    if (collider === NO_COLLIDER) return "collider added later";
    return this.bodies.value[body]?.colliders[collider]?.name || `collider ${collider}`;
  }

  /** Returns the selected collider of a body with several, by its index in the body's list. */
  selectedCollider(): number | null {
    const selection = this.selection.value;
    return selection?.kind === "body" ? (selection.collider ?? null) : null;
  }

  /** Returns the steps from one displayed frame to the next during playback: more than one if showing every frame would
   * need more than 60 per second. */
  stride(): number {
    const every = this.hello.value?.every ?? 1;
    const dt = this.status.value?.settings.dt;
    if (!dt || !this.playing.value) return every;
    return every * Math.max(1, Math.floor(this.speed.value / (dt * every * 60) + 1e-9));
  }

  /** Returns the recorded step nearest to a step: recorded are multiples of `every`, and the last step. */
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

  /** Returns the selected body, or the second body of the selected contact. */
  selectedBody(): number | null {
    const selection = this.selection.value;
    if (!selection) return null;
    return selection.kind === "body" ? selection.body : selection.b;
  }
}

/** Returns the indices in a frame of a selected contact's pair and point, or null if that point does not exist. */
export function findContact(frame: Frame, selection: ContactSelection): { pair: number; point: number } | null {
  const pair = findPair(frame, selection);
  if (pair < 0 || selection.point >= frame.pairPoints[pair]) return null;
  return { pair, point: frame.pairFirst[pair] + selection.point };
}

/** Returns the index in a frame of a selected contact's pair, or -1. */
export function findPair(frame: Frame, { a, b, colliders }: ContactSelection): number {
  for (let pair = 0; pair < frame.pairCount; pair++) {
    if (frame.pairA[pair] !== a || frame.pairB[pair] !== b) continue;
    if (!colliders || (frame.pairColliderA[pair] === colliders[0] && frame.pairColliderB[pair] === colliders[1])) return pair;
  }
  return -1;
}
