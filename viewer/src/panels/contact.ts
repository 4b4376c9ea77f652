// The contact panel: explains the solver's result at one contact point in numbers and words.

import { type ContactSelection, findContact, findPair, type Model } from "../model";
import { type Frame, NO_COLLIDER } from "../protocol";
import { h, iconButton, oncePerAnimationFrame, section, setText, textButton } from "./dom";
import { dot, length, significant } from "./format";
import { NumberView, scalarRow, VectorView } from "./values";

/** Relative distance from the cone within which friction counts as at its limit: rounding and solver tolerance. */
const CONE_TOLERANCE = 1e-3;
/** Sliding speed below which a contact sticks, relative to the speed below which nothing bounces. */
const STICK_SPEED_RATIO = 1e-6;

interface ContactValues {
  gap: number;
  normal: Float64Array;
  impulse: Float64Array;
  /** Normal and tangential components of the impulse over the step, N s. */
  normalImpulse: number;
  tangentImpulse: number;
  /** The same for the load that is compared with the cone; `summed` if it is a sum over changing normals. */
  cone: { normalImpulse: number; tangentImpulse: number; summed: boolean };
  /** Sliding speed of the surfaces at the end of the step, m/s. */
  sliding: number;
  friction: number;
  restitution: number;
  approach: number;
  residual: number;
  points: number;
}

/** Returns the length of a vector's tangential component, given its normal component. */
function tangentLength(vector: ArrayLike<number>, normal: ArrayLike<number>, normalComponent: number): number {
  return length([0, 1, 2].map((axis) => vector[axis] - normalComponent * normal[axis]));
}

/** Returns the velocity of the body's material point at a position. */
function velocityAt(frame: Frame, body: number, at: ArrayLike<number>): number[] {
  const row = frame.rowOf(body);
  if (row < 0) return [0, 0, 0];
  const [p, v, w] = [frame.position, frame.velocity, frame.spin].map((list) => list.subarray(3 * row, 3 * row + 3));
  const arm = [0, 1, 2].map((axis) => at[axis] - p[axis]);
  return [0, 1, 2].map((axis) => {
    const [next, last] = [(axis + 1) % 3, (axis + 2) % 3];
    return v[axis] + w[next] * arm[last] - w[last] * arm[next];
  });
}

function slidingSpeed(frame: Frame, pair: number, point: number, normal: ArrayLike<number>): number {
  const at = frame.pointPosition.subarray(3 * point, 3 * point + 3);
  const [a, b] = [frame.pairA[pair], frame.pairB[pair]].map((body) => velocityAt(frame, body, at));
  const relative = [0, 1, 2].map((axis) => b[axis] - a[axis]);
  return tangentLength(relative, normal, dot(relative, normal));
}

function read(frame: Frame, pair: number, point: number): ContactValues {
  const normal = frame.pairNormal.subarray(3 * pair, 3 * pair + 3);
  const impulse = frame.pointImpulse.subarray(3 * point, 3 * point + 3);
  const normalImpulse = dot(impulse, normal);
  const load: [number, number, number] = [0, 0, 0];
  const { summed } = frame.contactLoad(pair, point, load);
  return {
    gap: frame.pointGap[point],
    normal,
    impulse,
    normalImpulse,
    tangentImpulse: tangentLength(impulse, normal, normalImpulse),
    cone: { normalImpulse, tangentImpulse: tangentLength(load, normal, normalImpulse), summed },
    sliding: slidingSpeed(frame, pair, point, normal),
    friction: frame.pairFriction[pair],
    restitution: frame.pairRestitution[pair],
    approach: frame.pointApproach[point],
    residual: frame.pointResidual[point],
    points: frame.pairPoints[pair],
  };
}

export interface ConeUse {
  /** |ft| / (mu fn); NaN without load. */
  use: number;
  state: "no load" | "sticks" | "holds" | "slides" | "no friction" | "impact" | "beyond";
  explanation: string;
}

