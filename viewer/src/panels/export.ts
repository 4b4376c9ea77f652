// The export of the view: a picture of the step on display, or a film of a span of the timeline.

import { film, shotsOf } from "../export/film";
import { download, toPng } from "../export/writer";
import type { Model } from "../model";
import type { Player } from "../player";
import type { Viewport } from "../viewport/viewport";
import { h, section, setText, textButton } from "./dom";
import { currentSpeed } from "./transport";

/** Device pixels per CSS pixel of a picture, at most: the view itself is not drawn more finely. */
const MAX_RATIO = 2;

const FILM_TITLE = "Save these steps as a video, WebM, at the selected speed";

/** Creates a field for a step. Empty, it stands for one end of the timeline. */
function stepInput(id: string, label: string): HTMLInputElement {
  return h("input", { id, type: "text", inputmode: "numeric", autocomplete: "off", "aria-label": label, title: label });
}

/** Returns the step in a field, or this one if it is empty; null if it is not a step. */
function stepIn(input: HTMLInputElement, otherwise: number): number | null {
  const text = input.value.trim();
  const valid = text === "" || /^\d+$/.test(text);
  if (valid) input.removeAttribute("aria-invalid");
  else input.setAttribute("aria-invalid", "true");
  return !valid ? null : text === "" ? otherwise : Number(text);
}

export function createExport(model: Model, player: Player, viewport: Viewport): HTMLElement {
  const from = stepInput("film-from", "First step of the video");
  const to = stepInput("film-to", "Last step of the video");
  let stopped = false;
  let busy = false;

  const savePicture = () => void picture(model, viewport).catch((error: Error) => (model.notice.value = `No picture: ${error.message}.`));
  const pictureButton = textButton("save-picture", "Picture", "Save the view as a picture, PNG (S)", savePicture);
  const filmButton = textButton("save-film", "Video", FILM_TITLE, () => {
    if (busy) stopped = true;
    else void saveFilm();
  });

  const saveFilm = async () => {
    const { first_step, last_step } = model.status.value ?? { first_step: 0, last_step: 0 };
    const [first, last] = [stepIn(from, first_step), stepIn(to, last_step)];
    if (first === null || last === null) return;
    const span = {
      from: Math.min(Math.max(Math.min(first, last), first_step), last_step),
      to: Math.min(Math.max(first, last), last_step),
      speed: currentSpeed(model) || 1,
    };
    [busy, stopped] = [true, false];
    filmButton.title = "Stop here and save what there is";
    const back = { step: model.cursor.value, atEnd: model.atEnd.value };
    const hello = model.hello.value;
    const live = hello?.mode === "live";
    const running = live && (model.status.value?.running ?? false);
    // The oldest frames of a running simulation would be dropped.
    if (running) model.send({ do: "pause" });
    try {
      const shots = shotsOf(model, span);
      const progress = (done: number) => {
        setText(filmButton, `Stop ${Math.round((100 * done) / shots.length)} %`);
        return !stopped;
      };
      const { blob, extension } = await film(model, player, viewport, shots, progress);
      download(blob, `${fileName(model)}-${span.from}-${span.to}.${extension}`);
      if (extension === "zip") model.notice.value = "This browser cannot encode WebM videos: the frames were saved as pictures.";
    } catch (error) {
      model.notice.value = `The video was not saved: ${(error as Error).message}.`;
    }
    // A scene opened or reset meanwhile is at its own step, and runs or not as the user wants.
    if (model.hello.value === hello) {
      player.seek(back.step);
      if (live) model.atEnd.value = back.atEnd;
      if (running) model.send({ do: "run" });
    }
    busy = false;
    setText(filmButton, "Video");
    filmButton.title = FILM_TITLE;
  };

  model.status.watch((status) => {
    from.placeholder = String(status?.first_step ?? 0);
    to.placeholder = String(status?.last_step ?? 0);
  });
  viewport.drawing.watch((drawing) => (pictureButton.disabled = filmButton.disabled = drawing !== "works"));
  return section(
    "export", "Export", "view", true,
    h("div", { class: "span-inputs" }, h("span", { class: "label" }, "Steps"), from, h("span", { class: "dim" }, "to"), to),
    h("div", { class: "two-buttons" }, pictureButton, filmButton),
  );
}

/** Saves the view as a picture. */
async function picture(model: Model, viewport: Viewport): Promise<void> {
  const { clientWidth, clientHeight } = viewport.host;
  const out = document.createElement("canvas");
  viewport.drawPicture(out, clientWidth, clientHeight, Math.min(devicePixelRatio, MAX_RATIO), true);
  download(await toPng(out), `${fileName(model)}-${model.frame.value?.step ?? 0}.png`);
}

/** Returns the name of the scene without characters that file names cannot have. */
function fileName(model: Model): string {
  return (model.hello.value?.name ?? "msd").replace(/[^\w.-]+/g, "-");
}
