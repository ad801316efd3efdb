// Policy packs, as `policyPacks` and `policyPackConfigs` name them.
"use strict";

const assert = require("node:assert/strict");
const fs = require("fs");
const path = require("path");
const { test } = require("./specification.js");
const { inline, items } = require("./shop.js");

let packs = 0;

/** A folder with the pack that writes down what it is asked. */
function pack() {
  const made = path.resolve(`pack-${++packs}`);
  fs.cpSync(path.join(__dirname, "../../policy_packs/witness_node"), made, { recursive: true });
  fs.writeFileSync(path.join(made, "PulumiPolicy.yaml"), "runtime: nodejs\n");
  fs.symlinkSync(path.join(process.env.DRYSTONE_PEER_NODE_POLICY, "node_modules"), path.join(made, "node_modules"));
  return made;
}

test("a stack is held to a policy pack", async () => {
  const { stack, world } = await inline(items({ a: { size: 50, tags: { x: "y" } } }));
  const events = [];
  const up = await stack.up({ policyPacks: [pack()], onEvent: (event) => events.push(event) });
  assert.equal(up.summary.result, "succeeded");
  assert.equal(world.calls("create")[0].inputs.size, 10);
  const { policyRemediationEvent } = events.find((event) => event.policyRemediationEvent);
  assert.deepEqual([policyRemediationEvent.before.size, policyRemediationEvent.after.size], [50, 10]);
  assert.ok(world.calls("policy stack").length === 1);
});

test("a mandatory policy fails a preview and an update, and settings make it milder", async () => {
  const { stack, world, urn } = await inline(items({ a: { kind: "evil" } }));
  const folder = pack();
  const events = [];
  for (const command of ["preview", "up"]) {
    const running = stack[command]({ policyPacks: [folder], onEvent: (event) => events.push(event) });
    await assert.rejects(running, (error) => { assert.match(error.message, /exit code 5/); return true; });
  }
  const broken = events.filter(({ policyEvent }) => policyEvent?.enforcementLevel === "mandatory");
  assert.deepEqual(broken.map(({ policyEvent }) => policyEvent.resourceUrn), [urn("a"), urn("a")]);
  assert.deepEqual(world.names(), []);
  const settings = path.resolve("settings.json");
  fs.writeFileSync(settings, JSON.stringify({ kind: "advisory" }));
  await stack.up({ policyPacks: [folder], policyPackConfigs: [settings] });
  assert.deepEqual(world.names(), ["a"]);
});
