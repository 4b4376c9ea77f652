// The checks of the run, and the description of the scene.

import type { Model } from "../model";
import type { Player } from "../player";
import type { Check } from "../protocol";
import { h, section, setText } from "./dom";
import { plural } from "./format";

const VERDICTS: Record<Check["verdict"], { glyph: string; word: string }> = {
  pass: { glyph: "✓", word: "pass" },
  skip: { glyph: "–", word: "skipped" },
  warn: { glyph: "▲", word: "warning" },
  fail: { glyph: "✗", word: "fail" },
};

export function createChecks(model: Model, player: Player): HTMLElement {
  const list = h("ul", { id: "checks", class: "checks" });
  const problem = h("p", { id: "problem", class: "problem", role: "alert", hidden: true });
  const summary = h("span", { id: "checks-summary", class: "summary-note" });
  let lastShown = "";
  model.status.watch((status) => {
    const checks = status?.checks ?? [];
    setText(problem, status?.problem ?? "");
    problem.hidden = !status?.problem;
    // The status arrives often and checks rarely change: keep the elements, so that a link under the pointer stays.
    const now = JSON.stringify([checks, status?.problem]);
    if (now === lastShown) return;
    lastShown = now;
    list.replaceChildren(...checks.map((check) => item(check, player)));
    if (checks.length === 0) list.append(h("li", { class: "dim" }, "No checks yet."));
    setText(summary, status?.problem ? "✗ error" : summaryText(checks));
    summary.className = `summary-note verdict-${status?.problem ? "fail" : worst(checks)}`;
  });
  const root = section("checks-section", "Checks", "checks", true, problem, list);
  root.querySelector("summary")?.append(summary);
  return root;
}

function item(check: Check, player: Player): HTMLElement {
  const style = VERDICTS[check.verdict] ?? { glyph: "?", word: String(check.verdict) };
  const { step } = check;
  return h(
    "li",
    { class: `check verdict-${check.verdict}`, "data-check": check.name, "data-verdict": check.verdict },
    h("span", { class: "verdict" }, h("span", { "aria-hidden": "true" }, `${style.glyph} `), style.word),
    h("span", { class: "check-name" }, check.name),
    step !== null &&
      h(
        "button",
        { type: "button", class: "link", title: `Show step ${step}`, on: { click: () => player.seek(step) } },
        `step ${step}`,
      ),
    h("span", { class: "message" }, check.message),
  );
}

function worst(checks: readonly Check[]): Check["verdict"] {
  const has = (verdict: Check["verdict"]) => checks.some((check) => check.verdict === verdict);
  return has("fail") ? "fail" : has("warn") ? "warn" : "pass";
}

function summaryText(checks: readonly Check[]): string {
  if (checks.length === 0) return "";
  const failed = checks.filter((check) => check.verdict === "fail").length;
  const warned = checks.filter((check) => check.verdict === "warn").length;
  const skipped = checks.filter((check) => check.verdict === "skip").length;
  if (failed > 0) return `✗ ${failed} failed`;
  if (warned > 0) return `▲ ${plural(warned, "warning")}`;
  return skipped > 0 ? `✓ pass, ${skipped} skipped` : "✓ all pass";
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
