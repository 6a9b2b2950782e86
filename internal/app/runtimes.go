// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"k8s.io/utils/lru"

	"github.com/flux-pulumi/pulumi-controller/internal/pulumi"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/source"
)

const (
	// maxRuntimes bounds the programs whose runtime is kept.
	maxRuntimes = 1000
	// runtimeTimeout leaves time for the requests that follow in the same pass.
	runtimeTimeout = 20 * time.Second
)

// runtimes reads the runtime of programs from their artifacts.
type runtimes struct {
	fetcher *source.Fetcher
	// known has the runtimes of programs that were read before.
	known *lru.Cache
}

// program identifies a program by its content.
type program struct{ digest, dir string }

// newRuntimes returns what reads artifacts without retries: its caller retries.
func newRuntimes(hostname string) *runtimes {
	return &runtimes{
		fetcher: source.New(source.Options{Timeout: runtimeTimeout, Hostname: hostname, Only: pulumi.IsProjectFile}),
		known:   lru.New(maxRuntimes),
	}
}

// of returns the runtime that the Pulumi.yaml of an artifact names, "" if the artifact is gone
// or of no use: a run of it fails, and its message says why. An error may go away by itself.
func (r *runtimes) of(ctx context.Context, artifact run.Artifact) (runtime string, err error) {
	key := program{artifact.Digest, artifact.Dir}
	if known, ok := r.known.Get(key); ok {
		return known.(string), nil
	}
	dir, err := os.MkdirTemp("", "pulumi-project-")
	if err != nil {
		return "", fmt.Errorf("failed to make a directory for the project file of the artifact: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	root := filepath.Join(dir, "artifact")
	err = r.fetcher.Fetch(ctx, artifact, root)
	switch {
	case errors.Is(err, source.ErrGone), errors.Is(err, source.ErrArchive):
		return "", nil
	case err != nil:
		return "", fmt.Errorf("failed to read the runtime of the program: %w", err)
	}
	files, err := os.OpenRoot(root)
	if err != nil {
		return "", fmt.Errorf("failed to read the runtime of the program: %w", err)
	}
	defer func() { err = errors.Join(err, files.Close()) }()
	if runtime, err = pulumi.RuntimeOf(files, artifact.Dir); err != nil {
		return "", nil //nolint:nilerr // The run reports it.
	}
	r.known.Add(key, runtime)
	return runtime, nil
}
