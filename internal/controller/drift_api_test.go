// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"testing"
	"time"

	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

func TestDriftOnAnAPIServer(t *testing.T) {
	t.Parallel()
	u := sharedCluster(t).tenant(t)
	ask := func(value string) func(*v1.Stack) {
		return func(s *v1.Stack) { metav1.SetMetaDataAnnotation(&s.ObjectMeta, v1.CheckDriftAnnotation, value) }
	}
	hour := &metav1.Duration{Duration: time.Hour}

	u.createStack("a", func(s *v1.Stack) {
		s.Spec.Drift = &v1.Drift{Schedule: "30 2 * * *", TimeZone: "Europe/Berlin", Mode: v1.DriftReport,
			Ignore: []v1.IgnoredDrift{{Type: "aws:*", Paths: []string{"tags[\"a.b\"]"}}}}
	})
	u.awaitReady("a")
	before := u.stack("a")
	u.edit("a", ask("1"))
	u.Eventually(func(g Gomega) {
		stack := u.stack("a")
		g.Expect(stack.Status.Run).To(BeNil())
		g.Expect(stack.Status.Drift).To(And(HaveField("LastHandledCheck", "1"), HaveField("Result", v1.NoDriftReason), HaveField("LastCheckedAt", Not(BeNil()))))
		g.Expect(conditions.Get(stack, v1.DriftedCondition)).To(HaveField("Status", metav1.ConditionFalse))
	}).Should(Succeed())
	u.Expect(u.stack("a").Status.LastRun).To(Equal(before.Status.LastRun))
	u.Expect(u.runs()).To(Equal([]string{"update a", "check-drift a"}))

	u.edit("a", func(s *v1.Stack) { s.Spec.Suspend = true })
	u.edit("a", ask("2"))
	u.Eventually(func() string { return u.stack("a").Status.Drift.LastHandledCheck }).Should(Equal("2"), "it is checked while it is suspended")

	u.createStack("b")
	u.awaitReady("b")
	u.edit("b", ask("1"))
	u.Eventually(func(g Gomega) {
		g.Expect(u.stack("b").Status.Drift).To(HaveField("LastHandledCheck", "1"))
	}).Should(Succeed(), "once, without spec.drift")
	u.edit("b", func(s *v1.Stack) { delete(s.Annotations, v1.CheckDriftAnnotation) })
	u.Eventually(func(g Gomega) {
		g.Expect(u.stack("b").Status.Drift).To(BeNil())
		g.Expect(conditions.Get(u.stack("b"), v1.DriftedCondition)).To(BeNil())
	}).Should(Succeed())

	for want, wrong := range map[string]*v1.Drift{
		"exactly one of schedule and interval": {Schedule: "@daily", Interval: hour},
		"exactly one of":                       {},
		"timeZone belongs to schedule":         {Interval: hour, TimeZone: "UTC"},
		"must have five fields":                {Schedule: "TZ=UTC 0 6 * * *"},
		"the time zone belongs in timeZone":    {Schedule: "@every 1h"},
		"must be the name of a time zone":      {Schedule: "@daily", TimeZone: "Local"},
		"needs a type or a urn":                {Interval: hour, Ignore: []v1.IgnoredDrift{{Paths: []string{"tags"}}}},
		"Unsupported value":                    {Interval: hour, Mode: "Fix"},
	} {
		stack := stackOf("c", func(s *v1.Stack) { s.Spec.Drift = wrong })
		stack.Namespace = u.namespace
		u.Expect(u.Create(u.ctx, stack)).To(MatchError(ContainSubstring(want)))
	}
	u.createStack("d", func(s *v1.Stack) { s.Spec.Drift = &v1.Drift{Schedule: "0 0 30 2 *"} })
	u.awaitStalled("never occurs", "d")
}
