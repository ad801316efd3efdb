// The workspace itself: stacks, settings, surroundings, and that no method of the SDK is without a test.
"use strict";

const assert = require("node:assert/strict");
const { execFileSync } = require("child_process");
const fs = require("fs");
const http = require("http");
const path = require("path");
const { test } = require("./specification.js");
const { LocalWorkspace, PulumiCommand, Stack, fullyQualifiedStackName } = require("@pulumi/pulumi/automation");
const { folder, inline, items } = require("./shop.js");

test("the version is one that the SDK takes", async () => {
  const command = await PulumiCommand.get();
  assert.match(command.version.toString(), /^3\.\d+\.\d+/);
  const workspace = await LocalWorkspace.create({ workDir: folder("empty") });
  assert.equal(workspace.pulumiVersion, command.version.toString());
});

test("the user and the backend", async () => {
  const workspace = await LocalWorkspace.create({ projectSettings: { name: "who", runtime: "nodejs" } });
  const { user, url } = await workspace.whoAmI();
  assert.equal(user, "ana");
  assert.equal(url, process.env.PULUMI_BACKEND_URL);
});

test("stacks are made, listed, selected and removed", async () => {
  const workspace = await LocalWorkspace.create({ projectSettings: { name: "listing", runtime: "nodejs" } });
  assert.deepEqual(await workspace.listStacks(), []);
  assert.equal(await workspace.stack(), undefined);
  await workspace.createStack("one");
  await workspace.createStack("two");
  assert.equal((await workspace.stack()).name, "two");
  await workspace.selectStack("one");
  assert.equal((await workspace.stack()).name, "one");
  const stacks = await workspace.listStacks();
  assert.deepEqual(stacks.map(({ name, current }) => [name, current]), [["one", true], ["two", false]]);
  // Only this project's, unless all are asked for.
  const other = await LocalWorkspace.create({ projectSettings: { name: "elsewhere", runtime: "nodejs" } });
  await other.createStack("three");
  assert.equal((await workspace.listStacks()).length, 2);
  const all = (await workspace.listStacks({ all: true })).map(({ name }) => name);
  assert.ok(all.some((name) => name.endsWith("three")), all.join());

  await workspace.removeStack("two");
  await workspace.removeStack("one", { preserveConfig: true });
  assert.ok(fs.existsSync(path.join(workspace.workDir, "Pulumi.one.yaml")));
  assert.ok(!fs.existsSync(path.join(workspace.workDir, "Pulumi.two.yaml")));
  assert.deepEqual(await workspace.listStacks(), []);
});

test("a stack with resources is removed only by force", async () => {
  const { stack, world } = await inline(items({ a: {} }));
  await stack.up();
  assert.equal((await stack.workspace.stack()).resourceCount, 3);
  await assert.rejects(stack.workspace.removeStack("dev"), /resources/);
  await stack.workspace.removeStack("dev", { force: true });
  assert.deepEqual(await stack.workspace.listStacks(), []);
  assert.deepEqual(world.names(), ["a"]);
});

test("names in full", async () => {
  const { stack, projectName } = await inline(items({}));
  const stackName = fullyQualifiedStackName("organization", projectName, "full");
  const full = await LocalWorkspace.createOrSelectStack(
    { stackName, projectName, program: items({ a: {} }) },
    { workDir: stack.workspace.workDir, envVars: stack.workspace.envVars },
  );
  await full.setConfig("k", { value: "v" });
  assert.equal((await full.up()).summary.result, "succeeded");
  const names = (await stack.workspace.listStacks()).map(({ name }) => name);
  assert.deepEqual(names, ["dev", "full"]);
  await full.destroy({ remove: true });
});

test("settings of the project and of a stack", async () => {
  const workDir = folder("settings");
  const workspace = await LocalWorkspace.create({
    workDir,
    projectSettings: { name: "settings", runtime: "nodejs", description: "what it is", config: { size: { type: "integer", default: 3 } } },
    stackSettings: { dev: { config: { "settings:color": "red", "settings:deep": { a: [1] } } } },
  });
  await workspace.createStack("dev");
  assert.deepEqual(await workspace.getConfig("dev", "color"), { value: "red", secret: false });
  const settings = await workspace.stackSettings("dev");
  assert.equal(settings.config["settings:color"], "red");
  assert.match(settings.encryptionSalt, /^v1:/);
  settings.config["settings:color"] = "blue";
  await workspace.saveStackSettings("dev", settings);
  assert.equal((await workspace.getAllConfig("dev"))["settings:color"].value, "blue");
  await workspace.setConfig("dev", "key", { value: "hush", secret: true });
  assert.deepEqual(await workspace.getConfig("dev", "key"), { value: "hush", secret: true });

  const project = await workspace.projectSettings();
  assert.equal(project.description, "what it is");
  await workspace.saveProjectSettings({ ...project, description: "something else" });
  const seen = {};
  const stack = await Stack.select("dev", workspace);
  await stack.up({ program: async () => {
    seen.size = new (require("@pulumi/pulumi").Config)().getNumber("size");
  } });
  assert.deepEqual(seen, { size: 3 });
});

