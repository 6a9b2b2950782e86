import { PolicyPack } from "@pulumi/policy";

// The resources that have an ACL, by the last part of their types.
const withAcl = ["Bucket", "BucketV2", "BucketAcl", "BucketAclV2", "BucketObject", "BucketObjectv2"];
const publicAcls = ["public-read", "public-read-write", "authenticated-read"];
const blocks = ["blockPublicAcls", "blockPublicPolicy", "ignorePublicAcls", "restrictPublicBuckets"];

const isOf = (type: string, names: string[]) => type.startsWith("aws:s3/") && names.includes(type.slice(type.lastIndexOf(":") + 1));

new PolicyPack("public-buckets", {
    policies: [{
        name: "no-public-acl",
        description: "No bucket and no object in it is public.",
        enforcementLevel: "mandatory",
        validateResource: (args, reportViolation) => {
            if (isOf(args.type, withAcl) && publicAcls.includes(args.props.acl)) {
                reportViolation("the ACL " + args.props.acl + " lets others read it: remove it");
            }
        },
    }, {
        name: "public-access-block",
        description: "The public access block of a bucket blocks all.",
        enforcementLevel: "mandatory",
        validateResource: (args, reportViolation) => {
            if (!isOf(args.type, ["BucketPublicAccessBlock"])) {
                return;
            }
            for (const block of blocks) {
                if (args.props[block] !== true) {
                    reportViolation(block + " must be true");
                }
            }
        },
    }],
});
