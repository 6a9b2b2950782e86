// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/tests/controlplane"
	"github.com/flux-pulumi/pulumi-controller/tests/system"
)

// shardLabel is the label of shards. It keeps the controllers apart that share an API server.
const shardLabel = "sharding.fluxcd.io/key"

// ownCluster is an API server with source-controller for the tests that start, stop or configure a controller of their
// own. The first such test starts it.
type ownCluster struct {
	start   sync.Once
	plane   *controlplane.ControlPlane
	sources *controlplane.SourceController
	err     error
}

// get starts the cluster in dir, if it has not started yet.
func (c *ownCluster) get(dir string) (*controlplane.ControlPlane, error) {
	c.start.Do(func() { c.err = c.run(dir) })
	return c.plane, c.err
}

func (c *ownCluster) run(dir string) error {
	crds, err := controlplane.ProjectCRDs()
	if err != nil {
		return err
	}
	for _, name := range []string{"controlplane", "sources"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			return err
		}
	}
	ctx := context.Background() // until stop
	c.plane, err = controlplane.Start(ctx, controlplane.Options{
		Dir: filepath.Join(dir, "controlplane"), CRDPaths: crds, AuditUsers: []string{controllerOf(team)},
	})
	if err != nil {
		return err
	}
	c.sources, err = controlplane.StartSourceController(ctx, c.plane, controlplane.SourceControllerOptions{Dir: filepath.Join(dir, "sources")})
	return err
}

// stop ends what has been started.
func (c *ownCluster) stop() error {
	var errs []error
	if c.sources != nil {
		errs = append(errs, c.sources.Stop())
	}
	if c.plane != nil {
		errs = append(errs, c.plane.Stop())
	}
	return errors.Join(errs...)
}

// ownController starts a controller for this test alone, which serves the Stacks and Programs of its tenants and no
// others on the API server that it shares.
func ownController(t *testing.T, shard string, args ...string) *world {
	t.Helper()
	return startOwn(t, shard, system.Options{ControllerArgs: append([]string{"--watch-label-selector=" + shardLabel + "=" + shard}, args...)})
}

// startOwn starts a controller whose tenants are of the shard.
func startOwn(t *testing.T, shard string, options system.Options) *world {
	t.Helper()
	g := NewWithT(t)
	ctx, dir := ofItsOwn(t, shard)
	plane, err := shared.own.get(filepath.Join(shared.dir, "own"))
	g.Expect(err).NotTo(HaveOccurred())
	options.ControlPlane, options.WithoutSources = plane, true
	w, err := newWorld(ctx, dir, options)
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { g.Expect(w.Stop()).To(Succeed()) })
	w.shard, w.gitServer = shard, shared.gitServer
	return w
}

// labels are those of the objects that the controller serves.
func (w *world) labels() map[string]string {
	if w.shard == "" {
		return nil
	}
	return map[string]string{shardLabel: w.shard}
}
