// The notes of the scene, the checks of the run, and the description of the scene.

import type { Model } from "../model";
import type { Player } from "../player";
import type { Check } from "../protocol";
import type { Viewport } from "../viewport/viewport";
import { h, section, setText } from "./dom";
import { plural } from "./format";

const VERDICTS: Record<Check["verdict"], { glyph: string; word: string }> = {
  pass: { glyph: "✓", word: "pass" },
  skip: { glyph: "–", word: "skipped" },
  warn: { glyph: "▲", word: "warning" },
  fail: { glyph: "✗", word: "fail" },
};

export function createChecks(model: Model, player: Player, viewport: Viewport): HTMLElement {
  const notes = h("ul", { id: "notes", class: "checks" });
  const list = h("ul", { id: "checks", class: "checks" });
  const problem = h("p", { id: "problem", class: "problem", role: "alert", hidden: true });
  const summary = h("span", { id: "checks-summary", class: "summary-note" });
  let lastShown = "";
  const show = () => {
    const { value: status } = model.status;
    const checks = status?.checks ?? [];
    const noted = model.hello.value?.notes ?? [];
    setText(problem, status?.problem ?? "");
    problem.hidden = !status?.problem;
    // The status arrives often and checks rarely change: keep the elements, so that a link under the pointer stays.
    const now = JSON.stringify([checks, noted, status?.problem]);
    if (now === lastShown) return;
    lastShown = now;
    notes.replaceChildren(...noted.map(noteItem));
    notes.hidden = noted.length === 0;
    list.replaceChildren(...checks.map((check) => item(check, model, () => goToCheck(model, player, viewport, check))));
    if (checks.length === 0) list.append(h("li", { class: "dim" }, "No checks yet."));
    setText(summary, status?.problem ? "✗ error" : summaryText(checks, noted.length));
    summary.className = `summary-note verdict-${status?.problem ? "fail" : worst(checks, noted.length)}`;
  };
  model.hello.watch(show);
  model.status.watch(show);
  const root = section("checks-section", "Checks", "checks", true, problem, notes, list);
  root.querySelector("summary")?.append(summary);
  return root;
}

/** Creates the item of a note: a warning about the scene, which no check measures. */
function noteItem(note: string): HTMLElement {
  return h(
    "li",
    { class: "check verdict-warn" },
    h("span", { class: "verdict" }, h("span", { "aria-hidden": "true" }, "▲ "), "note"),
    h("span", { class: "note" }, note),
  );
}

/** Creates the item of a check, with a link to its step and body. */
function item(check: Check, model: Model, show: () => void): HTMLElement {
  const style = VERDICTS[check.verdict] ?? { glyph: "?", word: String(check.verdict) };
  // Where a check passed by any margin, nothing is worth showing.
  const shown = check.step !== null || check.verdict === "warn" || check.verdict === "fail";
  const body = shown ? mainBody(model, check) : null;
  const place = check.step === null ? "" : `step ${check.step}`;
  const title = [place, body === null ? "" : model.nameOf(body)].filter(Boolean).join(", ");
  return h(
    "li",
    { class: `check verdict-${check.verdict}`, "data-check": check.name, "data-verdict": check.verdict },
    h("span", { class: "verdict" }, h("span", { "aria-hidden": "true" }, `${style.glyph} `), style.word),
    h("span", { class: "check-name" }, check.name),
    title && h("button", { type: "button", class: "link", title: `Show ${title}`, on: { click: show } }, place || "show"),
    h("span", { class: "message" }, check.message),
  );
}

/** Returns the body to show for a check: of those it names, the first one that can be moved. */
function mainBody(model: Model, { bodies }: Check): number | null {
  const movable = bodies.find((body) => model.bodies.value[body]?.kind === "inertial");
  return movable ?? bodies[0] ?? null;
}

/** Moves to the step of a check, selects the body that it names and frames it. */
function goToCheck(model: Model, player: Player, viewport: Viewport, check: Check): void {
  if (check.step !== null) {
    model.playing.value = false;
    player.seek(check.step);
    const first = model.status.value?.first_step ?? 0;
    if (check.step < first) {
      model.notice.value = `Step ${check.step} is no longer in memory: this is step ${first}, the earliest one that is.`;
    }
  }
  const body = mainBody(model, check);
  if (body === null) return;
  model.selection.value = { kind: "body", body };
  if (check.step === null) viewport.frameBody(body);
  else viewport.frameBodyAt(model.cursor.value, body);
}

function worst(checks: readonly Check[], notes: number): Check["verdict"] {
  const has = (verdict: Check["verdict"]) => checks.some((check) => check.verdict === verdict);
  return has("fail") ? "fail" : has("warn") || notes > 0 ? "warn" : "pass";
}

/** Sums up the checks. Notes question what the checks measured, so they are always mentioned. */
function summaryText(checks: readonly Check[], notes: number): string {
  const count = (verdict: Check["verdict"]) => checks.filter((check) => check.verdict === verdict).length;
  const [failed, warned, skipped] = [count("fail"), count("warn"), count("skip")];
  const parts = [];
  if (failed > 0) parts.push(`✗ ${failed} failed`);
  else if (warned > 0) parts.push(`▲ ${plural(warned, "warning")}`);
  else if (checks.length > 0) parts.push(...(skipped > 0 ? ["✓ pass", `${skipped} skipped`] : ["✓ all pass"]));
  if (notes > 0) parts.push(plural(notes, "note"));
  return parts.join(", ");
}

export function createAbout(model: Model): HTMLElement {
  const text = h("p", { id: "scene-comment", class: "comment" });
  const about = section("about", "About this scene", "checks", false, text);
  model.hello.watch((hello) => {
    setText(text, hello?.comment.trim() ?? "");
    about.hidden = !hello?.comment.trim();
  });
  return about;
}
