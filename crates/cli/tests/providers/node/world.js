// The world that the provider keeps: a folder with a file for each object, and every call that was made.
"use strict";

const fs = require("fs");
const path = require("path");

const SIGNATURE = "4dabf18193072939515e22adb298388d";
const SECRET = "1b47061264138c4ac30d75fd1eb44270";
const UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

const folder = process.env.LEDGER_WORLD || path.join(require("os").tmpdir(), "ledger-world");
fs.mkdirSync(path.join(folder, "objects"), { recursive: true });
const counts = {};

const secret = (value) => ({ [SIGNATURE]: SECRET, value });
const isSecret = (value) => value !== null && typeof value === "object" && value[SIGNATURE] === SECRET;

/** A value without its secrets' wrapping; masked, they are not shown. */
function plain(value, mask = false) {
  if (isSecret(value)) {
    if (!mask) return plain(value.value);
    return value.value === UNKNOWN ? "[secret unknown]" : "[secret]";
  }
  if (value === UNKNOWN) return "[unknown]";
  if (Array.isArray(value)) return value.map((element) => plain(element, mask));
  if (value !== null && typeof value === "object") {
    return Object.fromEntries(Object.entries(value).map(([key, element]) => [key, plain(element, mask)]));
  }
  return value;
}

const holdsSecret = (value) =>
  isSecret(value) || (value !== null && typeof value === "object" && Object.values(value).some(holdsSecret));

/**
 * Writes a call down for good before it is carried out, and crashes or hangs when that was asked for. What it returns
 * is to be awaited when the work is done and not answered yet.
 */
async function record(call) {
  for (const key of ["inputs", "state", "olds"]) {
    if (call[key] && Object.keys(call[key]).length > 0) call[key] = plain(call[key], true);
    else delete call[key];
  }
  const file = fs.openSync(path.join(folder, "calls.jsonl"), "a");
  fs.writeSync(file, JSON.stringify(call) + "\n");
  fs.fsyncSync(file);
  fs.closeSync(file);
  const count = (counts[call.method] = (counts[call.method] || 0) + 1);
  await misbehave(call.method, count, "before");
  return () => misbehave(call.method, count, "after");
}

/** Crashes (LEDGER_KILL_AT) or hangs (LEDGER_HANG) at a call given as `method:number[:after]`. */
async function misbehave(method, count, moment) {
  const at = (name) => {
    const [wanted, number, when] = (process.env[name] || "").split(":");
    return wanted === method && number === String(count) && (when || "before") === moment;
  };
  if (at("LEDGER_KILL_AT")) process.exit(137);
  if (at("LEDGER_HANG")) await new Promise(() => {});
}

const pathOf = (id) => path.join(folder, "objects", id.replace(/\//g, "_") + ".json");

/** The first name made from a stem that nothing has. */
function free(stem) {
  let name = stem;
  for (let number = 2; fs.existsSync(pathOf(name)); number++) name = `${stem}-${number}`;
  return name;
}

function get(id) {
  return fs.existsSync(pathOf(id)) ? JSON.parse(fs.readFileSync(pathOf(id), "utf8")) : undefined;
}

/** Writes an object whole or not at all. A new one must not exist yet. */
function put(object, isNew) {
  const draft = `${pathOf(object.id)}.${process.hrtime.bigint()}`;
  fs.writeFileSync(draft, JSON.stringify(object));
  if (!isNew) return fs.renameSync(draft, pathOf(object.id));
  try {
    fs.linkSync(draft, pathOf(object.id));
  } catch (error) {
    throw error.code === "EEXIST" ? new Error(`an object named "${object.id}" exists`) : error;
  } finally {
    fs.unlinkSync(draft);
  }
}

const remove = (id) => fs.rmSync(pathOf(id), { force: true });

module.exports = { free, get, holdsSecret, plain, put, record, remove, secret };
