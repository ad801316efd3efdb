// Configuration, tags, history, export, import and rename of a stack.
"use strict";

const assert = require("node:assert/strict");
const { test } = require("./specification.js");
const { inline, items, pulumi, recorded } = require("./shop.js");

test("configuration is set, read and removed", async () => {
  const { stack, projectName } = await inline(items({}));
  const qualified = (key) => `${projectName}:${key}`;
  await stack.setConfig("plain", { value: "-1" });
  await stack.setConfig("key", { value: "hush", secret: true });
  await stack.setConfig("aws:region", { value: "eu" });
  assert.deepEqual(await stack.getConfig("plain"), { value: "-1", secret: false });
  assert.deepEqual(await stack.getConfig("key"), { value: "hush", secret: true });
  assert.deepEqual(await stack.getAllConfig(), {
    "aws:region": { value: "eu", secret: false },
    [qualified("plain")]: { value: "-1", secret: false },
    [qualified("key")]: { value: "hush", secret: true },
  });
  await assert.rejects(stack.getConfig("missing"), /not found/);

  await stack.setAllConfig({ a: { value: "1=2" }, b: { value: "secret b", secret: true } });
  assert.deepEqual(await stack.getConfig("a"), { value: "1=2", secret: false });
  assert.deepEqual(await stack.getConfig("b"), { value: "secret b", secret: true });
  await stack.removeConfig("plain");
  await stack.removeAllConfig(["a", "b", "aws:region"]);
  assert.deepEqual(Object.keys(await stack.getAllConfig()), [qualified("key")]);
});

test("configuration has paths", async () => {
  const { stack, projectName } = await inline(items({}));
  await stack.setConfig("tree.list[0].name", { value: "first" }, true);
  await stack.setConfig("tree.hidden", { value: "hush", secret: true }, true);
  await stack.setAllConfig({ "tree.list[1]": { value: "second" }, "tree.n": { value: "2" } }, true);
  assert.deepEqual(await stack.getConfig("tree.list[0].name", true), { value: "first", secret: false });
  assert.equal((await stack.getConfig("tree.hidden", true)).value, "hush");
  const whole = { list: [{ name: "first" }, "second"], hidden: "hush", n: 2 };
  const tree = (await stack.getAllConfig())[`${projectName}:tree`];
  assert.deepEqual([JSON.parse(tree.value), tree.secret], [whole, true]);
  await stack.removeConfig("tree.list[0]", true);
  await stack.removeAllConfig(["tree.hidden", "tree.n"], true);
  assert.deepEqual(JSON.parse((await stack.getConfig("tree")).value), { list: ["second"] });
  // A key with a dot is not a path unless it is said to be one.
  await stack.setConfig("a.b", { value: "dotted" });
  assert.deepEqual(await stack.getConfig("a.b"), { value: "dotted", secret: false });
});

test("configuration is set as JSON and brought back from the last update", async () => {
  const { stack, projectName } = await inline(items({}));
  const given = {
    [`${projectName}:object`]: { value: '{"a":[1]}', objectValue: { a: [1] }, secret: false },
    [`${projectName}:key`]: { value: "hush", secret: true },
  };
  await stack.setAllConfigJson(JSON.stringify(given));
  assert.deepEqual(JSON.parse((await stack.getConfig("object")).value), { a: [1] });
  assert.deepEqual(await stack.getConfig("key"), { value: "hush", secret: true });
  await stack.up();
  await stack.setConfig("key", { value: "other" });
  const back = await stack.refreshConfig();
  assert.deepEqual(back[`${projectName}:key`], { value: "hush", secret: true });
});

test("tags", async () => {
  const { stack } = await inline(items({}));
  await stack.setTag("team", "blue");
  await stack.setTag("cost", "two words");
  assert.equal(await stack.getTag("team"), "blue");
  const tags = await stack.listTags();
  assert.deepEqual([tags.team, tags.cost], ["blue", "two words"]);
  await stack.removeTag("team");
  assert.equal((await stack.listTags()).team, undefined);
  await assert.rejects(stack.getTag("team"), /team/);
});

test("history has pages and hides secrets when asked to", async () => {
  const { stack, projectName } = await inline(items({}));
  assert.equal(await stack.info(), undefined);
  await stack.setConfig("key", { value: "hush", secret: true });
  for (const message of ["one", "two", "three"]) await stack.up({ message });
  const messages = async (...page) => (await stack.history(...page)).map(({ message }) => message);
  assert.deepEqual(await messages(), ["three", "two", "one"]);
  assert.deepEqual(await messages(2), ["three", "two"]);
  assert.deepEqual(await messages(2, 2), ["one"]);
  assert.equal((await stack.info(true)).config[`${projectName}:key`].value, "hush");
  const hidden = (await stack.info(false)).config[`${projectName}:key`];
  assert.deepEqual([hidden.secret, hidden.value === "hush"], [true, false]);
});

test("a stack is exported and imported again", async () => {
  const { stack } = await inline(async () => ({ ...await items({ a: {}, b: {} })(), hidden: pulumi.secret("hush") }));
  await stack.up();
  const exported = await stack.exportStack();
  assert.equal(exported.version, 3);
  assert.ok(JSON.stringify(exported).includes("hush"), "secrets are exported in clear");
  const without = structuredClone(exported);
  without.deployment.resources = exported.deployment.resources.filter(({ urn }) => !urn.endsWith("::b"));
  await stack.importStack(without);
  assert.deepEqual(await recorded(stack), ["a"]);
  await stack.importStack(exported);
  assert.deepEqual(await recorded(stack), ["a", "b"]);
  await stack.up({ expectNoChanges: true });
  assert.deepEqual((await stack.outputs()).hidden, { value: "hush", secret: true });
});

test("a stack is renamed", async () => {
  const { stack, projectName } = await inline(items({ a: {} }));
  await stack.setConfig("k", { value: "v" });
  await stack.up();
  const result = await stack.rename({ stackName: "prod" });
  assert.equal(stack.name, "prod");
  assert.equal(result.summary.kind, "update");
  assert.deepEqual((await stack.workspace.listStacks()).map(({ name }) => name), ["prod"]);
  assert.deepEqual(await stack.getConfig("k"), { value: "v", secret: false });
  const { deployment } = await stack.exportStack();
  assert.ok(deployment.resources.every(({ urn }) => urn.startsWith(`urn:pulumi:prod::${projectName}::`)));
  await stack.up({ expectNoChanges: true });
});
