// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"

	p "github.com/pulumi/pulumi-go-provider"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
)

type urnKey struct{}

// withURN passes on the URN of each call in its context: infer's requests only have the
// name of the resource, and the journal must tell which resource of which stack an
// operation was on.
func withURN(inner p.Provider) p.Provider {
	outer := inner
	outer.Create = func(ctx context.Context, req p.CreateRequest) (p.CreateResponse, error) {
		return inner.Create(contextWithURN(ctx, req.Urn), req)
	}
	outer.Read = func(ctx context.Context, req p.ReadRequest) (p.ReadResponse, error) {
		return inner.Read(contextWithURN(ctx, req.Urn), req)
	}
	outer.Update = func(ctx context.Context, req p.UpdateRequest) (p.UpdateResponse, error) {
		return inner.Update(contextWithURN(ctx, req.Urn), req)
	}
	outer.Delete = func(ctx context.Context, req p.DeleteRequest) error {
		return inner.Delete(contextWithURN(ctx, req.Urn), req)
	}
	return outer
}

func contextWithURN(ctx context.Context, urn resource.URN) context.Context {
	return context.WithValue(ctx, urnKey{}, string(urn))
}

func urnFrom(ctx context.Context) string {
	urn, _ := ctx.Value(urnKey{}).(string)
	return urn
}
