// Controls of the live simulation. The fields show the server's status; a value the user enters is sent and comes back
// with the next status, or is rejected.

import type { Model, Tool } from "../model";
import type { Player } from "../player";
import type { Body, Hello, Vec3 } from "../protocol";
import { h, section, setPressed, setText, textButton } from "./dom";

/** A number field. Its value is sent on Enter or when the field loses focus, if it is valid and has changed. */
class NumberInput {
  readonly input: HTMLInputElement;
  private sent = "";

  constructor(
    id: string,
    private readonly label: string,
    private readonly model: Model,
    private readonly commit: (value: number) => void,
  ) {
    this.input = h("input", {
      id,
      type: "text",
      inputmode: "text",
      autocomplete: "off",
      spellcheck: "false",
      "aria-label": label,
      title: label,
      on: {
        input: () => this.check(),
        blur: () => this.done(),
        keydown: (event) => {
          if (event.key === "Enter") this.done();
          if (event.key === "Escape") this.undo();
        },
      },
    });
  }

  /** Shows the current value, unless the user is typing. */
  show(value: number | null): void {
    if (document.activeElement === this.input) return;
    const text = value === null ? "" : String(Number(value.toPrecision(7)));
    this.sent = text;
    if (this.input.value === text) return;
    this.input.value = text;
    this.check();
  }

  private check(): boolean {
    const text = this.input.value.trim();
    const valid = text === this.sent || (text !== "" && Number.isFinite(Number(text)));
    if (valid) this.input.removeAttribute("aria-invalid");
    else this.input.setAttribute("aria-invalid", "true");
    return valid;
  }

  private undo(): void {
    this.input.value = this.sent;
    this.check();
  }

  private done(): void {
    const text = this.input.value.trim();
    if (!this.check()) this.model.notice.value = `${this.label}: "${text}" is not a number.`;
    if (!this.check() || text === this.sent) return;
    this.sent = text;
    this.commit(Number(text));
  }

  get value(): number {
    const text = this.input.value.trim();
    return text === "" ? NaN : Number(text);
  }
}

const TOOLS: readonly { value: Tool; name: string; title: string }[] = [
  { value: "orbit", name: "Orbit", title: "Drag to rotate the camera, click to select (O)" },
  { value: "throw", name: "Throw", title: "Click to throw a box (T)" },
  { value: "pull", name: "Pull", title: "Drag to pull a body with a spring (P)" },
];

const GRAVITIES: readonly { id: string; name: string; size: number }[] = [
  { id: "earth", name: "Earth", size: 9.81 },
  { id: "moon", name: "Moon", size: 1.62 },
  { id: "none", name: "None", size: 0 },
];

export function createLive(model: Model, player: Player): HTMLElement {
  const root = section(
    "live-section", "Simulation", "live", true,
    runButtons(model, player),
    toolButtons(model),
    h("p", { id: "live-rate", class: "dim" }),
    choiceField(model, "accuracy", "Accuracy", (hello) => hello.accuracies),
    ...gravityFields(model),
    stepField(model),
    choiceField(model, "solver", "Solver", (hello) => hello.solvers),
    ...materialFields(model),
  );
  const rate = root.querySelector("#live-rate")!;
  model.status.watch((status) => {
    if (!status) return;
    const rateNow = Math.round(status.steps_per_second);
    setText(rate, status.running ? `${rateNow} steps per second` : `Paused at step ${status.last_step}`);
  });
  model.hello.watch((hello) => (root.hidden = hello?.mode !== "live"));
  return root;
}

function runButtons(model: Model, player: Player): HTMLElement {
  const run = textButton("live-run", "Run", "Run the simulation (Space)", () => !model.status.value?.running && player.toggle());
  const pause = textButton("live-pause", "Pause", "Pause the simulation (Space)", () => model.status.value?.running && player.toggle());
  const step = textButton("live-step", "Step", "Take one step (Right)", () => stepNewest(model, player));
  const reset = textButton("live-reset", "Reset", "Restart the simulation (R)", () => model.send({ do: "reset" }));
  model.status.watch((status) => {
    setPressed(run, status?.running ?? false);
    setPressed(pause, status ? !status.running : false);
  });
  return h("div", { class: "chips" }, run, pause, step, reset);
}

