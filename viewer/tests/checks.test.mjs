// The panel of the checks: the notes of the scene, and the bodies and steps of the checks.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ready, run } from "../tools/launch.mjs";
import { DESKTOP, distanceFromCenter, folder, PHONE, picture, record, visit, waitForStep } from "./harness.mjs";

/** A box of 1 kg under one of 5000 kg, as far apart as they are at rest: every check passes, and `msd check` warns of
 * the masses. */
const HEAVY = `
version = 1
[world]
duration = 0.3
[[body]]
name = "floor"
kind = "environment"
shape = { half_space = { normal = [0, 0, 1] } }
[[body]]
name = "light"
kind = "inertial"
shape = { cuboid = { half_extents = [0.5, 0.5, 0.5] } }
position = [0, 0, 0.5]
mass = 1
[[body]]
name = "heavy"
kind = "inertial"
shape = { cuboid = { half_extents = [0.5, 0.5, 0.5] } }
position = [0, 0, 1.5]
mass = 5000
`;

for (const [mode, viewport] of [["a live scene", DESKTOP], ["a recording", DESKTOP], ["a recording on a phone", PHONE]]) {
  test(`the notes of ${mode} stand above its checks and in their summary`, async () => {
    writeFileSync(join(folder, "heavy.toml"), HEAVY);
    run(folder, "run", "heavy.toml", "--quiet", "--no-report");
    const [{ message }] = JSON.parse(run(folder, "check", "heavy.toml", "--json")).warnings;
    const what = mode === "a live scene" ? "heavy.toml" : "runs/heavy.mcap";
    const { page, complaints } = await visit([what], { viewport, touch: viewport === PHONE });
    await ready(page);
    if (viewport === PHONE) await page.locator("#tab-checks").tap();
    await page.locator('#checks [data-verdict="pass"]').first().waitFor();
    assert.deepEqual(await page.locator("#notes .note").allInnerTexts(), [message]);
    const note = await page.locator("#notes").boundingBox();
    const checks = await page.locator("#checks").boundingBox();
    assert.ok(note.y + note.height <= checks.y, "the note is above the checks");
    assert.match(await page.locator("#checks-summary").innerText(), /^✓ .*, 1 note$/);
    const style = await page.locator("#checks-summary").getAttribute("class");
    assert.match(style, /verdict-warn/, "the summary is not simply good");
    assert.deepEqual(complaints, []);
  });
}

test("a click on the step of a check shows the step and frames the body that the check names", async () => {
  const { file } = record("dominoes", "duration=2.0");
  const summary = JSON.parse(run(folder, "info", file, "--json")).summary;
  const { step, bodies } = summary.checks.find(({ name }) => name === "penetration");
  const { page, complaints } = await visit([file]);
  await ready(page);
  await page.locator('[data-check="penetration"] .link').click();
  await waitForStep(page, step);
  const name = bodies.find((body) => body !== "floor");
  await page.locator("#body-name").getByText(name, { exact: true }).waitFor();
  await picture(page);
  const body = await page.evaluate(() => window.msd.model.selectedBody());
  const away = await distanceFromCenter(page, body);
  assert.ok(away < 2, `the body is in the middle of the view: ${away} pixels`);
  assert.deepEqual(complaints, []);
});

test("a double click selects a body and frames it", async () => {
  const { file } = record("tower", "duration=0.2");
  const { page, complaints } = await visit([file]);
  await ready(page);
  await picture(page);
  const top = await page.evaluate(() => window.msd.viewport.toScreen(window.msd.viewport.drawnPosition(10)));
  assert.ok((await distanceFromCenter(page, 10)) > 50);
  await page.mouse.click(...top);
  await page.waitForFunction(() => window.msd.model.selectedBody() === 10);
  assert.ok((await distanceFromCenter(page, 10)) > 50, "a single click does not move the camera");
  await page.waitForTimeout(500);
  await page.mouse.dblclick(...top);
  await picture(page);
  const away = await distanceFromCenter(page, 10);
  assert.ok(away < 2, `${away} pixels`);
  assert.deepEqual(complaints, []);
});

test("the camera follows a body by button and by key", async () => {
  const { file } = record("bouncing", "duration=1.0");
  const { page, complaints } = await visit([file]);
  await ready(page);
  await page.evaluate(() => (window.msd.model.selection.value = { kind: "body", body: 1 }));
  const follow = page.getByRole("button", { name: "Follow" });
  await follow.click();
  for (const step of [30, 50, 60]) {
    await page.evaluate((step) => window.msd.player.seek(step), step);
    await waitForStep(page, step);
    // The camera eases towards the body.
    await page.waitForFunction(() => {
      const { viewport, model } = window.msd;
      const p = viewport.toScreen(viewport.drawnPosition(model.selectedBody()));
      const { left, top, width, height } = document.querySelector("#viewport canvas").getBoundingClientRect();
      return Math.hypot(p[0] - left - width / 2, p[1] - top - height / 2) < 1;
    });
  }
  await page.keyboard.press("g");
  assert.equal(await follow.getAttribute("aria-pressed"), "false");
  await page.evaluate(() => window.msd.player.seek(0));
  await waitForStep(page, 0);
  await picture(page);
  assert.ok((await distanceFromCenter(page, 1)) > 20, "the camera stays");
  assert.deepEqual(complaints, []);
});