/** Returns the ratio of friction to its Coulomb limit, and the state of the contact. */
export function coneUse({ normalImpulse, tangentImpulse, summed }: ContactValues["cone"], friction: number, slides: boolean): ConeUse {
  if (!(normalImpulse > 0)) return { use: NaN, state: "no load", explanation: "No load: there is no normal force here, so there is no friction either." };
  if (friction === 0) return { use: 0, state: "no friction", explanation: "No friction: the friction coefficient is zero." };
  const use = tangentImpulse / (friction * normalImpulse);
  if (summed) return { use, state: "impact", explanation: "An impact, or a contact that ended before the end of the step: friction summed over the step, relative to the last normal." };
  if (use > 1 + CONE_TOLERANCE) return { use, state: "beyond", explanation: "Outside the cone: more friction than Coulomb's law allows for this load." };
  if (use >= 1 - CONE_TOLERANCE && slides) return { use, state: "slides", explanation: "Slides: friction is at its limit and the surfaces move." };
  if (use >= 1 - CONE_TOLERANCE) return { use, state: "holds", explanation: "Holds: friction is at its limit at this point, but the surfaces do not move. How the points of a face share the load is indeterminate." };
  return { use, state: "sticks", explanation: "Sticks: friction is below its limit and holds the surfaces together." };
}

/** Returns the approach speed below which an impact does not bounce, m/s: the rest speed, or the speed gained from
 * gravity in a substep if that is larger. */
function bounceThresholdOf(model: Model, dt: number): number {
  const settings = model.status.value?.settings;
  if (!settings) return NaN;
  return Math.max(settings.rest_speed, (length(settings.gravity) * dt) / settings.substeps);
}

function bounceText({ approach, restitution }: ContactValues, bounceThreshold: number): string {
  const pair = `The pair's coefficient is ${significant(restitution, 4)}.`;
  if (approach > bounceThreshold) return "Ratio of rebound speed to approach speed in this impact: 0 no rebound, 1 elastic.";
  if (approach > 0) return `Not applied: impacts slower than ${significant(bounceThreshold, 3)} m/s do not bounce. ${pair}`;
  return `Not applied: there was no impact. ${pair}`;
}

/** Creates a row with an explanation below it. */
function withExplanation(row: HTMLElement, sentence: string | HTMLElement): HTMLElement {
  return h("div", { class: "explained" }, row, typeof sentence === "string" ? h("p", {}, sentence) : sentence);
}

class ContactView {
  readonly title = h("h3", { id: "contact-bodies" });
  readonly points = h("span", { id: "contact-point" });
  private readonly normal = new VectorView("contact-normal", "Normal, from the first body to the second", "");
  private readonly gap = new NumberView("contact-depth");
  private readonly gapLabel: Element;
  private readonly gapText = h("p", {});
  private readonly normalImpulse = new NumberView("contact-normal-impulse");
  private readonly normalForce = new NumberView("contact-normal-force");
  private readonly tangentImpulse = new NumberView("contact-friction-impulse");
  private readonly frictionForce = new NumberView("contact-friction-force");
  private readonly use = new NumberView("contact-cone-use", 4);
  private readonly state = h("strong", { id: "contact-state" });
  private readonly bar = h("div", { class: "bar-fill" });
  private readonly useText = h("p", {});
  private readonly friction = new NumberView("contact-friction");
  private readonly sliding = new NumberView("contact-sliding");
  private readonly approach = new NumberView("contact-approach");
  private readonly approachText = h("p", {});
  private readonly restitution = new NumberView("contact-restitution");
  private readonly restitutionText = h("p", { id: "contact-restitution-text" });
  private readonly residual = new NumberView("contact-residual");
  readonly fields: HTMLElement;

