// What a generated SDK of the package `bench` would be, by the schema beside it.
"use strict";

const pulumi = require("@pulumi/pulumi");
const { resource } = require("./resource");

exports.network = require("./network");

exports.Item = resource("bench:index/item:Item", ["name", "arn"], ["secretText"]);

exports.Provider = class extends pulumi.ProviderResource {
  constructor(name, given = {}, options) {
    const { retries, accessKey, ...others } = given;
    const inputs = {
      ...others,
      retries: retries === undefined ? undefined : pulumi.output(retries).apply(JSON.stringify),
      accessKey: accessKey === undefined ? undefined : pulumi.secret(accessKey),
    };
    super("bench", name, inputs, pulumi.mergeOptions({ version: "1.0.0" }, options));
  }
};