test("surroundings and the secrets provider of a workspace", async () => {
  const projectSettings = { name: "surroundings", runtime: "nodejs" };
  const state = folder("state");
  const envVars = { PULUMI_BACKEND_URL: `file://${state}`, PULUMI_CONFIG_PASSPHRASE: "another" };
  const options = { projectSettings, envVars, secretsProvider: "passphrase", pulumiHome: folder("home") };
  const workspace = await LocalWorkspace.create(options);
  const stack = await Stack.create("dev", workspace);
  await stack.setConfig("key", { value: "hush", secret: true });
  assert.equal((await stack.getConfig("key")).value, "hush");
  assert.ok(fs.existsSync(path.join(state, ".pulumi")));
  const elsewhere = await LocalWorkspace.create({ projectSettings });
  assert.deepEqual(await elsewhere.listStacks(), []);
  await assert.rejects(elsewhere.selectStack("dev"), /no stack named/);
});

test("a workspace adds arguments and is told when a command is over", async () => {
  const { stack } = await inline(items({ a: {} }));
  const told = [];
  const file = path.join(folder("settings"), "other.yaml");
  fs.copyFileSync(path.join(stack.workspace.workDir, "Pulumi.dev.yaml"), file);
  stack.workspace.serializeArgsForOp = async (name) => (told.push(`before ${name}`), []);
  stack.workspace.postCommandCallback = async (name) => { told.push(`after ${name}`); };
  await stack.preview({ configFile: file });
  assert.deepEqual(told, ["before dev", "after dev"]);
});

test("plugins are installed from a server, listed and removed", async () => {
  const content = folder("plugin");
  fs.writeFileSync(path.join(content, "pulumi-resource-shelf"), "#!/bin/sh\n", { mode: 0o755 });
  const archive = execFileSync("tar", ["--create", "--gzip", "--directory", content, "."]);
  const asked = [];
  const server = http.createServer(({ url }, answer) => { asked.push(url); answer.end(archive); });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  const address = `http://127.0.0.1:${server.address().port}/files`;
  const options = { projectSettings: { name: "plugins", runtime: "nodejs" }, pulumiHome: folder("home") };
  const workspace = await LocalWorkspace.create(options);
  assert.deepEqual(await workspace.listPlugins(), []);
  await workspace.installPluginFromServer("shelf", "v1.0.0", address);
  await workspace.installPluginFromServer("shelf", "v1.2.0", address);
  // What is installed is not downloaded again.
  await workspace.installPlugin("shelf", "v1.2.0");
  server.close();
  assert.deepEqual(asked.map((url) => url.replace(/-[a-z]+-[a-z0-9]+\.tar\.gz$/, "")),
    ["/files/pulumi-resource-shelf-v1.0.0", "/files/pulumi-resource-shelf-v1.2.0"]);
  const plugins = await workspace.listPlugins();
  assert.deepEqual(plugins.map(({ name, kind, version, size }) => [name, kind, version, size]),
    [["shelf", "resource", "1.0.0", 10], ["shelf", "resource", "1.2.0", 10]]);
  for (const { installTime, lastUsedTime } of plugins) {
    assert.ok(Date.now() - installTime < 600_000 && Date.now() - lastUsedTime < 600_000);
  }
  await workspace.removePlugin("shelf", "<1.1.0");
  assert.deepEqual((await workspace.listPlugins()).map(({ version }) => version), ["1.2.0"]);
  await workspace.removePlugin("shelf");
  assert.deepEqual(await workspace.listPlugins(), []);
});

test("what a project depends on is installed", async () => {
  const workDir = folder("project");
  fs.writeFileSync(path.join(workDir, "Pulumi.yaml"), "name: project\nruntime: nodejs\n");
  const near = folder("near");
  fs.writeFileSync(path.join(near, "package.json"), JSON.stringify({ name: "near", version: "1.0.0" }));
  fs.writeFileSync(path.join(workDir, "package.json"), JSON.stringify({ dependencies: { near: `file:${near}` } }));
  const workspace = await LocalWorkspace.create({ workDir });
  await workspace.install({ noDependencies: true });
  assert.ok(!fs.existsSync(path.join(workDir, "node_modules")));
  await workspace.install();
  assert.ok(fs.existsSync(path.join(workDir, "node_modules", "near", "package.json")));
});

/** What is not driven here, and why. */
const LEFT_OUT = {
  addEnvironments: "Pulumi Cloud", listEnvironments: "Pulumi Cloud", removeEnvironment: "Pulumi Cloud",
  orgGetDefault: "Pulumi Cloud", orgSetDefault: "Pulumi Cloud", checkRemoteSupport: "Pulumi Cloud", remoteArgs: "Pulumi Cloud",
};
const INTERNAL = ["constructor", "setupEventLog", "readLines", "checkInlineSupport", "createBaseOptions", "run", "runPulumiCmd"];

test("every method has a test or a reason to have none", () => {
  const scripts = fs.readdirSync(__dirname).map((file) => fs.readFileSync(path.join(__dirname, file), "utf8")).join("\n");
  const methods = [Stack, LocalWorkspace].flatMap(({ prototype }) =>
    Object.entries(Object.getOwnPropertyDescriptors(prototype)).filter(([, { value }]) => typeof value === "function").map(([name]) => name));
  assert.ok(methods.length > 50, methods.join());
  const untested = methods.filter((name) => !INTERNAL.includes(name) && !(name in LEFT_OUT)
    && !new RegExp(`\\.${name}[(= ]|\\[command\\].*`).test(scripts.replaceAll("[command]", "")));
  assert.deepEqual(untested, []);
});