  constructor() {
    const gapRow = scalarRow("Depth", this.gap, "m");
    this.gapLabel = gapRow.firstElementChild!;
    const meter = h("div", { id: "contact-bar", class: "bar", role: "img" }, this.bar, h("div", { class: "bar-limit" }));
    this.fields = h(
      "div",
      {},
      withExplanation(
        h("div", {}, scalarRow("Normal impulse", this.normalImpulse, "N s"), scalarRow("as mean force", this.normalForce, "N")),
        "Impulse along the normal over the step; the mean force is the impulse divided by the time step.",
      ),
      withExplanation(
        h("div", {}, scalarRow("Friction impulse", this.tangentImpulse, "N s"), scalarRow("as mean force", this.frictionForce, "N")),
        "Impulse tangential to the surfaces, which opposes sliding.",
      ),
      withExplanation(h("div", {}, scalarRow("Cone use", this.use, "", " ", this.state), meter), this.useText),
      withExplanation(
        scalarRow("Friction coefficient", this.friction, ""),
        "Maximum friction force divided by normal force.",
      ),
      withExplanation(
        scalarRow("Sliding speed", this.sliding, "m/s"),
        "Relative tangential speed of the surfaces at the end of the step.",
      ),
      withExplanation(gapRow, this.gapText),
      withExplanation(scalarRow("Approach speed", this.approach, "m/s"), this.approachText),
      withExplanation(scalarRow("Restitution used", this.restitution, ""), this.restitutionText),
      withExplanation(
        scalarRow("Residual", this.residual, "m/s"),
        "Violation of the contact law at this point, as a speed; 0 is exact.",
      ),
      withExplanation(this.normal.element, "Direction of the normal force on the second body."),
    );
  }

  show(found: ContactValues, dt: number, bounceThreshold: number): void {
    const deep = found.gap < 0;
    this.normal.set(found.normal);
    setText(this.gapLabel, deep ? "Depth" : "Gap");
    this.gap.set(Math.abs(found.gap));
    setText(this.gapText, deep ? "Overlap of the surfaces at the end of the step. Rigid bodies should not overlap; a small amount remains from time stepping." : "Distance between the surfaces at the end of the step: they do not overlap.");
    this.normalImpulse.set(found.normalImpulse);
    this.normalForce.set(found.normalImpulse / dt);
    this.tangentImpulse.set(found.tangentImpulse);
    this.frictionForce.set(found.tangentImpulse / dt);
    this.friction.set(found.friction);
    this.approach.set(found.approach);
    setText(this.approachText, found.approach > 0 ? "Normal speed at which the surfaces collided in this step." : "No impact in this step: the contact is persistent or at rest.");
    const bounce = found.approach > bounceThreshold;
    this.restitution.set(bounce ? found.restitution : 0);
    setText(this.restitutionText, bounceText(found, bounceThreshold));
    this.residual.set(found.residual);
    if (Number.isNaN(found.residual)) setText(this.residual.element, "not measured");
    this.sliding.set(found.sliding);
    this.showCone(coneUse(found.cone, found.friction, found.sliding > STICK_SPEED_RATIO * bounceThreshold));
  }

  private showCone({ use, state, explanation }: ConeUse): void {
    this.use.set(use);
    if (Number.isNaN(use)) setText(this.use.element, "-");
    setText(this.state, state);
    setText(this.useText, explanation);
    const bar = this.bar.parentElement!;
    bar.dataset.state = state;
    const percent = Number.isNaN(use) ? 0 : Math.min(use, 1.25) * 80;
    this.bar.style.width = `${percent}%`;
    bar.setAttribute("aria-label", `cone use ${Number.isNaN(use) ? "none" : significant(use, 3)} of 1`);
  }
}

/** Returns the number of contact points of a pair; -1 if the frame has no such pair. */
function pointsOf(frame: Frame, selection: ContactSelection): number {
  const pair = findPair(frame, selection);
  return pair < 0 ? -1 : frame.pairPoints[pair];
}

/** Returns the colliders of a selected contact: those of its pair if it does not name them. */
function collidersOf(model: Model, selection: ContactSelection): [number, number] | null {
  const frame = model.frame.value;
  if (selection.colliders || !frame) return selection.colliders ?? null;
  const pair = findPair(frame, selection);
  return pair < 0 ? null : [frame.pairColliderA[pair], frame.pairColliderB[pair]];
}

