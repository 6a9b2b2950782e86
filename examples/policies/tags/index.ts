import { PolicyPack } from "@pulumi/policy";

new PolicyPack("tags", {
    policies: [{
        name: "required-tags",
        description: "Buckets have tags.",
        enforcementLevel: "mandatory",
        configSchema: { properties: { tags: { type: "array", items: { type: "string" }, default: ["owner"] } } },
        validateResource: (args, reportViolation) => {
            if (args.type !== "aws:s3/bucket:Bucket") {
                return;
            }
            for (const tag of args.getConfig<{ tags: string[] }>().tags) {
                if (args.props.tags?.[tag] === undefined) {
                    reportViolation("the tag " + tag + " is missing");
                }
            }
        },
    }],
});
