"use strict";

const pulumi = require("@pulumi/pulumi");

exports.greeting = `Hello from ${pulumi.getStack()}`;
