// The inspector: properties and state of the selected body, and its contacts.

import { findPair, type Model } from "../model";
import { type Body, type Collider, type Frame, NO_ISLAND, type Quat, type Settings } from "../protocol";
import type { Viewport } from "../viewport/viewport";
import { h, oncePerAnimationFrame, section, setPressed, setText, textButton, throttled } from "./dom";
import { axisAngle, dot, length, plural, shapeText, significant } from "./format";
import { NumberView, scalarRow, textRow, VectorView } from "./values";

/** Maximum number of contacts listed: a floor may have thousands. */
const MAX_CONTACTS = 60;
/** Maximum number of colliders listed. */
const MAX_COLLIDERS = 100;

export function createInspector(model: Model, viewport: Viewport): HTMLElement {
  const hint = h("p", { id: "no-selection", class: "dim" }, "Click a body in the scene or in the list to select it.");
  const bodyFields = new BodyFields(model);
  const stateFields = new StateFields();
  const contacts = new ContactList(model);
  const absent = h("p", { id: "body-absent", class: "dim", hidden: true });
  const follow = keyButton("follow", "Follow", "G", "Keep the camera on this body", () => (model.follow.value = !model.follow.value));
  const frameButton = keyButton("frame-body", "Frame", "E", "Zoom to this body", () => frameBody(model, viewport));
  const clear = keyButton("clear-selection", "Clear", "Esc", "Clear the selection", () => (model.selection.value = null));
  model.follow.watch((on) => setPressed(follow, on));
  const content = h(
    "div",
    { class: "fields", hidden: true },
    bodyFields.element,
    h("div", { class: "chips" }, follow, frameButton, clear),
    absent,
    stateFields.element,
    contacts.element,
  );
  const root = section("inspector", "Body", "inspect", true, hint, content);

  const showState = oncePerAnimationFrame(() => {
    const body = model.selectedBody();
    const frame = model.frame.value;
    if (body === null) return;
    const row = frame ? frame.rowOf(body) : -1;
    stateFields.element.hidden = row < 0;
    absent.hidden = row >= 0;
    setText(absent, frame ? `This body does not exist at step ${frame.step}.` : "Loading…");
    if (frame && row >= 0) stateFields.show(frame, row, model.bodies.value[body]);
  });
  const showContacts = throttled(150, () => contacts.show());
  const showBody = () => {
    const body = model.selectedBody();
    const info = body === null ? undefined : model.bodies.value[body];
    hint.hidden = info !== undefined;
    content.hidden = info === undefined;
    if (body !== null && info) bodyFields.show(body, info);
    showState();
    showContacts();
  };
  model.selection.watch(showBody);
  model.bodies.watch(showBody);
  model.status.watch(throttled(500, showBody));
  model.frame.watch(() => {
    showState();
    showContacts();
  });
  return root;
}

/** Creates a button that shows its key. */
function keyButton(id: string, text: string, key: string, title: string, click: () => void): HTMLButtonElement {
  const button = textButton(id, text, `${title} (${key})`, click);
  button.append(h("kbd", { "aria-hidden": "true" }, key));
  return button;
}

/** Frames the selected body. */
export function frameBody(model: Model, viewport: Viewport): void {
  const body = model.selectedBody();
  if (body !== null) viewport.frameBody(body);
  else model.notice.value = "Select a body to frame first.";
}

/** Returns what is special about a collider. */
const noteOf = ({ sensor, enabled }: Collider) => (enabled ? (sensor ? "; sensor" : "") : "; disabled");

/** The constant properties of a body, and its colliders. */
class BodyFields {
  private readonly name = h("h3", { id: "body-name" });
  private readonly kind = h("span", { id: "body-kind" });
  private readonly shape = h("span", { id: "body-shape" });
  private readonly mass = new NumberView("body-mass");
  private readonly massRow = scalarRow("Mass", this.mass, "kg");
  private readonly friction = new NumberView("body-friction");
  private readonly restitution = new NumberView("body-restitution");
  private readonly list = h("ul", { id: "body-colliders", class: "plain-list" });
  private readonly listTitle = h("h4", {});
  private readonly shapeRow = textRow("Shape", this.shape);
  private readonly frictionRow = scalarRow("Friction", this.friction, "");
  private readonly restitutionRow = scalarRow("Restitution", this.restitution, "");
  readonly element = h(
    "div",
    {},
    this.name,
    textRow("Kind", this.kind),
    this.shapeRow,
    this.massRow,
    this.frictionRow,
    this.restitutionRow,
    this.listTitle,
    this.list,
  );

