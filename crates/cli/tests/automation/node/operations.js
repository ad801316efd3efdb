// `up`, `preview`, `refresh` and `destroy`: their options, results, events and output.
"use strict";

const assert = require("node:assert/strict");
const fs = require("node:fs");
const path = require("node:path");
const { test } = require("./specification.js");
const { inline, items, recorded } = require("./shop.js");

const BOTH = { a: { size: 1 }, b: { size: 1, after: ["a"] } };

test("a stack lives from preview to destroy", async () => {
  const { stack, world } = await inline(items(BOTH));

  const preview = await stack.preview();
  assert.deepEqual(preview.changeSummary, { create: 3 });
  assert.deepEqual(world.names(), []);

  const printed = [];
  const up = await stack.up({ message: "the first", onOutput: (text) => printed.push(text), userAgent: "tests/1" });
  assert.equal(printed.join("").trim(), up.stdout.trim());
  assert.equal(up.summary.kind, "update");
  assert.equal(up.summary.result, "succeeded");
  assert.equal(up.summary.message, "the first");
  assert.deepEqual(up.summary.resourceChanges, { create: 3 });
  assert.equal(up.summary.environment["exec.kind"], "auto.inline");
  assert.equal(up.summary.environment["exec.agent"], "tests/1");
  assert.ok(up.summary.startTime instanceof Date && up.summary.endTime >= up.summary.startTime);
  assert.deepEqual(up.outputs, { a: { value: 1, secret: false }, b: { value: 1, secret: false } });
  assert.deepEqual(world.names(), ["a", "b"]);

  const again = await stack.up({ expectNoChanges: true });
  assert.deepEqual(again.summary.resourceChanges, { same: 3 });

  const refresh = await stack.refresh({ expectNoChanges: true, message: "look" });
  assert.equal(refresh.summary.kind, "refresh");
  assert.equal(refresh.summary.message, "look");
  assert.deepEqual(refresh.summary.resourceChanges, { same: 3 });

  assert.deepEqual((await stack.previewDestroy()).changeSummary, { delete: 3 });
  assert.deepEqual(world.names(), ["a", "b"]);

  const destroy = await stack.destroy();
  assert.equal(destroy.summary.kind, "destroy");
  assert.deepEqual(destroy.summary.resourceChanges, { delete: 3 });
  assert.deepEqual(world.names(), []);
  const kinds = (await stack.history()).map(({ kind }) => kind);
  assert.deepEqual(kinds, ["destroy", "refresh", "update", "update"]);
});

test("events tell each step and end with a summary", async () => {
  const { stack, urn } = await inline(items(BOTH));
  const eventsOf = async (command, options) => {
    const events = [];
    await stack[command]({ ...options, onEvent: (event) => events.push(event) });
    return events;
  };
  const steps = (events) => events.filter(({ resourcePreEvent }) => resourcePreEvent)
    .map(({ resourcePreEvent: { metadata } }) => `${metadata.op} ${metadata.urn.split("::").pop()}`)
    .filter((step) => / [ab]$/.test(step));

  for (const command of ["preview", "up"]) {
    const events = await eventsOf(command);
    assert.deepEqual(steps(events), ["create a", "create b"]);
    assert.ok(events[0].preludeEvent, JSON.stringify(events[0]));
    assert.ok(events.every(({ sequence, timestamp }) => Number.isInteger(sequence) && timestamp > 1.7e9));
    const summary = events.find(({ summaryEvent }) => summaryEvent).summaryEvent;
    assert.deepEqual(summary.resourceChanges, { create: 3 });
    const done = events.filter(({ resOutputsEvent }) => resOutputsEvent).map(({ resOutputsEvent }) => resOutputsEvent.metadata.urn);
    assert.ok(done.includes(urn("a")) && done.includes(urn("b")), done.join());
  }
  stack.workspace.program = items({ a: { size: 2 } });
  const changed = await eventsOf("up");
  assert.deepEqual(steps(changed), ["update a", "delete b"]);
  const { metadata } = changed.find(({ resourcePreEvent }) => resourcePreEvent?.metadata.op === "update").resourcePreEvent;
  assert.deepEqual(metadata.diffs, ["size"]);
  assert.equal(metadata.detailedDiff.size.diffKind, "update");
  assert.deepEqual([metadata.old.inputs.size, metadata.new.inputs.size], [1, 2]);
  assert.deepEqual(steps(await eventsOf("refresh")), ["refresh a"]);
  assert.deepEqual(steps(await eventsOf("destroy")), ["delete a"]);
});

