// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package caller is the provider clouds, whose only resource calls a cloud with the SDK of that cloud, as the providers
// of the clouds do. The SDKs find their credentials themselves, in the environment and the files of the run: nothing
// here may configure them. What answers does not belong here, see tests/cloudidentity.
package caller

import (
	"context"
	"fmt"
	"time"

	"github.com/pulumi/pulumi-go-provider/infer"
)

// The name and version that the plugin is installed under: resource-clouds-v0.1.0.
const (
	name    = "clouds"
	version = "0.1.0"
)

// longest bounds one resource, whatever it waits for.
const longest = 5 * time.Minute

// session is what a cloud answers to the question who calls, and until when it accepts the credentials of the call.
type session struct {
	// Identity is the name of the caller: a role, a client, a service account.
	Identity string
	// ID differs for each exchange of a token for credentials.
	ID string
	// Expires is the end of the credentials.
	Expires time.Time
}

// client calls a cloud.
type client interface {
	// whoAmI uses the credentials that the SDK holds, and leaves it to the SDK to renew them.
	whoAmI(ctx context.Context) (session, error)
}

// Args are the inputs of a Caller.
type Args struct {
	// Cloud is aws, azure, gcp, or the URL of a service that accepts tokens of OIDC. It is environment for the names of
	// the variables that are of a cloud, and shown to show a token, both without a call.
	Cloud string `pulumi:"cloud"`
	// TokenFileVariable names the variable with the path of the token, for OIDC and shown.
	TokenFileVariable string `pulumi:"tokenFileVariable,optional"`
	// Sessions is how many credentials the calls use up, one after the other.
	Sessions int `pulumi:"sessions,optional"`
	// Asked is there to be changed. With shown, "fail" shows the token in an error, and not in an output.
	Asked string `pulumi:"asked,optional"`
}

// State is what a Caller found.
type State struct {
	Args
	Identity string `pulumi:"identity"`
}

// Caller is clouds:index:Caller.
type Caller struct{}

// Annotate sets the token of the resource; infer would derive it from the Go names.
func (c *Caller) Annotate(a infer.Annotator) {
	a.SetToken("index", "Caller")
	a.Describe(&c, "Calls a cloud until it has used up some credentials, and says who it was.")
}

// Create calls the cloud.
func (Caller) Create(ctx context.Context, req infer.CreateRequest[Args]) (infer.CreateResponse[State], error) {
	response := infer.CreateResponse[State]{Output: State{Args: req.Inputs}}
	if req.DryRun {
		return response, nil
	}
	var err error
	response.ID = "caller"
	response.Output.Identity, err = call(ctx, req.Inputs)
	return response, err
}

// Update calls it again.
func (Caller) Update(ctx context.Context, req infer.UpdateRequest[Args, State]) (infer.UpdateResponse[State], error) {
	response := infer.UpdateResponse[State]{Output: State{Args: req.Inputs, Identity: req.State.Identity}}
	if req.DryRun {
		return response, nil
	}
	var err error
	response.Output.Identity, err = call(ctx, req.Inputs)
	return response, err
}

// Delete calls it once more, as a provider that deletes something would.
func (Caller) Delete(ctx context.Context, req infer.DeleteRequest[State]) (infer.DeleteResponse, error) {
	once := req.State.Args
	once.Sessions = 1
	_, err := call(ctx, once)
	return infer.DeleteResponse{}, err
}

// call asks the cloud who calls until the credentials have been as many as the arguments want. All must be of one
// identity.
func call(ctx context.Context, args Args) (identity string, err error) {
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	cloud, err := clientOf(ctx, args)
	if err != nil {
		return "", err
	}
	seen := map[string]bool{}
	for {
		now, err := cloud.whoAmI(ctx)
		if err != nil {
			return "", fmt.Errorf("calling %s: %w", args.Cloud, err)
		}
		if identity != "" && identity != now.Identity {
			return "", fmt.Errorf("the identity changed from %s to %s", identity, now.Identity)
		}
		identity, seen[now.ID] = now.Identity, true
		if len(seen) >= max(args.Sessions, 1) {
			return identity, nil
		}
		if err := wait(ctx, now.Expires); err != nil {
			return "", err
		}
	}
}

// wait waits until the time is over, or a second if it is over already.
func wait(ctx context.Context, until time.Time) error {
	timer := time.NewTimer(max(time.Until(until), time.Second))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

func clientOf(ctx context.Context, args Args) (client, error) {
	switch args.Cloud {
	case "aws":
		return newAWS(ctx)
	case "azure":
		return newAzure()
	case "gcp":
		return newGoogle(ctx)
	case "environment":
		return environment{}, nil
	case "shown":
		return shown{args.TokenFileVariable, args.Asked}, nil
	}
	return newOIDC(args.Cloud, args.TokenFileVariable)
}

// Serve runs the provider.
func Serve(ctx context.Context) error {
	provider, err := infer.NewProviderBuilder().
		WithDescription("Calls clouds with their own SDKs, for tests.").
		WithResources(infer.Resource(Caller{})).
		Build()
	if err != nil {
		return fmt.Errorf("building the provider: %w", err)
	}
	return provider.Run(ctx, name, version)
}
