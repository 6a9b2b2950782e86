// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package nodejs is a host for programs in TypeScript and JavaScript: it installs their dependencies with the real
// package managers, and runs them with the real Node.js and Pulumi's package of npm. Pulumi's own host is in no registry
// of modules, and this one does only what the controller uses.
package nodejs

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"

	"github.com/flux-pulumi/pulumi-controller/tests/lab/internal/langhost"
)

// Host runs programs with Node.js.
type Host struct {
	langhost.Host
}

// New returns a host for the engine at the address.
func New(engine string) *Host { return &Host{Host: langhost.New(engine)} }

// Run has the package of npm run the program.
func (h *Host) Run(ctx context.Context, req *pulumirpc.RunRequest) (*pulumirpc.RunResponse, error) {
	dir := req.Info.GetProgramDirectory()
	entry, err := resolve(ctx, dir, "@pulumi/pulumi/cmd/run")
	if err != nil {
		return &pulumirpc.RunResponse{Error: err.Error()}, nil
	}
	env, err := langhost.ConfigEnv(req)
	if err != nil {
		return nil, err
	}
	options := optionsOf(req.Info)
	args := append(options.nodeArgs, entry)
	for _, flag := range []struct{ name, value string }{
		{"monitor", req.GetMonitorAddress()}, {"engine", h.Engine},
		{"organization", req.GetOrganization()}, {"project", req.GetProject()}, {"stack", req.GetStack()},
		{"root-directory", req.Info.GetRootDirectory()}, {"pwd", dir},
		{"parallel", strconv.Itoa(int(req.GetParallel()))},
	} {
		if flag.value != "" {
			args = append(args, "--"+flag.name, flag.value)
		}
	}
	if req.GetDryRun() {
		args = append(args, "--dry-run")
	}
	args = append(append(args, req.Info.GetEntryPoint()), req.GetArgs()...)
	return h.Program(ctx, "", append(env, options.env()...), "node", args...), nil
}

// resolve finds the file of a module, as the program would.
func resolve(ctx context.Context, dir, module string) (string, error) {
	path, err := langhost.Output(ctx, dir, "node", "--print", fmt.Sprintf("require.resolve(%q)", module))
	if err != nil {
		return "", fmt.Errorf("finding %s for the program, which pulumi install installs: %w", module, err)
	}
	return strings.TrimSpace(path), nil
}

// options are those of runtime in Pulumi.yaml.
type options struct {
	javaScript     bool
	tsconfig       string
	nodeArgs       []string
	packageManager string
}

func optionsOf(info *pulumirpc.ProgramInfo) options {
	given := info.GetOptions().AsMap()
	text := func(name string) string {
		value, _ := given[name].(string)
		return value
	}
	typeScript, isSet := given["typescript"].(bool)
	return options{
		javaScript: isSet && !typeScript, tsconfig: text("tsconfig"),
		nodeArgs: strings.Fields(text("nodeargs")), packageManager: text("packagemanager"),
	}
}

// env has the options in the variables that the package of npm reads.
func (o options) env() []string {
	var env []string
	if !o.javaScript {
		env = append(env, "PULUMI_NODEJS_TYPESCRIPT=true")
	}
	if o.tsconfig != "" {
		env = append(env, "PULUMI_NODEJS_TSCONFIG_PATH="+o.tsconfig)
	}
	return env
}
