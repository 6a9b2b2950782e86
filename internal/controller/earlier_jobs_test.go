// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

// switched returns a controller with --runner=local, and the run of one with --runner=job
// that it has replaced.
func switched(t *testing.T) (w *world, lost string) {
	t.Helper()
	w, lost = takenOver(t)
	stack := w.stack()
	stack.Status.Run.Job = "pulumi-run-" + lost
	NewWithT(t).Expect(w.Client.Status().Update(t.Context(), stack)).To(Succeed())
	return w, lost
}

func TestAStackSaysWhatItsEarlierJobWaitsFor(t *testing.T) {
	g := NewWithT(t)
	w, lost := switched(t)
	w.runner.unproven = "it cannot be seen"
	w.others.gone = true
	w.mustReconcile()
	g.Expect(w.stack().Status.Run).To(HaveField("ID", lost), "the end of the controller says nothing of the pod")
	for _, condition := range []string{meta.ReadyCondition, meta.ReconcilingCondition} {
		g.Expect(conditions.GetMessage(w.stack(), condition)).To(And(
			HavePrefix("Waiting for Job pulumi-run-"+lost+", which executes run "+lost+" (update), although the controller no longer has --runner=job: it cannot be seen. "),
			ContainSubstring("ClusterRole of config/runner-jobs"),
			ContainSubstring("kubectl annotate --field-manager=flux-client-side-apply --overwrite -n default stacks.pulumi.com/app pulumi.com/release-run="+lost)))
	}
	w.edit(release(lost))
	w.mustReconcile()
	g.Expect(w.stack().Status.Run).To(BeNil())
	g.Expect(w.stack().Status.Interrupted).To(ConsistOf(HaveField("Host", "pulumi-run-"+lost)))
	g.Expect(w.runner.forgotten).To(ContainElement(lost), "its Secret holds credentials")
}

func TestARunWithNothingLeftOfItsJobIsRecoveredFrom(t *testing.T) {
	g := NewWithT(t)
	w, lost := switched(t)
	w.mustReconcile()
	g.Expect(w.stack().Status.Run).To(HaveField("ID", lost), "its controller may be about to make the Job")
	w.others.gone = true
	w.mustReconcile()
	g.Expect(w.stack().Status.Run).To(BeNil())
	g.Expect(conditions.GetReason(w.stack(), meta.ReadyCondition)).To(Equal(v1.RunInterruptedReason))
}
