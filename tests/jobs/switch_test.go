// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// It ends the controller of all tests, so no other test may run beside it.
func TestRunsOutliveASwitchToLocalAndBack(t *testing.T) {
	short.Skip(t)
	u := newTeam(t)
	u.program("app", thing("one", "hold: create"))
	app := u.stack("app")
	u.awaitJournal("create", "begin")
	u.queueJobs()
	u.program("queued", thing("two"))
	queued := u.stack("queued")
	u.await(queued, func(g Gomega, s *v1.Stack) {
		g.Expect(conditions.GetMessage(s, meta.ReadyCondition)).To(ContainSubstring("is suspended"))
	})
	waits := queued.Status.Run.Job

	u.Expect(u.Controller.Stop()).To(Succeed())
	u.Expect(u.StartController("--runner=local")).To(Succeed())
	u.await(queued, func(g Gomega, s *v1.Stack) {
		g.Expect(s.Status.Run).To(BeNil())
		g.Expect(s.Status.LastUpdate.Message).To(ContainSubstring("withdrawn: the controller no longer has --runner=job"))
		g.Expect(conditions.GetReason(s, meta.StalledCondition)).To(Equal(v1.InvalidSpecReason), "a process of the controller has no pod for its template")
	})
	u.Expect(u.cloud.Release()).To(Succeed())
	u.await(app, func(g Gomega, s *v1.Stack) {
		g.Expect(s.Status.Run).To(BeNil())
		g.Expect(s.Status.LastUpdate).To(HaveField("State", v1.UpdateSucceeded))
	})
	u.Eventually(func(g Gomega) {
		var left corev1.SecretList
		g.Expect(u.List(u.ctx, &left, client.InNamespace(u.namespace), client.HasLabels{"pulumi.com/run"})).To(Succeed())
		g.Expect(left.Items).To(BeEmpty(), "they hold credentials")
		g.Expect(u.jobs()).NotTo(ContainElement(HaveField("Name", waits)))
	}).Should(Succeed())

	u.Expect(u.Controller.Stop()).To(Succeed())
	u.Expect(u.StartController()).To(Succeed())
	u.awaitReady(app, "one")
	u.Expect(u.count("create", "begin")).To(Equal(1))
	u.Expect(app.Status.Failures).To(BeZero())
}
