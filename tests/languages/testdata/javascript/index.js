"use strict";

const { Thing } = require("./thing");

exports.value = new Thing("a", { name: "a", value: "plain" }).value;
