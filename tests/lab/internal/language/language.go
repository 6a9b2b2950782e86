// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package language is a language whose programs need their dependencies installed before
// they can run, like those in Node.js and Python, without either. A program is a file
// that says what its installation and the program itself do.
package language

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"

	"github.com/flux-pulumi/pulumi-controller/tests/lab/internal/langhost"
)

// installedFile gets a line from each installation.
const installedFile = "installed"

// New returns the host of the language, for the engine at the address.
func New(engine string) pulumirpc.LanguageRuntimeServer { return &host{Host: langhost.New(engine)} }

type host struct {
	langhost.Host
}

func (h *host) GetRequiredPackages(
	context.Context, *pulumirpc.GetRequiredPackagesRequest,
) (*pulumirpc.GetRequiredPackagesResponse, error) {
	return &pulumirpc.GetRequiredPackagesResponse{}, nil
}

func (h *host) GetRequiredPlugins(
	context.Context, *pulumirpc.GetRequiredPluginsRequest,
) (*pulumirpc.GetRequiredPluginsResponse, error) {
	return &pulumirpc.GetRequiredPluginsResponse{}, nil
}

// InstallDependencies does what the program says of its installation.
func (h *host) InstallDependencies(
	req *pulumirpc.InstallDependenciesRequest, server pulumirpc.LanguageRuntime_InstallDependenciesServer,
) error {
	dir := req.Info.ProgramDirectory
	todo, err := read(dir)
	if err != nil {
		return err
	}
	for _, stream := range []struct {
		lines []string
		send  func([]byte) *pulumirpc.InstallDependenciesResponse
	}{
		{todo.Install.Stdout, func(b []byte) *pulumirpc.InstallDependenciesResponse {
			return &pulumirpc.InstallDependenciesResponse{Stdout: b}
		}},
		{todo.Install.Stderr, func(b []byte) *pulumirpc.InstallDependenciesResponse {
			return &pulumirpc.InstallDependenciesResponse{Stderr: b}
		}},
	} {
		for _, line := range stream.lines {
			if err := server.Send(stream.send([]byte(os.ExpandEnv(line) + "\n"))); err != nil {
				return err
			}
		}
	}
	return todo.Install.end(server.Context(), dir)
}

// end ends an installation, after all its output.
func (i install) end(ctx context.Context, dir string) error {
	if i.Hang {
		if err := note(filepath.Join(dir, "installing")); err != nil {
			return err
		}
		select {} // whatever happens to the engine, like a tool that the engine does not know
	}
	if i.Fail != "" {
		return errors.New(i.Fail)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	for name, text := range i.Write {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	if err := fillCaches(); err != nil {
		return err
	}
	return note(filepath.Join(dir, installedFile))
}

func note(path string) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.WriteString("once\n")
	return errors.Join(err, file.Close())
}

// failure prints what the program prints, and returns its error.
func (p program) failure(dir string) *pulumirpc.RunResponse {
	text := func(line string) string { return strings.ReplaceAll(line, "$DIR", dir) }
	for _, line := range p.Stderr {
		fmt.Fprintln(os.Stderr, text(line))
	}
	return &pulumirpc.RunResponse{Error: text(p.Fail)}
}

// Run registers the things of the program, which needs what was installed.
func (h *host) Run(ctx context.Context, req *pulumirpc.RunRequest) (*pulumirpc.RunResponse, error) {
	dir := req.Info.GetProgramDirectory()
	todo, err := read(dir)
	if err != nil {
		return &pulumirpc.RunResponse{Error: err.Error()}, nil
	}
	times, err := os.ReadFile(filepath.Join(dir, installedFile))
	if err != nil {
		return &pulumirpc.RunResponse{Error: "Cannot find module 'lab': the dependencies of the program are not installed"}, nil
	}
	if todo.Fail != "" {
		return todo.failure(dir), nil
	}
	engine, err := pulumi.NewContext(ctx, pulumi.RunInfo{
		Project: req.GetProject(), RootDirectory: req.Info.GetRootDirectory(), Stack: req.GetStack(),
		Config: req.GetConfig(), ConfigSecretKeys: req.GetConfigSecretKeys(), Organization: req.GetOrganization(),
		Parallel: req.GetParallel(), DryRun: req.GetDryRun(), MonitorAddr: req.GetMonitorAddress(), EngineAddr: h.Engine,
	})
	if err != nil {
		return nil, err
	}
	defer func() { _ = engine.Close() }() // the program has ended
	err = pulumi.RunWithContext(engine, func(c *pulumi.Context) error {
		if err := todo.register(c); err != nil {
			return err
		}
		c.Export("installed", pulumi.Int(strings.Count(string(times), "\n")))
		return nil
	})
	if err != nil {
		return &pulumirpc.RunResponse{Error: err.Error()}, nil
	}
	return &pulumirpc.RunResponse{}, nil
}

// register registers the resources of the program.
func (p program) register(c *pulumi.Context) error {
	for _, name := range p.Things {
		made, err := thing(c, name)
		if err != nil {
			return err
		}
		if slices.Contains(p.Export, name) {
			c.Export(name, pulumi.Any(made))
		}
		if inner, ok := p.InApply[name]; ok {
			c.Export("inner", made.ID().ApplyT(func(pulumi.ID) (string, error) {
				_, err := thing(c, inner)
				return inner, err
			}))
		}
	}
	for _, name := range p.Dynamic {
		var dynamic pulumi.CustomResourceState
		code := pulumi.Map{"__provider": pulumi.String(cmp.Or(p.Code, "code"))}
		if err := c.RegisterResource("pulumi-nodejs:dynamic:Resource", name, code, &dynamic); err != nil {
			return err
		}
	}
	return nil
}

func thing(c *pulumi.Context, name string) (*pulumi.CustomResourceState, error) {
	var made pulumi.CustomResourceState
	return &made, c.RegisterResource("lab:index:Thing", name, pulumi.Map{"name": pulumi.String(name)}, &made)
}
