// Runs the tests of a script one after the other. The arguments pick tests by words of their names.
//
// The SDK listens for rejections that nothing handles while it runs a program, and `node:test` does so too and takes
// them for failures of the test; so it is not used.
"use strict";

const tests = [];

exports.test = (name, run) => {
  if (tests.length === 0) setImmediate(runAll);
  tests.push({ name, run });
};

async function runAll() {
  const words = process.argv.slice(2);
  const picked = tests.filter(({ name }) => words.every((word) => name.includes(word)));
  let failures = 0;
  for (const { name, run } of picked) {
    const began = Date.now();
    const seconds = () => `(${((Date.now() - began) / 1000).toFixed(1)}s)`;
    try {
      await run();
      console.log(`ok: ${name} ${seconds()}`);
    } catch (error) {
      failures += 1;
      console.log(`FAILED: ${name} ${seconds()}\n${error.stack}`);
    }
  }
  console.log(`${picked.length - failures} passed, ${failures} failed`);
  process.exit(failures === 0 && picked.length > 0 ? 0 : 1);
}