/** Takes a step from the newest step, even if an earlier one is on display. */
function stepNewest(model: Model, player: Player): void {
  model.atEnd.value = true;
  player.step(1);
}

function toolButtons(model: Model): HTMLElement {
  const buttons = TOOLS.map(({ value, name, title }) => {
    const button = textButton(`tool-${value}`, name, title, () => (model.tool.value = value));
    model.tool.watch((tool) => setPressed(button, tool === value));
    return button;
  });
  return h(
    "div",
    { class: "row" },
    h("span", { class: "label" }, "Tool"),
    h("div", { class: "segments", role: "group", "aria-label": "Tool" }, ...buttons),
  );
}

function gravityFields(model: Model): HTMLElement[] {
  const send = () => {
    const gravity = fields.map((field) => field.value) as Vec3;
    if (gravity.every(Number.isFinite)) model.send({ do: "set", gravity });
  };
  const fields = ["x", "y", "z"].map((axis) => new NumberInput(`gravity-${axis}`, `Gravity along ${axis}, m/s²`, model, send));
  model.status.watch((status) => {
    if (status) fields.forEach((field, index) => field.show(status.settings.gravity[index]));
  });
  const presets = GRAVITIES.map(({ id, name, size }) =>
    textButton(`gravity-${id}`, name, `Set gravity to ${size} m/s²`, () =>
      model.send({ do: "set", gravity: gravityOf(model, size) }),
    ),
  );
  return [
    h(
      "div",
      { class: "field" },
      h("span", { class: "label" }, "Gravity", h("span", { class: "unit" }, " m/s²")),
      h("div", { class: "three-inputs" }, ...fields.map((field) => field.input)),
    ),
    h("div", { class: "chips" }, ...presets),
  ];
}

/** Returns gravity of this magnitude in the direction of the scene's gravity, or along -z if it has none. */
function gravityOf(model: Model, size: number): Vec3 {
  const initial = model.hello.value?.settings.gravity ?? [0, 0, -1];
  const norm = Math.hypot(...initial);
  const down = norm > 0 ? initial.map((part) => part / norm) : [0, 0, -1];
  return down.map((part) => (part === 0 ? 0 : part * size)) as Vec3;
}

function inputRow(label: string, unit: string, control: HTMLElement): HTMLElement {
  const text = h("span", { class: "label" }, label, unit && h("span", { class: "unit" }, ` ${unit}`));
  return h("label", { class: "row" }, text, control);
}

function stepField(model: Model): HTMLElement {
  const field = new NumberInput("dt", "Time step, s", model, (dt) => model.send({ do: "set", dt }));
  model.status.watch((status) => status && field.show(status.settings.dt));
  return inputRow("Time step", "s", field.input);
}

/** Creates the field of a setting with a list of named values. */
function choiceField(
  model: Model, what: "accuracy" | "solver", label: string, values: (hello: Hello) => string[],
): HTMLElement {
  const select = h("select", { id: what, on: { change: () => model.send({ do: "set", [what]: select.value }) } });
  const show = () => {
    const now = model.status.value?.settings[what];
    if (now !== undefined && document.activeElement !== select) select.value = now;
  };
  model.hello.watch((hello) => {
    const names = hello ? values(hello) : [];
    select.replaceChildren(...names.map((name) => h("option", { value: name }, name)));
    show();
  });
  model.status.watch(show);
  return inputRow(label, "", select);
}

/** Creates the fields for friction and restitution of all bodies. They are empty if the bodies differ. */
function materialFields(model: Model): HTMLElement[] {
  const rows = (["friction", "restitution"] as const).map((what) => {
    const label = what === "friction" ? "Friction" : "Restitution";
    const field = new NumberInput(what, `${label} of all bodies`, model, (value) => model.send({ do: "set", [what]: value }));
    field.input.placeholder = "mixed";
    const show = () => field.show(model.status.value?.settings[what] ?? common(model.bodies.value, what));
    model.bodies.watch(show);
    model.status.watch(show);
    return inputRow(label, "of all bodies", field.input);
  });
  return rows;
}

function common(bodies: readonly Body[], what: "friction" | "restitution"): number | null {
  const all = bodies.flatMap(({ colliders }) => colliders.map((collider) => collider[what]));
  return all.length > 0 && all.every((value) => value === all[0]) ? all[0] : null;
}
