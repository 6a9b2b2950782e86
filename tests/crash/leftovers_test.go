// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package crash

import (
	"os"
	"slices"
	"testing"

	. "github.com/onsi/gomega"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/cloud"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// Files of runs that died with their controller are removed once the Stack has settled.
func TestNoFilesAreLeftOfRunsThatDied(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	ctx := t.Context()
	u := newSubject(t, start(t), "leftovers")
	home := u.entries(u.s.Path())
	u.create(ctx, byFours(things(8, "one")), func(stack *v1.Stack) { stack.Spec.PendingCreates = v1.PendingCreatesClear })
	const kills = 5
	for range kills {
		u.Eventually(func() []int { return u.processes("pulumi") }).ShouldNot(BeEmpty(), u.report(ctx))
		u.Expect(u.s.Controller.Kill()).To(Succeed())
		u.killAll("pulumi")
		u.Expect(u.s.StartController()).To(Succeed())
		u.Expect(u.entries(u.s.DataDir())).To(ContainElement("runs"))
	}
	u.awaitCurrent(ctx)
	u.checkQuiet()
	u.Eventually(func() []string { return u.entries(u.s.Path("data", "runs")) }).Should(BeEmpty())
	kept := slices.DeleteFunc(u.entries(u.s.DataDir()), func(name string) bool {
		return name == "schemas" || name == "provider-schemas" // one without a sandbox, the other with one
	})
	u.Expect(kept).To(ConsistOf("lock", "plugins", "runs"))
	u.Expect(u.entries(u.s.Path("tmp"))).To(BeEmpty(), "the temporary directory of the controller")
	u.Expect(u.entries(u.s.Path())).To(ConsistOf(home), "its home")
	u.remove(ctx)
	u.Eventually(func() []string { return u.entries(u.s.Path("data", "runs")) }).Should(BeEmpty())
}

// A provider that hangs in a creation survives its controller, and the CLI waits for it.
// The recovery ends both, even if its timeout is shorter than the grace period for a
// provider.
func TestLeftoverThatHangsForLongerThanTheTimeout(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	ctx := t.Context()
	u := newSubject(t, start(t, "--cancel-grace=20s"), "hanging")
	u.create(ctx, append(slow("1h"), quick(2, "one")...), soon)
	u.awaitStartedInTime(ctx, cloud.Create, "slow")
	u.Expect(u.s.Controller.Kill()).To(Succeed())
	u.Expect(u.processes("pulumi")).NotTo(BeEmpty(), "it is left behind")
	u.Expect(u.s.StartController()).To(Succeed())

	u.Expect(u.awaitReason(ctx, v1.PendingOperationsReason)).To(ContainSubstring("::slow"))
	u.Expect(u.stack(ctx).Status.UnknownCreates).To(ConsistOf(HaveSuffix("::slow")), "that resource, and no other")
	u.Expect(u.processes("")).To(BeEmpty())
	u.Expect(u.locks()).To(BeEmpty())
	u.Expect(u.count(cloud.Create, cloud.Begin, "slow")).To(Equal(1), "it was not started a second time")
}

// entries returns the names in a directory.
func (u *subject) entries(dir string) []string {
	entries, err := os.ReadDir(dir)
	u.Expect(err).NotTo(HaveOccurred())
	names := []string{}
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}
