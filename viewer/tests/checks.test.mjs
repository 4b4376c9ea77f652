// The panel of the checks: the notes of the scene, and the bodies and steps of the checks.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ready, run } from "../tools/launch.mjs";
import { DESKTOP, folder, PHONE, visit } from "./harness.mjs";

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
