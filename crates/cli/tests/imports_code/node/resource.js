// A class as generated SDKs have them: it passes the version of its package, and hides what the schema calls secret.
"use strict";

const pulumi = require("@pulumi/pulumi");

exports.resource = (token, outputs, secrets = []) =>
  class extends pulumi.CustomResource {
    constructor(name, given, options) {
      const blank = Object.fromEntries(outputs.map((key) => [key, undefined]));
      const hidden = Object.fromEntries(
        secrets.filter((key) => given && given[key] !== undefined).map((key) => [key, pulumi.secret(given[key])]),
      );
      const usual = { version: "1.0.0", additionalSecretOutputs: secrets };
      super(token, name, { ...blank, ...given, ...hidden }, pulumi.mergeOptions(usual, options));
    }
  };
