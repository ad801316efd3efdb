// What goes wrong reaches the caller as the right kind of error, and the state stays true.
"use strict";

const assert = require("node:assert/strict");
const { test } = require("./specification.js");
const automation = require("@pulumi/pulumi/automation");
const { inline, items, recorded, until } = require("./shop.js");

const { CommandError, ConcurrentUpdateError, LocalWorkspace, StackAlreadyExistsError, StackNotFoundError } = automation;

test("a stack that is not there, and one that is there already", async () => {
  const { stack, projectName } = await inline(items({}));
  const given = { projectName, program: items({}) };
  const options = { workDir: stack.workspace.workDir };
  await assert.rejects(LocalWorkspace.selectStack({ ...given, stackName: "nope" }, options), StackNotFoundError);
  await assert.rejects(LocalWorkspace.createStack({ ...given, stackName: "dev" }, options), StackAlreadyExistsError);
  assert.equal((await LocalWorkspace.selectStack({ ...given, stackName: "dev" }, options)).name, "dev");
  assert.equal((await LocalWorkspace.createOrSelectStack({ ...given, stackName: "dev" }, options)).name, "dev");
  assert.equal((await LocalWorkspace.createOrSelectStack({ ...given, stackName: "new" }, options)).name, "new");
  const names = (await stack.workspace.listStacks()).map(({ name }) => name);
  assert.deepEqual(names, ["dev", "new"]);
});

test("a program that throws", async () => {
  const { stack, world } = await inline(async () => {
    await items({ a: {} })();
    throw new Error("the program is wrong");
  });
  for (const command of ["preview", "up"]) {
    await assert.rejects(stack[command](), (error) => {
      assert.ok(error instanceof CommandError);
      assert.match(error.message, /the program is wrong/);
      return true;
    });
  }
  assert.equal((await stack.info()).result, "failed");
  assert.deepEqual(await recorded(stack), world.names());
  const up = await stack.up({ program: items({ a: {} }) });
  assert.equal(up.summary.result, "succeeded");
});

test("a resource that fails", async () => {
  const printed = [];
  const events = [];
  const { stack, world } = await inline(items({ good: {}, bad: { failOn: "create", after: ["good"] }, then: { after: ["bad"] } }));
  const failing = stack.up({ onOutput: (text) => printed.push(text), onError: (text) => printed.push(text), onEvent: (event) => events.push(event) });
  await assert.rejects(failing, (error) => error instanceof CommandError && /asked to fail at create/.test(error.message));
  assert.match(printed.join(""), /asked to fail at create/);
  const failed = events.filter(({ resOpFailedEvent }) => resOpFailedEvent).map(({ resOpFailedEvent }) => resOpFailedEvent.metadata.urn.split("::").pop());
  assert.deepEqual(failed, ["bad"]);
  assert.ok(events.some(({ diagnosticEvent }) => diagnosticEvent?.severity === "error" && /asked to fail/.test(diagnosticEvent.message)));
  assert.deepEqual(await recorded(stack), ["good"]);
  assert.equal((await stack.info()).result, "failed");

  const others = items({ good: {}, bad: { failOn: "create" }, other: { delayMs: 300 } });
  await assert.rejects(stack.up({ program: others, continueOnError: true }), CommandError);
  assert.deepEqual(world.names(), ["good", "other"]);
  await stack.up({ program: items({ good: {}, other: { failOn: "delete" } }) });
  await assert.rejects(stack.destroy({ continueOnError: true }), /asked to fail at delete/);
  assert.deepEqual(await recorded(stack), ["other"]);
});

test("a stack that is being updated", async () => {
  const { stack, world } = await inline(items({ slow: { delayMs: 3000 } }));
  const running = stack.up();
  await until("the first update", () => world.calls("create").length > 0);
  await assert.rejects(stack.up(), ConcurrentUpdateError);
  await assert.rejects(stack.destroy(), ConcurrentUpdateError);
  assert.equal((await running).summary.result, "succeeded");
  assert.deepEqual(await recorded(stack), ["slow"]);
});

test("an update that is cancelled by another process", async () => {
  const { stack, world } = await inline(items({ first: { delayMs: 3000 }, second: { after: ["first"] } }));
  const running = assert.rejects(stack.up(), CommandError);
  await until("the update", () => world.calls("create").length > 0);
  await stack.cancel();
  await running;
  assert.ok(!world.names().includes("second"), "nothing is begun after the cancellation");
  const up = await stack.up({ program: items({ first: {}, second: { after: ["first"] } }) });
  assert.equal(up.summary.result, "succeeded");
  assert.deepEqual(await recorded(stack), ["first", "second"]);
});

test("an update that is aborted by a signal", async () => {
  const { stack, world } = await inline(items({ first: { delayMs: 1500 }, second: { after: ["first"] } }));
  const abort = new AbortController();
  const running = assert.rejects(stack.up({ signal: abort.signal }), CommandError);
  await until("the update", () => world.calls("create").length > 0);
  abort.abort();
  await running;
  // What was under way is finished and recorded; nothing is begun after it.
  assert.deepEqual(world.names(), ["first"]);
  assert.deepEqual(await recorded(stack), ["first"]);
  await stack.up();
  assert.deepEqual(await recorded(stack), ["first", "second"]);
});

test("a wrong passphrase", async () => {
  const { stack } = await inline(items({}));
  await stack.setConfig("key", { value: "hidden", secret: true });
  stack.workspace.envVars.PULUMI_CONFIG_PASSPHRASE = "wrong";
  await assert.rejects(stack.getConfig("key"), /passphrase/);
  await assert.rejects(stack.up(), /passphrase/);
});
