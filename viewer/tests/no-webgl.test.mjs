// The page in a browser without WebGL.

import assert from "node:assert/strict";
import { test } from "node:test";
import { ready } from "../tools/launch.mjs";
import { DESKTOP, PHONE, record, visit, waitForStep } from "./harness.mjs";

/** Makes WebGL unavailable, as in a browser where it is switched off. */
function withoutWebGl() {
  for (const kind of [HTMLCanvasElement, OffscreenCanvas]) {
    const { getContext } = kind.prototype;
    kind.prototype.getContext = function (type, ...more) {
      return String(type).startsWith("webgl") ? null : getContext.call(this, type, ...more);
    };
  }
}

for (const [name, viewport] of [["a desktop", DESKTOP], ["a phone", PHONE]]) {
  test(`without WebGL, ${name} says why nothing is drawn, and the panels work`, async () => {
    const { file } = record("dominoes", "duration=1.0");
    const { page, complaints } = await visit([file], { viewport, touch: viewport === PHONE, init: withoutWebGl });
    await ready(page);
    const message = page.locator("#no-drawing");
    await message.getByText("this browser has no WebGL").waitFor();
    const [outer, inner] = [await page.locator("#viewport").boundingBox(), await message.boundingBox()];
    assert.ok(inner.x >= outer.x && inner.x + inner.width <= outer.x + outer.width + 0.5, "the message fits the view");
    assert.ok(await message.evaluate((element) => element.scrollHeight <= element.clientHeight), "none of it is cut");

    await page.keyboard.press(" ");
    await page.waitForFunction(() => window.msd.model.frame.value.step > 40);
    assert.equal(await page.locator("#fps").innerText(), "", "there is no frame rate");
    await page.evaluate(() => window.msd.player.seek(60));
    await waitForStep(page, 60);
    if (viewport === PHONE) await page.locator("#tab-checks").tap();
    await page.locator('#checks [data-check="penetration"]').waitFor();
    await page.evaluate(() => (window.msd.model.selection.value = { kind: "body", body: 3 }));
    await page.locator('#body-name[data-body="3"]').waitFor({ state: "attached" });
    await page.keyboard.press("c");
    await page.locator("#charts .uplot").first().waitFor();
    // The renderer reports its failure to the console; nothing else complains.
    assert.deepEqual(complaints.filter((text) => !/WebGL/.test(text)), []);
  });
}