function missingText(names: string, step: number, points: number): string {
  if (points > 0) return `${names} have fewer contact points at step ${step}: this one does not exist.`;
  if (points === 0) return `${names} touched during step ${step} but separated before its end: there is no contact point.`;
  return `${names} do not touch at step ${step}.`;
}

/** Opens the section and scrolls to its top, except while the user is in the list of events, which must not move under
 * the pointer. */
function reveal(root: HTMLDetailsElement): void {
  root.open = true;
  if (root.parentElement && !document.activeElement?.closest("#events-section")) root.parentElement.scrollTop = 0;
}

export function createContact(model: Model): HTMLElement {
  const view = new ContactView();
  const gone = h("p", { id: "contact-gone", class: "problem", hidden: true });
  const move = (by: 1 | -1) => {
    const selection = model.selection.value;
    const frame = model.frame.value;
    if (selection?.kind !== "contact") return;
    const count = Math.max(1, frame ? pointsOf(frame, selection) : 1);
    model.selection.value = { ...selection, point: (selection.point + by + count) % count };
  };
  const select = (which: "a" | "b") => {
    const selection = model.selection.value;
    if (selection?.kind !== "contact") return;
    const body = selection[which];
    const collider = collidersOf(model, selection)?.[which === "a" ? 0 : 1];
    const several = (model.bodies.value[body]?.colliders.length ?? 0) > 1 && collider !== undefined && collider !== NO_COLLIDER;
    model.selection.value = { kind: "body", body, ...(several && { collider }) };
  };
  const first = textButton("contact-body-a", "", "Select the first body", () => select("a"));
  const second = textButton("contact-body-b", "", "Select the second body", () => select("b"));
  const previous = iconButton("contact-previous", "back", "Previous point of this pair", "", () => move(-1));
  const next = iconButton("contact-next", "forward", "Next point of this pair", "", () => move(1));
  const root = section(
    "contact-section", "Explain this contact", "inspect", true,
    view.title,
    h("div", { class: "chips" }, previous, view.points, next),
    h("div", { class: "chips" }, first, second),
    gone,
    view.fields,
  );

  const show = oncePerAnimationFrame(() => {
    const selection = model.selection.value;
    root.hidden = selection?.kind !== "contact";
    if (selection?.kind !== "contact") return;
    const colliders = collidersOf(model, selection);
    const name = (body: number, collider?: number) =>
      collider === undefined ? model.nameOf(body) : model.colliderName(body, collider);
    const [a, b] = [name(selection.a, colliders?.[0]), name(selection.b, colliders?.[1])];
    setText(view.title, `${a} and ${b}`);
    setText(first, a);
    setText(second, b);
    const frame = model.frame.value;
    const found = frame && findContact(frame, selection);
    gone.hidden = !frame || found !== null;
    view.fields.hidden = !found;
    previous.disabled = next.disabled = !found;
    if (!frame) return;
    if (found) {
      const values = read(frame, found.pair, found.point);
      setText(view.points, `point ${selection.point + 1} of ${values.points}`);
      previous.disabled = next.disabled = values.points < 2;
      view.show(values, frame.dt, bounceThresholdOf(model, frame.dt));
      return;
    }
    const points = pointsOf(frame, selection);
    previous.disabled = next.disabled = points < 1;
    setText(view.points, `point ${selection.point + 1}`);
    setText(gone, missingText(`${a} and ${b}`, frame.step, points));
  });
  let pair = "";
  model.selection.watch((selection) => {
    const now = selection?.kind === "contact" ? `${selection.a} ${selection.b} ${selection.colliders}` : "";
    if (now && now !== pair) reveal(root);
    pair = now;
    show();
  });
  model.frame.watch(show);
  model.bodies.watch(show);
  return root;
}
