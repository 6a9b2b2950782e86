import { PolicyPack } from "@pulumi/policy";

// A provider has the region of its resources. Since version 7 of the provider, a resource can have another.
const isProvider = (type: string) => type === "pulumi:providers:aws" || type === "pulumi:providers:aws-native";
const isResource = (type: string) => type.startsWith("aws:") || type.startsWith("aws-native:");

new PolicyPack("regions", {
    policies: [{
        name: "allowed-regions",
        description: "Resources are in allowed regions.",
        enforcementLevel: "mandatory",
        configSchema: { properties: { regions: { type: "array", items: { type: "string" } } }, required: ["regions"] },
        validateResource: (args, reportViolation) => {
            const { regions } = args.getConfig<{ regions: string[] }>();
            const region: string | undefined = args.props.region;
            if (isProvider(args.type) && region === undefined) {
                reportViolation("the region is in no config of the program, so it is not known: set aws:region");
            }
            if ((isProvider(args.type) || isResource(args.type)) && region !== undefined && !regions.includes(region)) {
                reportViolation("the region " + region + " is not allowed, only " + regions.join(", "));
            }
        },
    }],
});
