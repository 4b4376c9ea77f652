// Helpers to create elements. Text is always inserted as text, never as markup: names come from scene files.

type Child = Node | string | null | undefined | false;
type Listeners = { [K in keyof HTMLElementEventMap]?: (event: HTMLElementEventMap[K]) => void };
type Props = { on?: Listeners; [attribute: string]: unknown };

/** Creates an element with attributes, listeners (`on`) and children. Attributes that are false or null are omitted. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  props: Props = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(props)) {
    if (key === "on") listen(element, value as Listeners);
    else if (value === true) element.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(key, String(value));
  }
  for (const child of children) if (child) element.append(child);
  return element;
}

function listen(element: HTMLElement, listeners: Listeners): void {
  for (const [type, listener] of Object.entries(listeners)) {
    element.addEventListener(type, listener as EventListener);
  }
}

const SVG = "http://www.w3.org/2000/svg";

const ICONS = {
  play: "M7 4.5v15l12-7.5z",
  pause: "M6.5 5h4v14h-4zM13.5 5h4v14h-4z",
  first: "M5 5h2.4v14H5zM19 5v14L8.5 12z",
  last: "M16.6 5H19v14h-2.4zM5 5v14l10.5-7z",
  back: "M14.5 5v14L4.5 12zM17 5h2.4v14H17z",
  forward: "M9.5 5v14l10-7zM4.6 5H7v14H4.6z",
  previousEvent: "M15.5 4.5 17.2 6.2 11.4 12l5.8 5.8-1.7 1.7L8 12zM5.6 8.6 9 12l-3.4 3.4L2.2 12z",
  nextEvent: "M8.5 4.5 6.8 6.2l5.8 5.8-5.8 5.8 1.7 1.7L16 12zM18.4 8.6 15 12l3.4 3.4L21.8 12z",
  loop: "M7 7h9V4l5 4.2-5 4.3V9.5H7A2.5 2.5 0 0 0 4.5 12H2a5 5 0 0 1 5-5zM17 17H8v3l-5-4.2 5-4.3v3h9a2.5 2.5 0 0 0 2.5-2.5H22a5 5 0 0 1-5 5z",
  reset: "M12 5a7 7 0 1 1-6.7 9h2.6A4.6 4.6 0 1 0 12 7.4c-1.2 0-2.3.5-3.2 1.2L11.5 11H4.5V4.3L7 6.8A7 7 0 0 1 12 5z",
  theme: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zm0 2.2v13.6a6.8 6.8 0 0 1 0-13.6z",
  help: "M12 2.5a9.5 9.5 0 1 0 0 19 9.5 9.5 0 0 0 0-19zm0 2a7.5 7.5 0 1 1 0 15 7.5 7.5 0 0 1 0-15zm-.2 2.2c-2 0-3.4 1.2-3.5 3.1h2.1c.1-.8.6-1.3 1.4-1.3.8 0 1.3.5 1.3 1.2 0 .6-.3 1-1.1 1.5-1 .6-1.4 1.2-1.3 2.4v.5h2.1v-.4c0-.7.2-1 1.1-1.5 1-.6 1.5-1.4 1.5-2.5 0-1.8-1.5-3-3.6-3zm-.1 8.1a1.3 1.3 0 1 0 0 2.6 1.3 1.3 0 0 0 0-2.6z",
  left: "M3 4.5h18v15H3zm2 2v11h4v-11zm6 0v11h8v-11z",
  right: "M3 4.5h18v15H3zm2 2v11h8v-11zm10 0v11h4v-11z",
  charts: "M4 4h2v14h14v2H4zm3.5 10.5 4-5 3 2.5 4-6 1.7 1.1-5.2 7.9-3.1-2.6-2.8 3.5z",
  close: "M6.4 5 12 10.6 17.6 5 19 6.4 13.4 12l5.6 5.6-1.4 1.4-5.6-5.6L6.4 19 5 17.6l5.6-5.6L5 6.4z",
  // Shapes of bodies.
  sphere: "M12 5a7 7 0 1 0 0 14 7 7 0 0 0 0-14z",
  capsule: "M12 3a4.5 4.5 0 0 0-4.5 4.5v9a4.5 4.5 0 0 0 9 0v-9A4.5 4.5 0 0 0 12 3z",
  cylinder: "M12 4c-3.9 0-6 1-6 2.5v11C6 19 8.1 20 12 20s6-1 6-2.5v-11C18 5 15.9 4 12 4zm0 1.5c2.700 0 4.200.5 4.200 1s-1.5 1-4.200 1-4.200-.5-4.200-1 1.5-1 4.200-1z",
  cone: "M12 4 5 19h14z",
  cuboid: "M5.5 5.5h13v13h-13z",
  half_space: "M2 12h20v2H2zM3 16h2l-2 3H1zm6 0h2l-2 3H7zm6 0h2l-2 3h-2zm6 0h2l-2 3h-2z",
  compound: "M3 5h18v4H3zM5 10h4v9H5zM15 10h4v9h-4z",
  hull: "M12 4l7.5 5.5-3 9h-9l-3-9z",
} as const;

export type Icon = keyof typeof ICONS;

export function icon(name: Icon): SVGSVGElement {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  svg.classList.add("icon");
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", ICONS[name]);
  svg.append(path);
  return svg;
}

export function setIcon(button: HTMLElement, name: Icon): void {
  if (button.dataset.icon === name) return;
  button.dataset.icon = name;
  button.replaceChildren(icon(name));
}

/** Creates an icon button. Its label is read out by screen readers and shown with its key as a tooltip. */
export function iconButton(id: string, name: Icon, label: string, key: string, click: () => void): HTMLButtonElement {
  const button = h("button", { type: "button", id, class: "icon-button", on: { click } });
  setIcon(button, name);
  setLabel(button, label, key);
  return button;
}

