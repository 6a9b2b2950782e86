// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/testserver"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/sources"
)

// sourceName is the name of the source to follow.
const sourceName = "app"

// publisher publishes the artifacts of an ExternalArtifact. With source-controller
// instead, the time to fetch would be measured too.
type publisher struct {
	api    client.Client
	server *testserver.ArtifactServer
	object *sourcev1.ExternalArtifact
}

// newPublisher makes a source without an artifact. The server is to be stopped.
func newPublisher(ctx context.Context, api client.Client, dir, namespace string) (*publisher, error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, fmt.Errorf("making room for artifacts: %w", err)
	}
	p := &publisher{
		api:    api,
		server: &testserver.ArtifactServer{HTTPServer: testserver.NewHTTPServer(dir)},
		object: &sourcev1.ExternalArtifact{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: sourceName}},
	}
	if err := api.Create(ctx, p.object); err != nil {
		return nil, fmt.Errorf("making the source: %w", err)
	}
	p.server.Start()
	return p, nil
}

// serveGreeting serves an artifact with the greeting, but does not announce it.
func (p *publisher) serveGreeting(greeting string) error {
	spec, err := program(greeting)
	if err != nil {
		return err
	}
	text, err := spec.Text()
	if err != nil {
		return fmt.Errorf("writing the program: %w", err)
	}
	return p.serve(sources.Files{"Pulumi.yaml": projectText, "Main.yaml": string(text)})
}

// serve serves an artifact with the files, but does not announce it.
func (p *publisher) serve(files sources.Files) error {
	var archived []testserver.File
	for _, name := range slices.Sorted(maps.Keys(files)) {
		archived = append(archived, testserver.File{Name: name, Body: files[name]})
	}
	file, err := p.server.ArtifactFromFiles(archived)
	if err != nil {
		return fmt.Errorf("making an artifact: %w", err)
	}
	archive, err := os.ReadFile(filepath.Join(p.server.Root(), file))
	if err != nil {
		return fmt.Errorf("making an artifact: %w", err)
	}
	size, digest := int64(len(archive)), fmt.Sprintf("sha256:%x", sha256.Sum256(archive))
	p.object.Status.Artifact = &meta.Artifact{
		Path: file, URL: p.server.URL() + "/" + file, Revision: "latest@" + digest,
		Digest: digest, LastUpdateTime: metav1.Now(), Size: &size,
	}
	return nil
}

// tell announces the artifact in the status of the source.
func (p *publisher) tell(ctx context.Context) error {
	if err := p.api.Status().Update(ctx, p.object); err != nil {
		return fmt.Errorf("writing the status of the source: %w", err)
	}
	return nil
}

// theSource is how a Stack follows the source of its namespace.
func theSource() *v1.FluxSource {
	return &v1.FluxSource{SourceRef: v1.SourceReference{Kind: sourcev1.ExternalArtifactKind, Name: sourceName}}
}

// followSource publishes one revision after the other, and returns how long it
// took in each case until a watch showed the run of the one Stack that follows, in
// seconds.
func (s sides) followSource(ctx context.Context, samples int) ([]float64, error) {
	side := &controllerSide{system: s.controller.system, dir: s.controller.dir}
	if err := side.prepare(ctx, "source", 1); err != nil {
		return nil, err
	}
	source, err := newPublisher(ctx, side.system, filepath.Join(side.dir, "artifacts"), side.namespace)
	if err != nil {
		return nil, err
	}
	defer source.server.Stop()
	stack := side.stack(0)
	stack.Spec.ProgramRef = nil
	stack.Spec.FluxSource = theSource()
	if err := side.system.Create(ctx, stack); err != nil {
		return nil, fmt.Errorf("making the Stack: %w", err)
	}
	// The first run creates the stack, and is not counted.
	if _, err := side.follow(ctx, source, "revision 0"); err != nil {
		return nil, err
	}
	var latencies []float64
	for n := range samples {
		took, err := side.follow(ctx, source, fmt.Sprintf("revision %d", n+1))
		if err != nil {
			return nil, err
		}
		latencies = append(latencies, took.Seconds())
	}
	return latencies, nil
}

// follow publishes a revision, waits until it is applied, and returns how long it
// took to start its run.
func (s *controllerSide) follow(ctx context.Context, source *publisher, greeting string) (time.Duration, error) {
	if err := source.serveGreeting(greeting); err != nil {
		return 0, err
	}
	revision, up := source.object.Status.Artifact.Revision, upWith(greeting)
	var started time.Time
	taken, err := s.changeAndAwait(ctx, func(stack *v1.Stack) bool {
		if run := stack.Status.Run; run != nil && run.Revision == revision && started.IsZero() {
			started = time.Now()
		}
		return up(stack)
	}, func() error { return source.tell(ctx) })
	if err != nil {
		return 0, err
	}
	if started.IsZero() {
		return 0, fmt.Errorf("revision %s was applied and no run of it was seen", revision)
	}
	return started.Sub(taken.began), nil
}
