// The provider `ledger` in JavaScript: resources of a world that is a folder, which behave as their inputs ask.
"use strict";

const fs = require("fs");
const path = require("path");
const pulumi = require("@pulumi/pulumi");
const provider = require("@pulumi/pulumi/provider");
const world = require("./world");

const INPUTS = [
  "name", "kind", "size", "value", "tags", "secret", "deleteBeforeReplace", "failOn", "initError", "delayMs",
];
const REPLACING = ["name", "kind"];

const text = (properties, key) => world.plain(properties[key]);
const nameIn = (urn) => urn.split("::").pop();
const pause = (properties) => new Promise((done) => setTimeout(done, text(properties, "delayMs") || 0));

function failOn(properties, method) {
  if (text(properties, "failOn") === method) throw new Error(`asked to fail at ${method}`);
}

/** An object for the world. */
function objectOf(id, urn, properties, serial) {
  const secrets = Object.keys(properties).filter((key) => world.holdsSecret(properties[key])).sort();
  return { id, urn, inputs: world.plain(properties), secrets, serial };
}

function inputsOf(object) {
  const inputs = { ...object.inputs };
  for (const key of object.secrets) if (key in inputs) inputs[key] = world.secret(inputs[key]);
  return inputs;
}

const outputsOf = (object) =>
  ({ ...inputsOf(object), token: world.secret(`token-of-${object.id}`), serial: object.serial });

function halfDone(properties, object) {
  if (!text(properties, "initError")) return;
  const reasons = ["asked to be half done"];
  throw Object.assign(new Error(reasons[0]), { id: object.id, properties: outputsOf(object), reasons });
}

class Item extends pulumi.CustomResource {
  constructor(name, properties, options) {
    super("ledger:index:Item", name, { ...properties, name: undefined, token: undefined }, options);
  }
}

/** The component: as many items as its `count` says. */
class Group extends pulumi.ComponentResource {
  constructor(name, { count, kind, value, secret }, options) {
    super("ledger:index:Group", name, {}, options);
    const items = [];
    for (let number = 0; number < count; number++) {
      items.push(new Item(`${name}-${number}`, { kind, value, secret }, { parent: this }));
    }
    this.items = items;
    this.state = { names: items.map((item) => item.name) };
    if (items.length > 0) this.state.token = items[0].token;
  }
}

const ledger = {
  version: "1.0.0",
  schema: fs.readFileSync(path.join(__dirname, "../go/schema.json"), "utf8"),

  async check(urn, olds, news) {
    await world.record({ method: "check", urn, inputs: news, olds });
    if (text(news, "failOn") === "check") {
      return { inputs: news, failures: [{ property: "failOn", reason: "asked to fail at check" }] };
    }
    if (text(news, "size") < 0) {
      return { inputs: news, failures: [{ property: "size", reason: "must not be negative" }] };
    }
    const inputs = { ...news };
    if (inputs.name === undefined) inputs.name = (olds && olds.name) || world.free(nameIn(urn));
    if (inputs.secret !== undefined && !world.holdsSecret(inputs.secret)) inputs.secret = world.secret(inputs.secret);
    return { inputs };
  },

  async diff(id, urn, olds, news) {
    await world.record({ method: "diff", urn, id, inputs: news, state: olds });
    failOn(news, "diff");
    const same = (key) => JSON.stringify(world.plain(olds[key])) === JSON.stringify(world.plain(news[key]));
    const changed = INPUTS.filter((key) => !same(key));
    return {
      changes: changed.length > 0,
      replaces: changed.filter((key) => REPLACING.includes(key)),
      deleteBeforeReplace: text(news, "deleteBeforeReplace") === true,
    };
  },

  async create(urn, inputs) {
    const done = await world.record({ method: "create", urn, inputs });
    await pause(inputs);
    failOn(inputs, "create");
    const made = objectOf(text(inputs, "name"), urn, inputs, 1);
    world.put(made, true);
    await done();
    halfDone(inputs, made);
    return { id: made.id, outs: outputsOf(made) };
  },

  async read(id, urn, state) {
    await world.record({ method: "read", urn, id, state });
    failOn(state || {}, "read");
    const found = world.get(id);
    return found ? { id, props: outputsOf(found), inputs: inputsOf(found) } : { id: "", props: {} };
  },

  async update(id, urn, olds, news) {
    const done = await world.record({ method: "update", urn, id, inputs: news, state: olds });
    await pause(news);
    failOn(news, "update");
    const found = world.get(id);
    if (!found) throw new Error(`there is no object named "${id}"`);
    const changed = objectOf(id, urn, news, found.serial + 1);
    world.put(changed, false);
    await done();
    halfDone(news, changed);
    return { outs: outputsOf(changed) };
  },

  async delete(id, urn, state) {
    const done = await world.record({ method: "delete", urn, id, state });
    await pause(state);
    failOn(state, "delete");
    world.remove(id);
    await done();
  },

  async invoke(token, inputs) {
    await world.record({ method: "invoke", id: token, inputs });
    if (token !== "ledger:index:lookup") throw new Error(`there is no function "${token}"`);
    if (text(inputs, "fail")) throw new Error("asked to fail at invoke");
    const found = world.get(text(inputs, "id"));
    if (!found) return { outputs: { found: false } };
    const { inputs: { value }, serial, id } = found;
    return { outputs: { found: true, value: value ?? null, serial, token: world.secret(`token-of-${id}`) } };
  },

  async construct(name, type, inputs, options) {
    if (type !== "ledger:index:Group") throw new Error(`there is no component "${type}"`);
    await world.record({ method: "construct", id: name });
    const group = new Group(name, inputs, options);
    if (inputs.fail) {
      // Its items are made when it fails, so that what it leaves does not depend on who is quicker.
      await new Promise((done) => pulumi.all(group.items.map((item) => item.urn)).apply(done));
      throw new Error("asked to fail at construct");
    }
    group.registerOutputs(group.state);
    return { urn: group.urn, state: group.state };
  },

  async call(token, inputs) {
    await world.record({ method: "call", id: token });
    const text = pulumi
      .all([inputs.__self__.urn || inputs.__self__, inputs.greeting])
      .apply(([urn, greeting]) => `${greeting ?? ""} from ${nameIn(urn)}`);
    return { outputs: { text } };
  },
};

provider.main(ledger, process.argv.slice(2));
