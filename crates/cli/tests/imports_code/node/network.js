"use strict";

const { resource } = require("./resource");

exports.Subnet = resource("bench:net/subnet:Subnet", ["itemId"]);
