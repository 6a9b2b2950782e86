// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package main

import "github.com/pulumi/pulumi/sdk/v3/go/pulumi"

// thing is what the lab provider makes. It has no package of its own.
type thing struct {
	pulumi.CustomResourceState
	Value pulumi.StringPtrOutput `pulumi:"value"`
}

type thingArgs struct {
	value       string
	secretValue pulumi.StringInput
}

func newThing(ctx *pulumi.Context, name string, args thingArgs, options ...pulumi.ResourceOption) (*thing, error) {
	inputs := pulumi.Map{"name": pulumi.String(name), "value": pulumi.String(args.value)}
	if args.secretValue != nil {
		inputs["secretValue"] = args.secretValue
	}
	made := &thing{}
	return made, ctx.RegisterResource("lab:index:Thing", name, inputs, made, options...)
}
