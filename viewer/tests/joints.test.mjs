// The joints: drawn at their anchors, with their forces.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ready, run } from "../tools/launch.mjs";
import { countDifferingPixels, folder, inPicture, picture, visit, waitForStep } from "./harness.mjs";

/** An arm of 2 kg on a pin at its upper end, and a weight of 3 kg on a spring that carries it at 1 m. */
const HANGING = `
version = 1
[world]
gravity = [0, 0, -10]
duration = 0.2
[[body]]
name = "ceiling"
kind = "environment"
shape = { cuboid = { half_extents = [1.2, 0.1, 0.05] } }
position = [0, 0, 3.05]
[[body]]
name = "arm"
kind = "inertial"
shape = { cuboid = { half_extents = [0.05, 0.05, 0.5] } }
mass = 2
position = [-0.8, 0, 2.5]
[[body]]
name = "weight"
kind = "inertial"
shape = { sphere = { radius = 0.2 } }
mass = 3
position = [0.4, 0, 1.9]
[[joint]]
kind = "ball"
a = "ceiling"
b = "arm"
anchor_a = [-0.8, 0, -0.05]
anchor_b = [0, 0, 0.5]
[[joint]]
kind = "distance"
a = "ceiling"
b = "weight"
anchor_a = [0.4, 0, -0.05]
length = 1
stiffness = 300
`;

// The spring is 0.1 m longer than without force: 30 N, the weight's. The pin carries 20 N.
for (const mode of ["a live scene", "a recording"]) {
  test(`the joints of ${mode} are drawn at their anchors, and their forces as arrows`, async () => {
    writeFileSync(join(folder, "hanging.toml"), HANGING);
    run(folder, "run", "hanging.toml", "--quiet", "--no-report");
    const live = mode === "a live scene";
    const { page, complaints } = await visit([live ? "hanging.toml" : "runs/hanging.mcap"]);
    await ready(page);
    if (live) {
      await page.waitForFunction(() => window.msd.model.frame.value.step > 12);
      await page.locator("#live-pause").click();
      await page.waitForFunction(() => window.msd.model.status.value?.running === false);
    }
    await page.evaluate(() => window.msd.player.seek(10));
    await waitForStep(page, 10);
    const joints = page.getByRole("switch", { name: "Joints" });
    assert.ok(await joints.isChecked());
    const forces = page.getByRole("switch", { name: "Weights and forces" });
    const plain = await picture(page);
    await joints.uncheck();
    const without = await picture(page);
    const drawn = async (point, near) => countDifferingPixels(page, without, plain, [...(await inPicture(page, point)), near]);
    assert.ok((await drawn([-0.8, 0, 3], 5)) > 15, "a dot at the pin");
    assert.equal(await drawn([-0.8, 0, 2.6], 10), 0, "no line from the pin to the center of the arm");
    for (const height of [2.2, 2.5, 2.8]) assert.ok((await drawn([0.4, 0, height], 5)) > 15, `the spring at ${height} m`);

    await forces.check();
    await page.locator("#legend").getByText("longest force arrow 30 N").waitFor();
    const arrows = await picture(page);
    // At the pin, of the weight of the arm: upwards from the anchor, in front of the ceiling.
    const above = await inPicture(page, [-0.8, 0, 3.1]);
    assert.ok((await countDifferingPixels(page, without, arrows, [...above, 4])) > 5, "the force of the pin");
    assert.deepEqual(complaints, []);
  });
}
