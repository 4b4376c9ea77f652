// Bodies of several colliders: each is drawn, selected and named; sensors are seen through, disabled colliders are not drawn.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ready, run } from "../tools/launch.mjs";
import { countDifferingPixels, folder, inPicture, PHONE, picture, visit, waitForStep } from "./harness.mjs";

/** A table of a top and two legs, with a disabled ball above it, and another ball that falls through a zone onto it. Its
 * center of mass is 0.475 m above the floor. */
const TABLE = `
version = 1
[world]
duration = 1.0
[[body]]
name = "floor"
kind = "environment"
shape = { half_space = { normal = [0, 0, 1] } }
[[body]]
name = "table"
kind = "inertial"
density = 500
[[body.collider]]
name = "top"
shape = { cuboid = { half_extents = [0.6, 0.4, 0.05] } }
position = [0, 0, 0.65]
material = { friction = 0.25 }
[[body.collider]]
name = "left"
shape = { cuboid = { half_extents = [0.05, 0.4, 0.3] } }
position = [-0.5, 0, 0.3]
[[body.collider]]
shape = { cuboid = { half_extents = [0.05, 0.4, 0.3] } }
position = [0.5, 0, 0.3]
[[body.collider]]
name = "ghost"
shape = { sphere = { radius = 0.3 } }
position = [0, 0, 2.2]
enabled = false
[[body]]
name = "zone"
kind = "environment"
[[body.collider]]
shape = { cuboid = { half_extents = [0.5, 0.5, 0.1] } }
position = [0, 0, 1.2]
sensor = true
[[body]]
name = "ball"
kind = "inertial"
shape = { sphere = { radius = 0.1 } }
position = [0, 0, 1.5]
mass = 1
`;

async function openTable(options) {
  writeFileSync(join(folder, "table.toml"), TABLE);
  run(folder, "run", "table.toml", "--quiet", "--no-report");
  const opened = await visit(["runs/table.mcap"], options);
  await ready(opened.page);
  await waitForStep(opened.page, 0);
  // Until the bodies are drawn, clicks find none.
  await picture(opened.page);
  return opened;
}

/** Clicks on a point of the world, and returns the selection. */
async function clickAt(page, point) {
  const [x, y] = await page.evaluate((point) => window.msd.viewport.toScreen(point), point);
  await page.mouse.click(x, y);
  return page.evaluate(() => window.msd.model.selection.value);
}

test("every collider is drawn where it is, except disabled ones", async () => {
  const { page, complaints } = await openTable();
  const before = await picture(page);
  // The selection colors all of the body that is drawn.
  await page.evaluate(() => (window.msd.model.selection.value = { kind: "body", body: 1 }));
  const selected = await picture(page);
  for (const [what, point, drawn] of [
    ["the front of the top", [0, -0.4, 0.65], true],
    ["the left leg", [-0.5, -0.4, 0.3], true],
    ["the right leg", [0.5, -0.4, 0.3], true],
    ["the gap between the legs", [0.1, -0.3, 0.3], false],
    ["the disabled collider", [0, 0, 2.2], false],
  ]) {
    const changed = await countDifferingPixels(page, before, selected, [...(await inPicture(page, point)), 4]);
    assert.equal(changed > 20, drawn, `${what}: ${changed} pixels`);
  }
  const positions = await page.evaluate(() => window.msd.viewport.drawnPosition(1));
  for (const [axis, value] of [0, 0, 0.475].entries()) assert.ok(Math.abs(positions[axis] - value) < 1e-6, `${positions}`);
  assert.deepEqual(complaints, []);
});

