// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	. "github.com/onsi/gomega"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/system"
)

// TestADependentOfAnotherShardIsWaitedFor uses its own system with the controller of one shard. The other shard has
// no controller, so nothing happens to its Stacks.
func TestADependentOfAnotherShardIsWaitedFor(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	ctx, dir := ofItsOwn(t, "shard")
	shard, err := newWorld(ctx, dir, system.Options{WithoutSources: true, ControllerArgs: []string{
		"--watch-label-selector=sharding.fluxcd.io/key=one", "--requeue-dependency=1s",
	}})
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { g.Expect(shard.Stop()).To(Succeed()) })

	u := newTenant(t, shard)
	in := func(name string) func(*v1.Stack) {
		return func(s *v1.Stack) { s.Labels = map[string]string{"sharding.fluxcd.io/key": name} }
	}
	u.apply(u.program(oneThing("one")))
	network := u.stack(named("network"), fromProgram, destroyed, in("one"))
	u.apply(network)
	u.awaitReady(network)
	app := u.stack(named("app"), fromProgram, destroyed, dependsOn("network"), in("two"))
	u.apply(app)

	u.delete(network)
	u.awaitEvent(network, "Normal", meta.ProgressingReason, "Waiting for Stack "+u.namespace+"/app, which depends on this one, to be deleted")
	u.Expect(u.things()).To(HaveLen(1))
	u.delete(app)
	u.awaitGone(network)
	u.Expect(u.things()).To(BeEmpty())
}
