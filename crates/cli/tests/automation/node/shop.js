// Stacks of a project `shop…`, each with a world of its own that the provider `ledger` keeps in a folder.
"use strict";

const fs = require("fs");
const path = require("path");
const pulumi = require("@pulumi/pulumi");
const { LocalWorkspace } = require("@pulumi/pulumi/automation");
const ledger = require("../../sdks/ledger.js");

let folders = 0;

/** A new folder in the test's own. */
function folder(name) {
  const made = path.resolve(`${name}-${++folders}`);
  fs.mkdirSync(made);
  return made;
}

/** What really exists. */
class World {
  constructor() {
    this.folder = folder("world");
    fs.mkdirSync(path.join(this.folder, "objects"));
    this.variables = { LEDGER_WORLD: this.folder };
  }
  names() {
    return fs.readdirSync(path.join(this.folder, "objects")).filter((file) => file.endsWith(".json"))
      .map((file) => file.slice(0, -5)).sort();
  }
  calls(method) {
    const file = path.join(this.folder, "calls.jsonl");
    const lines = fs.existsSync(file) ? fs.readFileSync(file, "utf8").trim().split("\n") : [];
    return lines.map((line) => JSON.parse(line)).filter((call) => call.method === method);
  }
  /** Something that no program made. */
  appear(name, inputs) {
    const object = { id: name, urn: "", inputs: { ...inputs, name }, secrets: [], serial: 7 };
    fs.writeFileSync(path.join(this.folder, "objects", `${name}.json`), JSON.stringify(object));
  }
  tamper(name, inputs) {
    const file = path.join(this.folder, "objects", `${name}.json`);
    const object = JSON.parse(fs.readFileSync(file, "utf8"));
    Object.assign(object.inputs, inputs);
    fs.writeFileSync(file, JSON.stringify(object));
  }
}

/** A program that makes items, each given by its inputs. `after` names those that it waits for. */
function items(given) {
  return async () => {
    const made = {};
    for (const [name, { after = [], options, ...inputs }] of Object.entries(given)) {
      made[name] = new ledger.Item(name, inputs, { ...options, dependsOn: after.map((other) => made[other]) });
    }
    return Object.fromEntries(Object.entries(made).map(([name, item]) => [name, item.serial]));
  };
}

/** A new stack whose program is a function of this process. */
async function inline(program, { stackName = "dev", projectName = `shop${++folders}`, ...options } = {}) {
  const world = new World();
  const envVars = { ...world.variables, ...options.envVars };
  const stack = await LocalWorkspace.createStack({ stackName, projectName, program }, { ...options, envVars });
  const urn = (name, type = "ledger:index:Item") => `urn:pulumi:${stackName}::${projectName}::${type}::${name}`;
  return { stack, world, projectName, urn };
}

/** A folder with a Node.js program. */
function project(files, name = `shop${++folders}`) {
  const made = folder("project");
  files = { "Pulumi.yaml": `name: ${name}\nruntime: nodejs\n`, "package.json": '{"main": "index.js"}\n', ...files };
  for (const [file, text] of Object.entries(files)) fs.writeFileSync(path.join(made, file), text);
  fs.symlinkSync(process.env.NODE_PATH, path.join(made, "node_modules"));
  return made;
}

/** The names of a stack's resources of the provider `ledger`. */
async function recorded(stack) {
  const { deployment } = await stack.exportStack();
  return (deployment.resources || []).filter(({ type }) => type === "ledger:index:Item")
    .map(({ urn }) => urn.split("::").pop()).sort();
}

/** Waits until something holds. */
async function until(what, holds) {
  const began = Date.now();
  while (!holds()) {
    if (Date.now() - began > 60000) throw new Error(`waited a minute for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

module.exports = { World, folder, inline, items, ledger, project, pulumi, recorded, until };
