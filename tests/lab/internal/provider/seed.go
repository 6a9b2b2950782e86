// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"

	p "github.com/pulumi/pulumi-go-provider"
	pprovider "github.com/pulumi/pulumi/pkg/v3/resource/provider"
	rpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
)

type seedKey struct{}

// Serve runs the provider until the engine ends it.
func Serve(ctx context.Context) error {
	lab, err := New()
	if err != nil {
		return err
	}
	server := p.RawServer(Name, Version, lab)
	return pprovider.MainContext(ctx, Name, func(host *pprovider.HostClient) (rpc.ResourceProviderServer, error) {
		inner, err := server(host)
		return withSeed{inner}, err
	})
}

// withSeed passes on the random seed of each check in its context, as pulumi-go-provider drops it.
type withSeed struct{ rpc.ResourceProviderServer }

func (s withSeed) Check(ctx context.Context, req *rpc.CheckRequest) (*rpc.CheckResponse, error) {
	return s.ResourceProviderServer.Check(context.WithValue(ctx, seedKey{}, req.GetRandomSeed()), req)
}

func seedFrom(ctx context.Context) []byte {
	seed, _ := ctx.Value(seedKey{}).([]byte)
	return seed
}
