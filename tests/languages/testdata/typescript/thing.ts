import * as pulumi from "@pulumi/pulumi";

export interface ThingArgs {
    name: pulumi.Input<string>;
    value?: pulumi.Input<string | undefined>;
    secretValue?: pulumi.Input<string>;
}

// Thing is what the lab provider makes. It has no package of its own.
export class Thing extends pulumi.CustomResource {
    public readonly value!: pulumi.Output<string | undefined>;

    constructor(name: string, args: ThingArgs, opts?: pulumi.CustomResourceOptions) {
        super("lab:index:Thing", name, { value: undefined, ...args }, opts);
    }
}