  constructor(private readonly model: Model) {}

  show(index: number, body: Body): void {
    const settings = this.model.status.value?.settings;
    setText(this.name, this.model.nameOf(index));
    this.name.dataset.body = String(index);
    const fixed = body.kind === "environment";
    setText(this.kind, `${fixed ? "environment (contacts do not move it)" : "inertial"}, index ${index}`);
    this.massRow.hidden = fixed;
    this.mass.set(body.mass);
    const { colliders } = body;
    const only = colliders.length === 1 ? colliders[0] : null;
    this.shapeRow.hidden = only === null && colliders.length > 0;
    setText(this.shape, only ? `${shapeText(only.shape)}${noteOf(only)}` : "none");
    this.frictionRow.hidden = this.restitutionRow.hidden = only === null;
    if (only) {
      this.friction.set(settings?.friction ?? only.friction);
      this.restitution.set(settings?.restitution ?? only.restitution);
    }
    this.listTitle.hidden = this.list.hidden = colliders.length < 2;
    setText(this.listTitle, `${colliders.length} colliders`);
    const shown = colliders.length < 2 ? [] : colliders.slice(0, MAX_COLLIDERS);
    if (shown.length < colliders.length && shown.length > 0) setText(this.listTitle, `${colliders.length} colliders, the first ${MAX_COLLIDERS}:`);
    shown.forEach((collider, place) => this.fill(place, index, collider, settings));
    while (this.list.children.length > shown.length) this.list.lastElementChild!.remove();
  }

  /** Fills a row of the list of colliders. Rows are reused, so that a click hits the row under the pointer. */
  private fill(place: number, body: number, collider: Collider, settings: Settings | undefined): void {
    const { model } = this;
    const button = (this.list.children[place] ?? this.list.appendChild(this.newRow(place))).firstElementChild as HTMLElement;
    const [name, note] = button.children;
    setText(name, model.ownNameOf(body, place));
    const friction = significant(settings?.friction ?? collider.friction, 4);
    const restitution = significant(settings?.restitution ?? collider.restitution, 4);
    setText(note, `${shapeText(collider.shape)}; friction ${friction}, restitution ${restitution}${noteOf(collider)}`);
    button.title = `Select this collider of ${model.nameOf(body)}`;
    const isSelected = model.selectedCollider() === place;
    if (isSelected && button.ariaPressed !== "true") this.reveal(button);
    setPressed(button, isSelected);
  }

  /** Scrolls the list to a row, but not the panel. */
  private reveal(row: HTMLElement): void {
    const { list } = this;
    const at = row.offsetTop - list.offsetTop;
    list.scrollTop = Math.max(at + row.offsetHeight - list.clientHeight, Math.min(at, list.scrollTop));
  }

  private newRow(collider: number): HTMLElement {
    const { model } = this;
    const select = () => {
      const body = model.selectedBody();
      if (body === null) return;
      // A click on the selected collider selects the whole body again.
      model.selection.value = { kind: "body", body, ...(model.selectedCollider() !== collider && { collider }) };
    };
    const button = h(
      "button",
      { type: "button", class: "row-button stacked", on: { click: select } },
      h("span", { class: "name" }),
      h("span", { class: "dim" }),
    );
    return h("li", {}, button);
  }
}

/** The pose and velocity of a body. */
class StateFields {
  private readonly position = new VectorView("body-position", "Position", "m");
  private readonly orientation = new VectorView("body-orientation", "Orientation as a quaternion", "", "xyzw");
  private readonly axis = new VectorView("body-axis", "about the axis", "");
  private readonly angle = new NumberView("body-angle");
  private readonly velocity = new VectorView("body-velocity", "Velocity", "m/s");
  private readonly speed = new NumberView("body-speed");
  private readonly spin = new VectorView("body-spin", "Angular velocity", "rad/s");
  private readonly energy = new NumberView("body-energy");
  private readonly energyRow = scalarRow("Translational kinetic energy", this.energy, "J");
  private readonly island = h("span", { id: "body-island" });
  readonly element = h(
    "div",
    {},
    this.position.element,
    this.velocity.element,
    scalarRow("Speed", this.speed, "m/s"),
    this.spin.element,
    scalarRow("Orientation: turned by", this.angle, "°"),
    this.axis.element,
    this.orientation.element,
    this.energyRow,
    textRow("Island", this.island),
  );

