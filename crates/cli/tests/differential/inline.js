// Runs one command on the stack `dev`, with program.js of the working folder given inline through the Automation API.
//
// The exit code is that of the CLI. A preview prints its steps as JSON.
"use strict";

const path = require("path");
const pulumi = require("@pulumi/pulumi");
const automation = require("@pulumi/pulumi/automation");
const ledger = require("../sdks/ledger");

/** Command-line words as options of the Automation API. */
function optionsOf(words) {
  const options = { parallel: 1, target: [], replace: [], exclude: [] };
  while (words.length > 0) {
    const word = words.shift();
    if (word === "-p") options.parallel = Number(words.shift());
    else if (["--target", "--replace", "--exclude"].includes(word)) options[word.slice(2)].push(words.shift());
    else options[word.slice(2).replace(/-(.)/g, (_, letter) => letter.toUpperCase())] = true;
  }
  for (const key of ["target", "replace", "exclude"]) if (options[key].length === 0) delete options[key];
  return options;
}

async function main([command, ...words]) {
  const program = () => require(path.resolve("program.js"))(pulumi, ledger);
  const settings = { stackName: "dev", projectName: "shop", program };
  const stack = await automation.LocalWorkspace.selectStack(settings, { workDir: process.cwd() });
  const steps = [];
  const onEvent = ({ resourcePreEvent: event }) => {
    if (event) steps.push({ urn: event.metadata.urn, op: event.metadata.op, keys: event.metadata.keys });
  };
  const print = (text) => process.stderr.write(text);
  const result = await stack[command]({ ...optionsOf(words), onEvent, onOutput: print, onError: print });
  if (command === "preview") console.log(JSON.stringify({ steps, changeSummary: result.changeSummary }));
}

main(process.argv.slice(2)).catch((error) => {
  console.error(error.message);
  process.exit(error.commandResult ? error.commandResult.code : 1);
});
