// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package provider is the lab provider: lab:index:Thing, kept in the directory that
// package cloud calls a cloud, and lab:kube:Whoami. It maps Pulumi's operations to those
// of the cloud, and adds the delays, failures and hangs that a program asks for. How the
// cloud stores things does not belong here.
package provider

import (
	"context"
	"fmt"

	p "github.com/pulumi/pulumi-go-provider"
	"github.com/pulumi/pulumi-go-provider/infer"

	"github.com/flux-pulumi/pulumi-controller/tests/lab/internal/cloud"
)

// The name and version that the plugin is installed under: resource-lab-v0.1.0.
const (
	Name    = "lab"
	Version = "0.1.0"
)

// Config is the configuration of the provider.
type Config struct {
	// Directory of the cloud: an absolute path. The first operation creates it.
	Directory string `pulumi:"directory"`
}

// Annotate describes the configuration in the schema.
func (c *Config) Annotate(a infer.Annotator) {
	a.Describe(&c.Directory, "The absolute path of the directory that is the cloud.")
}

// Configure refuses a directory that cannot hold a cloud, before any resource is touched.
func (c Config) Configure(context.Context) error {
	_, err := cloud.New(c.Directory)
	return err
}

// New builds the provider.
func New() (p.Provider, error) {
	built, err := infer.NewProviderBuilder().
		WithDescription("A cloud that is a directory, with delays, failures and hangs on request, for tests.").
		WithResources(infer.Resource(Resource{}), infer.Resource(Whoami{})).
		WithConfig(infer.Config(Config{})).
		Build()
	if err != nil {
		return p.Provider{}, fmt.Errorf("building the lab provider: %w", err)
	}
	return withURN(built), nil
}
