// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"
	"os"

	"github.com/pulumi/pulumi-go-provider/infer"

	"github.com/flux-pulumi/pulumi-controller/tests/lab/internal/kube"
)

// Whoami is lab:kube:Whoami: the identity of the caller in the cluster of the kubeconfig,
// when last asked.
type Whoami struct{}

// WhoamiArgs are the inputs of a Whoami.
type WhoamiArgs struct {
	// Asked has no meaning: a new value asks again.
	Asked *string `pulumi:"asked,optional"`
	// ShowToken puts the token into the outputs, as careless programs do.
	ShowToken *bool `pulumi:"showToken,optional"`
}

// WhoamiState is the outputs of a Whoami.
type WhoamiState struct {
	WhoamiArgs
	// Kubeconfig is the path of the kubeconfig, or "none" if there is none.
	Kubeconfig string `pulumi:"kubeconfig"`
	// Variable is the value of KUBECONFIG.
	Variable string `pulumi:"variable"`
	// Username according to the API server. Empty without a kubeconfig.
	Username string `pulumi:"username"`
	// Token that was sent, with showToken.
	Token string `pulumi:"token"`
}

// Annotate sets the token of the resource; infer would derive it from the Go names.
func (w *Whoami) Annotate(a infer.Annotator) {
	a.SetToken("kube", "Whoami")
	a.Describe(&w, "Who one is in the cluster of the kubeconfig.")
}

// Create asks.
func (Whoami) Create(ctx context.Context, req infer.CreateRequest[WhoamiArgs]) (infer.CreateResponse[WhoamiState], error) {
	state, err := ask(ctx, req.Inputs, req.DryRun)
	return infer.CreateResponse[WhoamiState]{ID: req.Name, Output: state}, err
}

// Update asks again.
func (Whoami) Update(ctx context.Context, req infer.UpdateRequest[WhoamiArgs, WhoamiState]) (infer.UpdateResponse[WhoamiState], error) {
	state, err := ask(ctx, req.Inputs, req.DryRun)
	return infer.UpdateResponse[WhoamiState]{Output: state}, err
}

func ask(ctx context.Context, args WhoamiArgs, dryRun bool) (WhoamiState, error) {
	state := WhoamiState{WhoamiArgs: args, Kubeconfig: "none", Variable: os.Getenv("KUBECONFIG")}
	path, found := kube.Config()
	if !found || dryRun {
		return state, nil
	}
	state.Kubeconfig = path
	identity, err := kube.WhoAmI(ctx, path)
	if err != nil {
		return state, err
	}
	state.Username = identity.Username
	if valueOf(args.ShowToken) {
		state.Token = identity.Token
	}
	return state, nil
}
