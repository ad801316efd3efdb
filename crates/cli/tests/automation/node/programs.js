// Programs given inline and programs of a folder: outputs, secrets, configuration, other stacks, several at once.
"use strict";

const assert = require("node:assert/strict");
const fs = require("fs");
const path = require("path");
const { test } = require("./specification.js");
const { LocalWorkspace } = require("@pulumi/pulumi/automation");
const { inline, items, ledger, project, pulumi } = require("./shop.js");

test("outputs of every shape, and secrets among them", async () => {
  const { stack } = await inline(async () => {
    const item = new ledger.Item("a", { value: { deep: [1, { x: "y" }] }, secret: pulumi.secret("hush") });
    return {
      number: 1.5, flag: true, text: "t", none: null, empty: {}, list: [1, "two", [3]],
      value: item.value, token: item.token, hidden: pulumi.secret({ a: [1] }),
      nested: { serial: item.serial, within: pulumi.secret("inner") },
      promise: Promise.resolve("kept"), text2: pulumi.interpolate`${item.name}-${item.serial}`,
      urn: item.urn,
    };
  });
  const { outputs, stdout } = await stack.up();
  assert.equal(outputs.number.value, 1.5);
  assert.equal(outputs.flag.value, true);
  assert.deepEqual(outputs.empty, { value: {}, secret: false });
  assert.deepEqual(outputs.list.value, [1, "two", [3]]);
  assert.deepEqual(outputs.value, { value: { deep: [1, { x: "y" }] }, secret: false });
  assert.deepEqual(outputs.token, { value: "token-of-a", secret: true });
  assert.deepEqual(outputs.hidden, { value: { a: [1] }, secret: true });
  assert.deepEqual(outputs.nested, { value: { serial: 1, within: "inner" }, secret: false });
  assert.equal(outputs.promise.value, "kept");
  assert.equal(outputs.text2.value, "a-1");
  assert.match(outputs.urn.value, /::ledger:index:Item::a$/);
  assert.deepEqual(await stack.outputs(), outputs);
  assert.deepEqual(await stack.workspace.stackOutputs("dev"), outputs);
  for (const secret of ["token-of-a", "hush", "inner"]) assert.ok(!stdout.includes(secret), stdout);
});

test("configuration and surroundings reach the program", async () => {
  const seen = {};
  const { stack, projectName } = await inline(async () => {
    const config = new pulumi.Config();
    seen.size = config.requireNumber("size");
    seen.names = [pulumi.getProject(), pulumi.getStack(), pulumi.getOrganization(), pulumi.runtime.isDryRun()];
    return { secret: config.requireSecret("key"), list: config.requireObject("list"), other: new pulumi.Config("other").get("k") };
  });
  await stack.setAllConfig({ size: { value: "3" }, key: { value: "hush", secret: true }, "other:k": { value: "v" } });
  await stack.setConfig("list[0]", { value: "first" }, true);
  await stack.preview();
  assert.equal(seen.names[3], true);
  const { outputs } = await stack.up();
  assert.deepEqual(seen, { size: 3, names: [projectName, "dev", "organization", false] });
  assert.deepEqual(outputs, {
    secret: { value: "hush", secret: true }, list: { value: ["first"], secret: false }, other: { value: "v", secret: false },
  });
  const { config } = (await stack.history(1))[0];
  assert.deepEqual(config[`${projectName}:key`], { value: "hush", secret: true });
});

test("a component, a function and a method of a provider", async () => {
  const { stack, world } = await inline(async () => {
    const group = new ledger.Group("g", { count: 2, value: "v" });
    const found = ledger.lookup({ id: group.names.apply(([name]) => name) });
    return { names: group.names, text: group.describe("hello").apply(({ text }) => text), found: found.apply(({ found }) => found) };
  });
  const { outputs, summary } = await stack.up();
  assert.deepEqual(outputs.names.value, ["g-0", "g-1"]);
  assert.equal(outputs.text.value, "hello from g");
  assert.equal(outputs.found.value, true);
  assert.equal(summary.resourceChanges.create, 4);
  await stack.destroy();
  assert.deepEqual(world.names(), []);
});

test("a dynamic provider of an inline program", async () => {
  const { stack } = await inline(async () => {
    const provider = {
      async create({ n }) { return { id: `made-${n}`, outs: { n, twice: 2 * n } }; },
      async update(id, olds, { n }) { return { outs: { n, twice: 2 * n } }; },
    };
    class Thing extends pulumi.dynamic.Resource {
      constructor(name, props) { super(provider, name, { twice: undefined, ...props }); }
    }
    const thing = new Thing("t", { n: new pulumi.Config().requireNumber("n") });
    return { id: thing.id, twice: thing.twice };
  }, { workDir: project({}) });
  await stack.setConfig("n", { value: "2" });
  assert.deepEqual((await stack.up()).outputs.twice.value, 4);
  await stack.setConfig("n", { value: "5" });
  const { outputs, summary } = await stack.up();
  assert.deepEqual([outputs.id.value, outputs.twice.value, summary.resourceChanges.update], ["made-2", 10, 1]);
  await stack.destroy();
});

