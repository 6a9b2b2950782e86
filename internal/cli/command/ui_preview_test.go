// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/ui/view"
	"github.com/flux-pulumi/pulumi-controller/internal/inventory"
	"github.com/flux-pulumi/pulumi-controller/internal/plan"
)

// TestThePageShowsThePreviewThatItsButtonAsksFor, from the request to the result, and why there is none.
func TestThePageShowsThePreviewThatItsButtonAsksFor(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, "ui-preview")
	w.apply("steered")
	b := w.open("--no-open")
	shown := func() view.PreviewAnswer {
		var answer view.PreviewAnswer
		b.get("network/preview", &answer)
		return answer
	}
	before := shown().Message
	code, text := b.act("network/preview", "{}")
	g.Expect(code).To(Equal(200), text)
	request := w.network().Annotations[v1.PreviewRequestAnnotation]
	g.Expect(request).NotTo(BeEmpty())
	g.Eventually(func() string { return shown().Message }).Should(And(Not(Equal(before)), ContainSubstring("review is asked for")))

	data, err := inventory.EncodePlan(examplePlan("one"))
	g.Expect(err).NotTo(HaveOccurred())
	w.keep("network-preview", inventory.PlanKey, data)
	changes := examplePlan("one").Counts()
	w.status(func(s *v1.StackStatus) {
		s.Preview = &v1.PreviewStatus{Request: request, State: v1.UpdateSucceeded, EndedAt: &metav1.Time{Time: now}, ConfigMap: "network-preview", Digest: inventory.Digest(data),
			ResourceChanges: v1.ResourceChanges{Deleted: int32(changes.Total() + 2)}}
	})
	g.Eventually(func() *view.Plan { return shown().Plan }).ShouldNot(BeNil())
	answer := shown()
	g.Expect(answer.Plan.Steps).To(HaveLen(4))
	g.Expect(answer.Plan.Counts.Other).To(Equal(2), "of these, the events could not be read")
	g.Expect(answer.Plan.Warnings).To(Equal([]string{"Not listed: 2 resources"}))
	g.Expect(answer.Message).To(HavePrefix("An update would change this: "))

	w.status(func(s *v1.StackStatus) {
		s.Preview = &v1.PreviewStatus{Request: request, State: v1.UpdateFailed, EndedAt: &metav1.Time{Time: now}, Message: "the program has a fault"}
	})
	g.Eventually(func() string { return shown().Message }).Should(Equal("preview failed: the program has a fault"))
	var detail view.Detail
	b.get("network", &detail)
	g.Expect(detail.Preview).To(HaveField("Answered", request), "the tab")
}

// TestThePageSaysThatAPreviewWasNotKept: its ConfigMap was deleted.
func TestThePageSaysThatAPreviewWasNotKept(t *testing.T) {
	w := newWorld(t, "ui-preview-lost")
	w.apply("steered")
	w.status(func(s *v1.StackStatus) {
		s.Preview = &v1.PreviewStatus{Request: "1", State: v1.UpdateSucceeded, EndedAt: &metav1.Time{Time: now}, ConfigMap: "network-preview", Digest: plan.Plan{}.Digest()}
	})
	b := w.open("--no-open")
	var answer view.PreviewAnswer
	b.get("network/preview", &answer)
	NewWithT(t).Expect(answer.Message).To(ContainSubstring("and with it the result of the preview: try again"))
}
