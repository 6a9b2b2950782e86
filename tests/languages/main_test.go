// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package languages tests programs in TypeScript, JavaScript and Go as a user has them: in a git repository that a Stack
// follows. Node.js, Go, the package managers and the SDKs of Pulumi are the real ones. Only the hosts of the languages are
// those of tests/lab: Pulumi's own are in no module. In Python, there is no SDK either. The pages of docs/guides about languages
// and existing programs are followed here, too.
package languages

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/flux-pulumi/pulumi-controller/tests/parallel"
	"github.com/flux-pulumi/pulumi-controller/tests/sources"
	"github.com/flux-pulumi/pulumi-controller/tests/system"
	"github.com/flux-pulumi/pulumi-controller/tests/toolchain"
)

// parallelTests is the number of tests that run in parallel. Compilers leave little of two processors.
const parallelTests = 4

// shared is the system of all tests. TestMain has no other way to pass it on.
var shared *world

// world is a running system, and the server of its repositories.
type world struct {
	*system.System
	dir string
	git *sources.GitServer
}

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard()) // the client's logger, which complains if it is not set
	if err := parallel.Tests(parallelTests); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code, err := runTests(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(code)
}

// runTests starts the system, runs the tests and cleans up.
func runTests(m *testing.M) (code int, err error) {
	dir, err := os.MkdirTemp("", "pulumi-controller-languages-")
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	for _, name := range []string{"system", "image", "git", "stacks"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			return 1, err
		}
	}
	if err := toolchain.WriteImage(filepath.Join(dir, "image")); err != nil {
		return 1, err
	}
	shared = &world{dir: dir}
	if shared.git, err = sources.NewGitServer(filepath.Join(dir, "git")); err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, shared.git.Close()) }()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	shared.System, err = system.Start(ctx, system.Options{
		Dir: filepath.Join(dir, "system"), PulumiDir: filepath.Join(dir, "image"), ReadPaths: toolchain.Installed(), WritePaths: []string{toolchain.GoEnvironment()["GOCACHE"]},
	})
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, shared.Stop()) }()
	if err := shared.installSDK(); err != nil {
		return 1, err
	}
	return m.Run(), nil
}
