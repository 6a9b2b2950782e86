// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/utils/lru"

	"github.com/flux-pulumi/pulumi-controller/internal/pulumi"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/source"
)

const (
	// maxRuntimes bounds the programs whose runtime is kept.
	maxRuntimes = 1000
	// runtimeTimeout bounds reading one artifact, with the wait for others.
	runtimeTimeout = time.Minute
	// runtimeReads is how many artifacts are read at a time. Tenants make them, and unpacking takes a
	// processor.
	runtimeReads = 2
)

// runtimes reads the runtime of programs from their artifacts.
type runtimes struct {
	fetcher *source.Fetcher
	// known has the runtimes of programs that were read before.
	known *lru.Cache
	// reads has one element for each artifact that is being read.
	reads chan struct{}
}

// program identifies a program by its content.
type program struct{ digest, dir string }

// newRuntimes returns what reads artifacts without retries: its caller retries.
func newRuntimes(hostname string) *runtimes {
	return &runtimes{
		fetcher: source.New(source.Options{Timeout: runtimeTimeout, Hostname: hostname}),
		known:   lru.New(maxRuntimes), reads: make(chan struct{}, runtimeReads),
	}
}

// of returns the runtime that the Pulumi.yaml of an artifact names, "" if the artifact is gone
// or of no use: a run of it fails, and its message says why. An error may go away by itself.
func (r *runtimes) of(ctx context.Context, artifact run.Artifact) (string, error) {
	key := program{artifact.Digest, artifact.Dir}
	if known, ok := r.known.Get(key); ok {
		return known.(string), nil
	}
	ctx, cancel := context.WithTimeout(ctx, runtimeTimeout)
	defer cancel()
	select {
	case r.reads <- struct{}{}:
		defer func() { <-r.reads }()
	case <-ctx.Done():
		return "", fmt.Errorf("failed to read the runtime of the program: %w", context.Cause(ctx))
	}
	files, err := r.fetcher.Read(ctx, artifact, pulumi.ProjectFiles(artifact.Dir), pulumi.MaxProjectFile+1)
	switch {
	case errors.Is(err, source.ErrGone), errors.Is(err, source.ErrArchive):
		return "", nil
	case err != nil:
		return "", fmt.Errorf("failed to read the runtime of the program: %w", err)
	}
	runtime, err := pulumi.RuntimeOf(artifact.Dir, files)
	if err != nil {
		return "", nil //nolint:nilerr // The run reports it.
	}
	r.known.Add(key, runtime)
	return runtime, nil
}