test("an update is previewed as it will be", async () => {
  const { stack } = await inline(items(BOTH));
  await stack.up();
  const program = items({ a: { size: 2 }, b: { kind: "other" }, c: {} });
  const preview = await stack.preview({ program, diff: true });
  assert.deepEqual(preview.changeSummary, { same: 1, update: 1, replace: 1, create: 1 });
  assert.match(preview.stdout, /size/);
  const up = await stack.up({ program, diff: true, parallel: 2, color: "never", suppressProgress: true });
  assert.deepEqual(up.summary.resourceChanges, { same: 1, update: 1, replace: 1, create: 1 });
  assert.doesNotMatch(up.stdout, /\u001b/);
  await assert.rejects(stack.preview({ program: items(BOTH), expectNoChanges: true }), /no changes were expected/);
  await assert.rejects(stack.up({ program: items({}), expectNoChanges: true }), /no changes were expected/);
});

test("an update is held to a plan", async () => {
  const { stack, world } = await inline(items(BOTH));
  const plan = path.join(process.cwd(), "plan.json");
  const preview = await stack.preview({ plan });
  assert.deepEqual(preview.changeSummary, { create: 3 });
  const more = items({ ...BOTH, c: { size: 1, after: ["b"] } });
  await assert.rejects(stack.up({ plan, program: more }), /create is not allowed by the plan/);
  assert.ok(!world.names().includes("c"));
  await stack.preview({ plan });
  const up = await stack.up({ plan });
  assert.equal(up.summary.environment.updatePlan, "true");
  assert.deepEqual(world.names(), ["a", "b"]);
});

test("targets, excludes and forced replacements", async () => {
  const { stack, world, urn } = await inline(items({ a: {}, b: {}, c: { after: ["b"] } }));
  await stack.up({ target: [urn("a")] });
  assert.deepEqual(await recorded(stack), ["a"]);
  await stack.up({ exclude: [urn("b")], excludeDependents: true });
  assert.deepEqual(await recorded(stack), ["a"]);
  await stack.up();
  assert.deepEqual(world.names(), ["a", "b", "c"]);

  const replaced = await stack.up({ replace: [urn("a")] });
  assert.equal(replaced.summary.resourceChanges.replace, 1);
  assert.equal(world.calls("create").filter(({ urn: made, preview }) => made === urn("a") && !preview).length, 2);

  await stack.refresh({ target: [urn("a")] });
  assert.deepEqual(world.calls("read").map((call) => call.urn), [urn("a")]);
  await stack.refresh({ exclude: [urn("a"), urn("c")] });
  assert.deepEqual(world.calls("read").map((call) => call.urn), [urn("a"), urn("b")]);

  await assert.rejects(stack.destroy({ target: [urn("b")] }), /c/);
  assert.deepEqual(await recorded(stack), ["a", "b", "c"]);
  await stack.destroy({ target: [urn("b")], targetDependents: true });
  assert.deepEqual(await recorded(stack), ["a"]);
  await stack.up();
  await stack.destroy({ exclude: [urn("a")] });
  assert.deepEqual(await recorded(stack), ["a"]);
});

test("a refresh finds what was changed behind its back", async () => {
  const { stack, world } = await inline(items(BOTH));
  await stack.up();
  world.tamper("a", { size: 7 });
  const preview = await stack.previewRefresh();
  assert.deepEqual(preview.changeSummary, { same: 2, update: 1 });
  await assert.rejects(stack.refresh({ expectNoChanges: true }), /no changes were expected/);
  world.tamper("a", { size: 8 });
  assert.deepEqual((await stack.refresh({ previewOnly: true })).stdout.includes("a"), true);
  const refresh = await stack.refresh({ parallel: 1 });
  assert.deepEqual(refresh.summary.resourceChanges, { same: 2, update: 1 });
  const size = async () => (await stack.exportStack()).deployment.resources.find(({ urn }) => urn.endsWith("::a")).outputs.size;
  assert.equal(await size(), 8);
  const up = await stack.up();
  assert.equal(up.summary.resourceChanges.update, 1);
  assert.equal(await size(), 1);

  // The same within an update.
  world.tamper("a", { size: 9 });
  const seen = await stack.up({ refresh: true });
  assert.equal(seen.summary.resourceChanges.update, 1);
  assert.equal(await size(), 1);
});

