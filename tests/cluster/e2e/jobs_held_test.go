// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

// No node has heldLabel before this test.
const heldLabel = "pulumi-controller.test/held"

// holdJobs suspends a Job in the middle of its run, and another before its pod has started, like a queue of Jobs.
func (w *world) holdJobs() {
	updates := w.counts([]string{"inline", "third"})
	started := w.beginJobs(begins{w, "inline", "held", severalPods})
	w.suspend(started[0].run.Job, true)
	w.awaitEvent("inline", v1.PodFailedReason, "Job "+started[0].run.Job+" was suspended", "Pulumi finished the operations in flight")
	w.awaitValue("inline", "held")
	w.updatedOnce("inline", updates["inline"])

	w.patchStack("third", `{"config": {"value": "held"}, "workspaceTemplate": {"spec": {"podTemplate": {"spec": {"nodeSelector": {"`+heldLabel+`": "no"}}}}}}`)
	w.awaitMessage("third", "waits for a node")
	held := w.jobInFlight("third")
	w.suspend(held.run.Job, true)
	w.awaitMessage("third", "Job "+held.run.Job+" is suspended: its pod is created once its spec.suspend is false")
	w.awaitGone(held.pod)
	w.kubectl("label", "nodes", "--all", heldLabel+"=no")
	w.suspend(held.run.Job, false)
	w.awaitValue("third", "held")
	w.Expect(w.stackNow(w, "third").Status.LastUpdate.Name).To(Equal(held.run.ID), "the run that was held continues")
	w.updatedOnce("third", updates["third"])
	w.patchStack("third", `{"config": {"value": "freed"}, "workspaceTemplate": {"spec": {"podTemplate": {"spec": {"nodeSelector": null}}}}}`)
	w.awaitValue("third", "freed")
	w.kubectl("label", "nodes", "--all", heldLabel+"-")
}

func (w *world) suspend(job string, is bool) {
	w.test.Helper()
	w.kubectl("--namespace", w.tenant, "patch", "job", job, "--type=merge", "--patch", fmt.Sprintf(`{"spec": {"suspend": %t}}`, is))
}

// awaitMessage waits until the Stack's message has the text.
func (w *world) awaitMessage(name, part string) {
	w.test.Helper()
	w.Eventually(func(g Gomega) {
		g.Expect(conditions.GetMessage(w.stackNow(g, name), meta.ReadyCondition)).To(ContainSubstring(part))
	}).Should(Succeed())
}
