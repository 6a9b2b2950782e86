// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package standin

import (
	"github.com/pulumi/pulumi/pkg/v3/codegen/schema"
	"github.com/pulumi/pulumi/sdk/v3/go/property"
)

const awsAccount = "123456789012"

// aws has what a web server and a static web site need.
func aws() Package {
	const rule, website = "aws:ec2/SecurityGroupRule:SecurityGroupRule", "aws:s3/BucketWebsite:BucketWebsite"
	const index, owners = "aws:s3/BucketWebsiteConfigurationIndexDocument:BucketWebsiteConfigurationIndexDocument",
		"aws:s3/BucketOwnershipControlsRule:BucketOwnershipControlsRule"
	tags, ofBucket := optional(mapOf(text)), Property{Type: text, Required: true, Replaces: true}
	return Package{
		Name: "aws", Version: "5.42.0",
		Config: map[string]Property{"region": optional(text), "profile": optional(text)},
		Types: map[string]map[string]Property{
			rule: {
				"protocol": required(text), "fromPort": required(integer), "toPort": required(integer),
				"cidrBlocks": optional(listOf(text)), "description": optional(text),
			},
			website: {"indexDocument": optional(text), "errorDocument": optional(text), "redirectAllRequestsTo": optional(text)},
			index:   {"suffix": required(text)},
			owners:  {"objectOwnership": required(text)},
		},
		Resources: map[string]Resource{
			"aws:ec2/securityGroup:SecurityGroup": {
				Prefix: "sg",
				Inputs: map[string]Property{
					"name": replacing(text), "description": replacing(text), "vpcId": replacing(text),
					"ingress": optional(listOf(objectOf(rule))), "egress": optional(listOf(objectOf(rule))), "tags": tags,
				},
				Outputs: map[string]Output{
					"name":    made(func(t Thing) string { return t.Name + "-" + t.ID }),
					"vpcId":   made(func(Thing) string { return "vpc-00000001" }),
					"ownerId": made(func(Thing) string { return awsAccount }),
					"arn": made(func(t Thing) string {
						return "arn:aws:ec2:" + t.text("region") + ":" + awsAccount + ":security-group/" + t.ID
					}),
				},
			},
			"aws:ec2/instance:Instance": {
				Prefix: "i",
				Inputs: map[string]Property{
					"ami": replacing(text), "instanceType": optional(text), "keyName": replacing(text), "userData": optional(text),
					"vpcSecurityGroupIds": optional(textOrTexts()), "subnetId": replacing(text), "tags": tags,
				},
				Outputs: map[string]Output{
					"publicIp":  made(func(Thing) string { return "203.0.113.7" }),
					"publicDns": made(func(t Thing) string { return "ec2-203-0-113-7." + t.text("region") + ".compute.amazonaws.com" }),
					"arn": made(func(t Thing) string {
						return "arn:aws:ec2:" + t.text("region") + ":" + awsAccount + ":instance/" + t.ID
					}),
				},
			},
			"aws:s3/bucket:Bucket": {
				Inputs: map[string]Property{
					"bucket": replacing(text), "acl": optional(text), "website": optional(objectOf(website)),
					"forceDestroy": optional(boolean), "tags": tags,
				},
				Outputs: map[string]Output{
					"bucket":           made(func(t Thing) string { return t.ID }),
					"arn":              made(func(t Thing) string { return "arn:aws:s3:::" + t.ID }),
					"region":           made(func(t Thing) string { return t.text("region") }),
					"bucketDomainName": made(func(t Thing) string { return t.ID + ".s3.amazonaws.com" }),
					"websiteEndpoint":  made(websiteEndpoint),
				},
			},
			"aws:s3/bucketWebsiteConfiguration:BucketWebsiteConfiguration": {
				Inputs: map[string]Property{"bucket": ofBucket, "indexDocument": optional(objectOf(index))},
				Outputs: map[string]Output{"websiteEndpoint": made(func(t Thing) string {
					return t.text("bucket") + ".s3-website-" + t.text("region") + ".amazonaws.com"
				})},
			},
			"aws:s3/bucketOwnershipControls:BucketOwnershipControls": {
				Inputs: map[string]Property{"bucket": ofBucket, "rule": {Type: objectOf(owners), Required: true}},
			},
			"aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock": {
				Inputs: map[string]Property{"bucket": ofBucket, "blockPublicAcls": optional(boolean), "blockPublicPolicy": optional(boolean),
					"ignorePublicAcls": optional(boolean), "restrictPublicBuckets": optional(boolean)},
			},
			"aws:s3/bucketObject:BucketObject":     bucketObject(),
			"aws:s3/bucketObjectv2:BucketObjectv2": bucketObject(),
		},
		Functions: map[string]Function{"aws:ec2/getAmi:getAmi": getAmi()},
		Open:      func(property.Map) (Place, error) { return openDirectory() },
	}
}

// bucketObject has two names in the real package. The programs of 2022 use the first.
func bucketObject() Resource {
	return Resource{
		Inputs: map[string]Property{
			"bucket": {Type: text, Required: true, Replaces: true}, "key": replacing(text), "content": optional(text),
			"contentType": optional(text), "acl": optional(text), "tags": optional(mapOf(text)),
		},
		Outputs: map[string]Output{"key": made(func(t Thing) string { return t.Name })},
	}
}

// textOrTexts is the type of vpcSecurityGroupIds here. The real package only takes a
// list. The program ec2-instance of 2023 gives it the name of one group, and has to run
// as printed.
func textOrTexts() schema.TypeSpec {
	return schema.TypeSpec{OneOf: []schema.TypeSpec{listOf(text), text}}
}

func websiteEndpoint(t Thing) string {
	if t.Inputs.Get("website").IsNull() {
		return ""
	}
	return t.ID + ".s3-website-" + t.text("region") + ".amazonaws.com"
}

// getAmi always finds the same image.
func getAmi() Function {
	return Function{
		Inputs:  map[string]Property{"owners": optional(listOf(text)), "mostRecent": optional(boolean), "nameRegex": optional(text)},
		Outputs: map[string]Property{"id": required(text), "architecture": required(text)},
		Of: func(property.Map) property.Map {
			return property.NewMap(map[string]property.Value{"id": property.New("ami-00000001"), "architecture": property.New("x86_64")})
		},
	}
}
