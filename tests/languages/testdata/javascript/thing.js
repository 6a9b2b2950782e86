"use strict";

const pulumi = require("@pulumi/pulumi");

// Thing is what the lab provider makes. It has no package of its own.
class Thing extends pulumi.CustomResource {
    constructor(name, args, opts) {
        super("lab:index:Thing", name, { value: undefined, ...args }, opts);
    }
}

module.exports = { Thing };