test("a click on a collider selects its body and that collider, and a click on its row the whole body again", async () => {
  const { page, complaints } = await openTable();
  assert.deepEqual(await clickAt(page, [0.5, -0.4, 0.3]), { kind: "body", body: 1, collider: 2 });
  const leg = await picture(page);
  await page.locator("#body-name").getByText("table", { exact: true }).waitFor();
  const rows = page.locator("#body-colliders button");
  assert.deepEqual(await rows.locator(".name").allInnerTexts(), ["top", "left", "collider 2", "ghost"]);
  assert.match(await rows.nth(0).innerText(), /box, 1.2 × 0.8 × 0.1 m; friction 0.25, restitution 0/);
  assert.match(await rows.nth(3).innerText(), /sphere, radius 0.3 m.*; disabled/);
  const pressed = () => rows.evaluateAll((list) => list.map((row) => row.getAttribute("aria-pressed")));
  assert.deepEqual(await pressed(), ["false", "false", "true", "false"]);
  await rows.nth(1).click();
  assert.deepEqual(await pressed(), ["false", "true", "false", "false"]);
  const other = await picture(page);
  assert.ok((await countDifferingPixels(page, leg, other)) > 200, "the highlight moves to the other leg");
  await rows.nth(1).click();
  assert.deepEqual(await page.evaluate(() => window.msd.model.selection.value), { kind: "body", body: 1 });
  // The ball has one collider: nothing but the body can be selected.
  assert.deepEqual(await clickAt(page, [0, 0, 1.5]), { kind: "body", body: 3 });
  assert.equal(await page.locator("#body-colliders").isVisible(), false);
  assert.match(await page.locator("#body-shape").innerText(), /sphere, radius 0.1 m/);
  assert.deepEqual(complaints, []);
});

test("a sensor is seen and clicked through, and selected where nothing is behind it", async () => {
  const { page, complaints } = await openTable();
  const before = await picture(page);
  // After 0.23 s the ball is inside the zone.
  await page.evaluate(() => window.msd.player.seek(14));
  await waitForStep(page, 14);
  const inside = await picture(page);
  const at = await page.evaluate(() => window.msd.viewport.drawnPosition(3));
  assert.ok(at[2] > 1.1 && at[2] < 1.3, `inside the zone: ${at}`);
  const changed = await countDifferingPixels(page, before, inside, [...(await inPicture(page, at)), 5]);
  assert.ok(changed > 20, `the ball is visible within the zone: ${changed} pixels`);
  assert.deepEqual(await clickAt(page, at), { kind: "body", body: 3 });
  assert.deepEqual(await clickAt(page, [0.45, -0.5, 1.2]), { kind: "body", body: 2 });
  await page.locator("#body-shape").getByText("sensor").waitFor();
  assert.deepEqual(complaints, []);
});

test("contacts and events name the colliders", async () => {
  const { page, complaints } = await openTable();
  await page.evaluate(() => window.msd.player.seek(60));
  await waitForStep(page, 60);
  await page.evaluate(() => (window.msd.model.selection.value = { kind: "body", body: 1 }));
  const contacts = page.locator("#body-contacts button .name");
  await contacts.first().waitFor();
  assert.deepEqual(await contacts.allInnerTexts(), ["left: floor", "collider 2: floor", "top: ball"]);
  await contacts.nth(1).click();
  await page.locator("#contact-bodies").getByText("floor and table/collider 2", { exact: true }).waitFor();
  await page.locator("#contact-body-b").click();
  const selection = await page.evaluate(() => window.msd.model.selection.value);
  assert.deepEqual(selection, { kind: "body", body: 1, collider: 2 });
  const texts = await page.evaluate(() => window.msd.model.marks.value.map(({ kind, text }) => `${kind}: ${text}`));
  assert.ok(texts.includes('sensor: "ball" entered "zone"') && texts.includes('sensor: "ball" left "zone"'), texts.join("\n"));
  assert.ok(texts.some((text) => text.startsWith('hit: "table/top" hit "ball" at')), texts.join("\n"));
  assert.deepEqual(complaints, []);
});

test("the list of colliders fits a phone", async () => {
  const { page, complaints } = await openTable({ viewport: PHONE, touch: true });
  await page.evaluate(() => (window.msd.model.selection.value = { kind: "body", body: 1, collider: 0 }));
  await page.locator("#tab-inspect").tap();
  const row = await page.locator("#body-colliders button").first().boundingBox();
  assert.ok(row.x >= 0 && row.x + row.width <= PHONE.width, JSON.stringify(row));
  assert.deepEqual(complaints, []);
});
