// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

func TestARunThatNoPodHasStartedIsWithdrawnWhenItsPacksChange(t *testing.T) {
	guard, later := policySet("guard", v1.PolicyEnforce), policySet("later", v1.PolicyWarn)
	for name, tt := range map[string]struct {
		sets      []*v1.PolicySet
		change    func(w *world, sources *packSources)
		withdrawn bool
	}{
		"a new PolicySet": {nil, func(w *world, sources *packSources) {
			sources.set("guard", "sha256:1")
			w.createSet(guard.DeepCopy())
		}, true},
		"another pack":               {[]*v1.PolicySet{guard}, func(_ *world, sources *packSources) { sources.set("guard", "sha256:2") }, true},
		"a pack that cannot be used": {[]*v1.PolicySet{guard}, func(_ *world, sources *packSources) { sources.set("guard", "") }, true},
		"an error of the API server": {[]*v1.PolicySet{guard}, func(_ *world, sources *packSources) { sources.err = errors.New("timeout") }, false},
		"the same packs":             {[]*v1.PolicySet{guard}, func(*world, *packSources) {}, false},
		"another pack that only warns": {[]*v1.PolicySet{guard, later}, func(_ *world, sources *packSources) {
			sources.set("later", "sha256:2")
		}, false},
		"a PolicySet that is gone": {[]*v1.PolicySet{guard}, func(w *world, _ *packSources) {
			NewWithT(w.t).Expect(w.Delete(context.Background(), guard.DeepCopy())).To(Succeed())
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			w := inventoryWorld(t)
			jobs, sources := &testJobs{}, &packSources{digests: map[string]string{}}
			w.runner.withdrawable = func(string) bool { return len(jobs.withdrawn) == 0 }
			w.PackSources, w.Jobs = sources, jobs
			for _, set := range tt.sets {
				sources.set(set.Name, "sha256:1")
				w.createSet(set.DeepCopy())
			}
			w.mustReconcile()
			record := w.stack().Status.Run
			g.Expect(record).To(HaveField("Operation", run.Update))
			tt.change(w, sources)
			result := w.mustReconcile()
			g.Expect(len(jobs.withdrawn) == 1).To(Equal(tt.withdrawn))
			if sources.err != nil {
				g.Expect(result.RequeueAfter).To(BeNumerically("<=", 15*time.Second))
			}
			if !tt.withdrawn || name == "a pack that cannot be used" {
				return
			}
			w.runner.end(record.ID, run.Cancelled, "withdrawn")
			w.mustReconcile()
			w.mustReconcile()
			next := w.stack().Status.Run
			g.Expect(next).To(HaveField("Operation", run.Update))
			g.Expect(next.Policies).NotTo(Equal(record.Policies))
			g.Expect(w.stack().Status.Failures).To(BeZero())
		})
	}
}
