import * as pulumi from "@pulumi/pulumi";
import { Thing } from "./thing";

interface Settings {
    things: string[];
}

const config = new pulumi.Config();
const password = config.requireSecret("password");

class Shop extends pulumi.ComponentResource {
    public readonly values: pulumi.Output<(string | undefined)[]>;

    constructor(name: string, settings: Settings, opts?: pulumi.ComponentResourceOptions) {
        super("app:index:Shop", name, {}, opts);
        const things = settings.things.map((thing) =>
            new Thing(thing, { name: thing, value: config.get("value"), secretValue: password }, { parent: this }));
        this.values = pulumi.all(things.map((thing) => thing.value));
        this.registerOutputs({ values: this.values });
    }
}

export const values = new Shop("shop", config.requireObject<Settings>("settings")).values;
export const sentence = pulumi.interpolate`the password is ${password}`;
