// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Command app makes a shop with the things that its configuration names.
package main

import (
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi/config"
)

type settings struct {
	Things []string `json:"things"`
}

type shop struct {
	pulumi.ResourceState
	values pulumi.Array
}

func newShop(ctx *pulumi.Context, name string, wanted settings, options ...pulumi.ResourceOption) (*shop, error) {
	made := &shop{}
	if err := ctx.RegisterComponentResource("app:index:Shop", name, made, options...); err != nil {
		return nil, err
	}
	own := config.New(ctx, "")
	for _, name := range wanted.Things {
		thing, err := newThing(ctx, name, thingArgs{value: own.Get("value"), secretValue: own.RequireSecret("password")}, pulumi.Parent(made))
		if err != nil {
			return nil, err
		}
		made.values = append(made.values, thing.Value)
	}
	return made, ctx.RegisterResourceOutputs(made, pulumi.Map{"values": made.values})
}

func main() {
	pulumi.Run(func(ctx *pulumi.Context) error {
		own := config.New(ctx, "")
		var wanted settings
		own.RequireObject("settings", &wanted)
		made, err := newShop(ctx, "shop", wanted)
		if err != nil {
			return err
		}
		ctx.Export("values", made.values)
		ctx.Export("sentence", pulumi.Sprintf("the password is %s", own.RequireSecret("password")))
		return nil
	})
}