export function setLabel(element: HTMLElement, label: string, key = ""): void {
  const title = key ? `${label} (${key})` : label;
  if (element.title === title) return;
  element.title = title;
  element.setAttribute("aria-label", label);
}

export function textButton(id: string, text: string, title: string, click: () => void): HTMLButtonElement {
  return h("button", { type: "button", id, title, class: "button", on: { click } }, text);
}

/** Sets the text of a node, only if it differs: every change triggers a layout. */
export function setText(node: Node, text: string): void {
  if (node.textContent !== text) node.textContent = text;
}

export function setPressed(button: HTMLElement, pressed: boolean): void {
  button.setAttribute("aria-pressed", String(pressed));
}

/** Creates a collapsible section of a side panel. `tab` is the tab that shows it on a phone. */
export function section(id: string, title: string, tab: string, open: boolean, ...children: Child[]): HTMLDetailsElement {
  return h(
    "details",
    { id, class: "section", "data-tab": tab, open },
    h("summary", {}, title),
    h("div", { class: "section-body" }, ...children),
  );
}

/** Returns a function that schedules `work` for the next animation frame, once however often it is called. */
export function oncePerAnimationFrame(work: () => void): () => void {
  let scheduled = false;
  return () => {
    if (scheduled) return;
    scheduled = true;
    requestAnimationFrame(() => {
      scheduled = false;
      work();
    });
  };
}

/** Like `oncePerAnimationFrame`, but with at least this many milliseconds between two runs. */
export function throttled(milliseconds: number, work: () => void): () => void {
  let scheduled = false;
  let last = -Infinity;
  const run = () => {
    scheduled = false;
    last = performance.now();
    work();
  };
  return () => {
    if (scheduled) return;
    scheduled = true;
    const wait = last + milliseconds - performance.now();
    if (wait <= 0) requestAnimationFrame(run);
    else setTimeout(() => requestAnimationFrame(run), wait);
  };
}
