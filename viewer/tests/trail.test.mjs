// The trail of the selected body.

import assert from "node:assert/strict";
import { test } from "node:test";
import { ready } from "../tools/launch.mjs";
import { countDifferingPixels, inPicture, picture, record, visit, waitForStep } from "./harness.mjs";

// The first ball of the cradle swings down from 40 degrees: the end of its way is not drawn before it gets there.
test("the trail follows the recorded way of the selected body, up to the step on display", async () => {
  const { file, steps } = record("cradle", "duration=0.6");
  const { page, complaints } = await visit([file]);
  await ready(page);
  await page.evaluate(() => window.msd.player.seek(22));
  await waitForStep(page, 22);
  await page.evaluate(() => (window.msd.model.selection.value = { kind: "body", body: 1 }));
  await page.waitForFunction(() => window.msd.model.motion.value?.body === 1);
  const drawn = await picture(page);
  const trail = page.getByRole("switch", { name: "Trail" });
  assert.ok(await trail.isChecked());
  await trail.uncheck();
  const without = await picture(page);
  const at = async (step, near) => {
    const point = await inPicture(page, steps.get(step).get("ball 1"));
    return countDifferingPixels(page, drawn, without, [...point, near]);
  };
  for (const step of [1, 5, 10, 15, 20]) assert.ok((await at(step, 3)) > 3, `it passes the place of step ${step}`);
  for (const step of [26, 30]) assert.equal(await at(step, 5), 0, `it does not reach the place of step ${step}`);
  assert.deepEqual(complaints, []);
});

test("the trail of a live run has the way of the body since it started", async () => {
  const { page, complaints } = await visit(["cradle"]);
  await ready(page);
  await page.evaluate(() => (window.msd.model.selection.value = { kind: "body", body: 1 }));
  await page.waitForFunction(() => window.msd.model.motion.value?.time.at(-1) > 0.3);
  await page.locator("#live-pause").click();
  await page.waitForFunction(() => window.msd.model.status.value?.running === false);
  const drawn = await picture(page);
  await page.getByRole("switch", { name: "Trail" }).uncheck();
  const without = await picture(page);
  const places = [];
  for (const step of [1, 5, 10, 15]) {
    await page.evaluate((step) => window.msd.player.seek(step), step);
    await waitForStep(page, step);
    await picture(page);
    const point = await page.evaluate(() => window.msd.viewport.drawnPosition(1));
    const [x, y] = await inPicture(page, point);
    places.push(await countDifferingPixels(page, drawn, without, [x, y, 3]));
  }
  assert.ok(places.every((count) => count > 3), `${places}`);
  assert.deepEqual(complaints, []);
});
