// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package golang is a host for programs in Go: it builds them with the real go command, and runs them. Pulumi's own host is
// in no registry of modules, and this one does only what the controller uses.
package golang

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/pulumi/pulumi/sdk/v3/go/common/util/rpcutil"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"

	"github.com/flux-pulumi/pulumi-controller/tests/lab/internal/langhost"
)

// Host builds and runs programs in Go.
type Host struct {
	langhost.Host
}

// New returns a host for the engine at the address.
func New(engine string) *Host { return &Host{Host: langhost.New(engine)} }

// GetRequiredPackages leaves it to the engine to find out what plugins the program needs.
func (h *Host) GetRequiredPackages(
	context.Context, *pulumirpc.GetRequiredPackagesRequest,
) (*pulumirpc.GetRequiredPackagesResponse, error) {
	return &pulumirpc.GetRequiredPackagesResponse{}, nil
}

// Run builds the program, unless the project names one that is built, and runs it.
func (h *Host) Run(ctx context.Context, req *pulumirpc.RunRequest) (*pulumirpc.RunResponse, error) {
	env, err := h.env(req)
	if err != nil {
		return nil, err
	}
	if built, _ := req.Info.GetOptions().AsMap()["binary"].(string); built != "" {
		if !filepath.IsAbs(built) {
			built = filepath.Join(req.Info.GetRootDirectory(), built)
		}
		return h.Program(ctx, req.GetPwd(), env, built), nil
	}
	dir, err := os.MkdirTemp("", "pulumi-go-")
	if err != nil {
		return nil, fmt.Errorf("making room for the program: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }() // in the TMPDIR of the run
	program := filepath.Join(dir, "program")
	err = langhost.Tool(ctx, os.Stdout, os.Stderr, req.Info.GetProgramDirectory(),
		"go", "build", "-buildvcs=false", "-trimpath", "-ldflags=-s -w", "-o", program, ".")
	if err != nil {
		// The controller knows from the end of this text of Pulumi's host that the program does not compile.
		return nil, fmt.Errorf("unable to run `go build`: %w", err)
	}
	return h.Program(ctx, req.GetPwd(), env, program), nil
}

// env has what the SDK wants to know of the run, in the variables that it reads.
func (h *Host) env(req *pulumirpc.RunRequest) ([]string, error) {
	env, err := langhost.ConfigEnv(req)
	if err != nil {
		return nil, err
	}
	return append(env,
		pulumi.EnvOrganization+"="+req.GetOrganization(), pulumi.EnvProject+"="+req.GetProject(), pulumi.EnvStack+"="+req.GetStack(),
		pulumi.EnvPulumiRootDirectory+"="+req.Info.GetRootDirectory(),
		pulumi.EnvDryRun+"="+strconv.FormatBool(req.GetDryRun()), pulumi.EnvParallel+"="+strconv.Itoa(int(req.GetParallel())),
		pulumi.EnvMonitor+"="+req.GetMonitorAddress(), pulumi.EnvEngine+"="+h.Engine,
	), nil
}

// InstallDependencies downloads the modules that the program needs.
func (h *Host) InstallDependencies(
	req *pulumirpc.InstallDependenciesRequest, server pulumirpc.LanguageRuntime_InstallDependenciesServer,
) error {
	closer, stdout, stderr, err := rpcutil.MakeInstallDependenciesStreams(server, req.GetIsTerminal())
	if err != nil {
		return err
	}
	if err := langhost.Tool(server.Context(), stdout, stderr, req.Info.GetProgramDirectory(), "go", "mod", "tidy"); err != nil {
		return errors.Join(fmt.Errorf("`go mod tidy` failed: %w", err), closer.Close())
	}
	return closer.Close()
}
