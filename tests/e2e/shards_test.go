// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	. "github.com/onsi/gomega"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// TestADependentOfAnotherShardIsWaitedFor uses the controller of one shard. The other shard has
// no controller, so nothing happens to its Stacks.
func TestADependentOfAnotherShardIsWaitedFor(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, ownController(t, "one", "--requeue-dependency=1s"))
	u.apply(u.program(oneThing("one")))
	network := u.stack(named("network"), fromProgram, destroyed)
	u.apply(network)
	u.awaitReady(network)
	app := u.stack(named("app"), fromProgram, destroyed, dependsOn("network"), func(s *v1.Stack) { s.Labels[shardLabel] = "two" })
	u.apply(app)

	u.delete(network)
	u.awaitEvent(network, "Normal", meta.ProgressingReason, "Waiting for Stack "+u.namespace+"/app, which depends on this Stack, to be deleted")
	u.Expect(u.things()).To(HaveLen(1))
	u.delete(app)
	u.awaitGone(network)
	u.Expect(u.things()).To(BeEmpty())
}