test("destroy spares what is protected, and removes the stack when asked to", async () => {
  const { stack, world } = await inline(items({ kept: { options: { protect: true } }, gone: {} }));
  await stack.up();
  const destroy = await stack.destroy({ excludeProtected: true, parallel: 3 });
  assert.equal(destroy.summary.result, "succeeded");
  assert.deepEqual(world.names(), ["kept"]);
  await assert.rejects(stack.destroy(), /protect/);
  assert.deepEqual(world.names(), ["kept"]);
  await stack.up({ program: items({ kept: {} }) });
  await stack.destroy({ remove: true, refresh: true, message: "the end" });
  assert.deepEqual(world.names(), []);
  assert.deepEqual(await stack.workspace.listStacks(), []);
});

test("the program runs for refresh and destroy when asked to", async () => {
  let runs = 0;
  const { stack, world } = await inline(async () => {
    runs += 1;
    return items(BOTH)();
  });
  await stack.up();
  await stack.refresh();
  assert.equal(runs, 1);
  await stack.refresh({ runProgram: true });
  assert.equal(runs, 2);
  await stack.destroy({ runProgram: true });
  assert.equal(runs, 3);
  assert.deepEqual(world.names(), []);
});

test("what exists is imported, with the code that the program needs", async () => {
  const { stack, world, urn } = await inline(items({ a: { name: "one", size: 3, options: { protect: true } } }));
  for (const name of ["one", "two", "three"]) world.appear(name, { size: 3 });
  const type = "ledger:index:Item";

  const one = await stack.import({ message: "mine now", resources: [{ type, name: "a", id: "one" }] });
  assert.deepEqual([one.summary.kind, one.summary.message], ["resource-import", "mine now"]);
  assert.deepEqual(one.summary.resourceChanges, { create: 1, import: 1 });
  assert.match(one.generatedCode, /const a = new ledger\.Item\("a", \{\n {4}name: "one",\n {4}size: 3,\n\}, \{\n {4}protect: true,/);
  assert.deepEqual(await recorded(stack), ["a"]);
  assert.deepEqual((await stack.up({ expectNoChanges: true })).summary.resourceChanges, { same: 2 });

  const rest = [
    { type, name: "b", id: "two", parent: "a" },
    { type: "shop:index:Group", name: "group", component: true },
    { type, name: "c", id: "three", parent: "group" },
  ];
  const more = await stack.import({ resources: rest, nameTable: { a: urn("a") }, protect: false, generateCode: false });
  assert.equal(more.generatedCode, "");
  assert.deepEqual(await recorded(stack), ["a", "b", "c"]);
  await assert.rejects(stack.import({ resources: [{ type, name: "a", id: "two" }], generateCode: false }), /already exists/);
  assert.equal((await stack.up()).summary.resourceChanges.delete, 3);
  assert.deepEqual(world.names(), ["one"]);
});

test("what a converter lists is imported", async () => {
  const { stack, world } = await inline(items({ a: { name: "one", size: 3, options: { protect: true } } }));
  world.appear("one", { size: 3 });
  const state = path.resolve("converted.json");
  fs.writeFileSync(state, JSON.stringify({ resources: [{ type: "ledger:index:Item", name: "a", id: "one" }] }));
  const imported = await stack.import({ converter: "bench", converterArgs: [state] });
  assert.match(imported.generatedCode, /const a = new ledger\.Item\("a"/);
  assert.deepEqual(await recorded(stack), ["a"]);
  assert.deepEqual((await stack.up({ expectNoChanges: true })).summary.resourceChanges, { same: 2 });
  await assert.rejects(stack.import({ converter: "bench", converterArgs: ["nowhere.json"] }), /converter "bench" failed: nowhere\.json/);
});