test("transforms and hooks of an inline program", async () => {
  const ran = [];
  const { stack, world } = await inline(async () => {
    pulumi.runtime.registerResourceTransform(({ type, props, opts }) =>
      type === "ledger:index:Item" ? { props: { ...props, kind: "transformed" }, opts } : undefined);
    const hook = new pulumi.ResourceHook("note", async ({ name }) => { ran.push(name); });
    new ledger.Item("a", {}, { hooks: { afterCreate: [hook] } });
  });
  await stack.up();
  assert.deepEqual(ran, ["a"]);
  assert.equal(world.calls("create").at(-1).inputs.kind, "transformed");
});

test("a program of a folder", async () => {
  const workDir = project({ "index.js": `
const pulumi = require("@pulumi/pulumi");
const provider = {
  async create(inputs) { return { id: "made", outs: inputs }; },
  async delete() {},
};
class Thing extends pulumi.dynamic.Resource {
  constructor(name, props) { super(provider, name, props); }
}
const thing = new Thing("t", { color: new pulumi.Config().require("color"), hidden: pulumi.secret("hush") });
exports.color = thing.color;
exports.hidden = thing.hidden;
exports.variable = process.env.SHOP_VARIABLE;
`, "Pulumi.dev.yaml": "config:\n  color: red\n" });
  const stack = await LocalWorkspace.createStack({ stackName: "dev", workDir }, { envVars: { SHOP_VARIABLE: "set" } });
  assert.deepEqual((await stack.preview()).changeSummary, { create: 2 });
  const up = await stack.up();
  assert.deepEqual(up.outputs.color, { value: "red", secret: false });
  assert.deepEqual(up.outputs.hidden, { value: "hush", secret: true });
  assert.equal(up.outputs.variable.value, "set");
  assert.equal(up.summary.environment["exec.kind"], "auto.local");
  await stack.setConfig("color", { value: "blue" });
  const again = await LocalWorkspace.selectStack({ stackName: "dev", workDir });
  assert.equal((await again.up()).summary.resourceChanges.update, 1);
  assert.deepEqual((await again.destroy({ remove: true })).summary.resourceChanges, { delete: 2 });
  assert.ok(!fs.existsSync(path.join(workDir, "Pulumi.dev.yaml")));
});

test("a program of a folder that throws, and one that does not compile", async () => {
  const workDir = project({ "index.js": "throw new Error('the program is wrong');\n" });
  const stack = await LocalWorkspace.createOrSelectStack({ stackName: "dev", workDir });
  await assert.rejects(stack.up(), /the program is wrong/);
  fs.writeFileSync(path.join(workDir, "index.js"), "const = 1;\n");
  await assert.rejects(stack.preview(), /SyntaxError/);
});

test("a program in TypeScript", async () => {
  const workDir = project({
    "package.json": '{"main": "index.ts"}\n', "tsconfig.json": '{"compilerOptions": {"module": "commonjs", "target": "es2020", "strict": true}}\n',
    "index.ts": 'import * as pulumi from "@pulumi/pulumi";\nexport const answer: pulumi.Output<number> = pulumi.output(42);\n',
  });
  const stack = await LocalWorkspace.createOrSelectStack({ stackName: "dev", workDir });
  assert.deepEqual((await stack.up()).outputs, { answer: { value: 42, secret: false } });
});

test("a stack reads another", async () => {
  const first = await inline(async () => ({ open: "o", hidden: pulumi.secret("h") }));
  await first.stack.up();
  const second = await inline(async () => {
    const other = new pulumi.StackReference(`organization/${first.projectName}/dev`);
    return { open: other.getOutput("open"), hidden: other.getOutput("hidden"), none: other.getOutput("none") };
  });
  const { outputs } = await second.stack.up();
  assert.deepEqual([outputs.open, outputs.hidden], [{ value: "o", secret: false }, { value: "h", secret: true }]);
});

test("two stacks are updated at the same time by one process", async () => {
  const stacks = await Promise.all(["one", "two"].map((name) => inline(async () => {
    const item = new ledger.Item(name, { delayMs: 500 });
    return { name: item.name, project: pulumi.getProject() };
  })));
  const results = await Promise.all(stacks.map(({ stack }) => stack.up()));
  assert.deepEqual(results.map(({ outputs }) => outputs.name.value), ["one", "two"]);
  assert.deepEqual(results.map(({ outputs }) => outputs.project.value), stacks.map(({ projectName }) => projectName));
  assert.deepEqual(stacks.map(({ world }) => world.names()), [["one"], ["two"]]);
  await Promise.all(stacks.map(({ stack }) => stack.destroy()));
});
