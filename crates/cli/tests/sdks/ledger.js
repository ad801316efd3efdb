// What a generated SDK of the provider `ledger` would be.
"use strict";

const pulumi = require("@pulumi/pulumi");

const OUTPUTS = ["name", "kind", "size", "value", "tags", "secret", "token", "serial", "zone"];
const blank = Object.fromEntries(OUTPUTS.map((key) => [key, undefined]));

exports.Item = class extends pulumi.CustomResource {
  constructor(name, properties, options) {
    super("ledger:index:Item", name, { ...blank, ...properties }, options);
  }
};

exports.Group = class extends pulumi.ComponentResource {
  constructor(name, properties, options) {
    super("ledger:index:Group", name, { names: undefined, token: undefined, ...properties }, options, true);
  }
  describe(greeting) {
    return pulumi.runtime.call("ledger:index:Group/describe", { __self__: this, greeting }, this);
  }
};

exports.Provider = class extends pulumi.ProviderResource {
  constructor(name, properties, options) {
    super("ledger", name, properties, options);
  }
};

exports.lookup = (given, options) => pulumi.runtime.invokeOutput("ledger:index:lookup", given, options);