  show(frame: Frame, row: number, body: Body): void {
    const three = (list: Float64Array) => list.subarray(3 * row, 3 * row + 3);
    const rotation = [...frame.rotation.subarray(4 * row, 4 * row + 4)] as Quat;
    const { axis, angle } = axisAngle(rotation);
    const speed = length(three(frame.velocity));
    this.position.set(three(frame.position));
    this.velocity.set(three(frame.velocity));
    this.spin.set(three(frame.spin));
    this.orientation.set(rotation);
    this.axis.set(axis);
    this.angle.set(angle);
    this.speed.set(speed);
    this.energyRow.hidden = body.kind === "environment";
    this.energy.set(0.5 * body.mass * speed * speed);
    const island = frame.island[row];
    setText(this.island, island === NO_ISLAND ? "none" : String(island));
    this.island.dataset.value = island === NO_ISLAND ? "" : String(island);
  }
}

/** The contact pairs of a body. Row elements are reused, so that a click hits the row under the pointer. */
class ContactList {
  private readonly title = h("h4", {});
  private readonly list = h("ul", { id: "body-contacts", class: "plain-list" });
  readonly element = h("div", {}, this.title, this.list);

  constructor(private readonly model: Model) {}

  show(): void {
    const { model } = this;
    const frame = model.frame.value;
    const body = model.selectedBody();
    if (!frame || body === null) return;
    let count = 0;
    for (let pair = 0; pair < frame.pairCount; pair++) {
      if (frame.pairA[pair] !== body && frame.pairB[pair] !== body) continue;
      if (count < MAX_CONTACTS) this.fill(count, frame, pair, body);
      count++;
    }
    const rows = this.list.children;
    while (rows.length > Math.min(count, MAX_CONTACTS)) rows[rows.length - 1].remove();
    const more = count > MAX_CONTACTS ? `, the first ${MAX_CONTACTS}:` : "";
    setText(this.title, count === 0 ? "No contacts at this step" : `In contact with ${plural(count, "collider")}${more}`);
  }

  private fill(row: number, frame: Frame, pair: number, body: number): void {
    const button = (this.list.children[row] ?? this.list.appendChild(this.newRow())).firstElementChild as HTMLElement;
    const [a, b] = [frame.pairA[pair], frame.pairB[pair]];
    button.dataset.a = String(a);
    button.dataset.b = String(b);
    const colliders: [number, number] = [frame.pairColliderA[pair], frame.pairColliderB[pair]];
    [button.dataset.colliderA, button.dataset.colliderB] = colliders.map(String);
    const normal = frame.pairNormal.subarray(3 * pair, 3 * pair + 3);
    const impulse = frame.pairImpulse.subarray(3 * pair, 3 * pair + 3);
    const force = dot(impulse, normal) / frame.dt;
    const [name, note] = button.children;
    const { model } = this;
    const [own, other] = a === body ? colliders : [colliders[1], colliders[0]];
    const isOnly = model.bodies.value[body]?.colliders.length === 1;
    setText(name, `${isOnly ? "" : `${model.ownNameOf(body, own)}: `}${model.colliderName(a === body ? b : a, other)}`);
    const points = frame.pairPoints[pair];
    setText(note, points === 0 ? "touched and separated" : `${significant(force, 4)} N, ${plural(points, "point")}`);
    button.title = "Explain this contact";
    const selection = this.model.selection.value;
    const isShown = selection?.kind === "contact" && findPair(frame, selection) === pair;
    setPressed(button, isShown);
  }

  private newRow(): HTMLElement {
    const select = () => {
      const { a, b, colliderA, colliderB } = button.dataset;
      const colliders: [number, number] = [Number(colliderA), Number(colliderB)];
      this.model.selection.value = { kind: "contact", a: Number(a), b: Number(b), colliders, point: 0 };
    };
    const button = h(
      "button",
      { type: "button", class: "row-button", on: { click: select } },
      h("span", { class: "name" }),
      h("span", { class: "dim" }),
    );
    return h("li", {}, button);
  }
}
