// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package python is a host for programs in Python: it installs their dependencies with the real package managers, as
// Pulumi's own host does, which is in no registry of modules. Nor is Pulumi's package for Python in a registry that the
// tests reach: a program runs, but cannot register resources.
package python

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/pulumi/pulumi/sdk/v3/go/common/util/rpcutil"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"

	"github.com/flux-pulumi/pulumi-controller/tests/lab/internal/langhost"
)

// Host runs programs with Python.
type Host struct {
	langhost.Host
}

// New returns a host for the engine at the address.
func New(engine string) *Host { return &Host{Host: langhost.New(engine)} }

// GetRequiredPackages returns none: the packages that name a plugin need that of Pulumi.
func (h *Host) GetRequiredPackages(
	context.Context, *pulumirpc.GetRequiredPackagesRequest,
) (*pulumirpc.GetRequiredPackagesResponse, error) {
	return &pulumirpc.GetRequiredPackagesResponse{}, nil
}

// InstallDependencies has the package manager of the program install its dependencies.
func (h *Host) InstallDependencies(
	req *pulumirpc.InstallDependenciesRequest, server pulumirpc.LanguageRuntime_InstallDependenciesServer,
) error {
	closer, stdout, stderr, err := rpcutil.MakeInstallDependenciesStreams(server, req.GetIsTerminal())
	if err != nil {
		return err
	}
	for _, command := range projectOf(req.Info).commands() {
		if err = langhost.Tool(server.Context(), stdout, stderr, req.Info.GetProgramDirectory(), command[0], command[1:]...); err != nil {
			break // the tool has said why
		}
	}
	return errors.Join(err, closer.Close())
}

// Run runs the program with the python of its virtual environment.
func (h *Host) Run(ctx context.Context, req *pulumirpc.RunRequest) (*pulumirpc.RunResponse, error) {
	env, err := langhost.ConfigEnv(req)
	if err != nil {
		return nil, err
	}
	python := projectOf(req.Info).python()
	if _, err := os.Stat(python); err != nil {
		return &pulumirpc.RunResponse{Error: fmt.Sprintf("finding the virtual environment of the program: %v", err)}, nil
	}
	return h.Program(ctx, req.GetPwd(), env, python, "-u", req.Info.GetProgramDirectory()), nil
}
