// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package stackstatus

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/drift"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

func TestAStackIsCheckedAlsoIfTheClockWasSetBack(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		checked time.Duration
		want    types.GomegaMatcher
	}{
		"checked a while ago":     {-20 * time.Minute, BeTemporally("~", now.Add(40*time.Minute), drift.MaxSpread)},
		"by a little":             {time.Minute, BeTemporally(">=", now.Add(time.Hour+time.Minute))},
		"by more than the spread": {time.Hour, BeTemporally("==", now)},
	} {
		t.Run(name, func(t *testing.T) {
			stack := &v1.Stack{}
			stack.Spec.Drift = &v1.Drift{Interval: &metav1.Duration{Duration: time.Hour}}
			stack.Status.Drift = &v1.DriftStatus{LastCheckedAt: &metav1.Time{Time: now.Add(test.checked)}}
			NewWithT(t).Expect(observeDrift(stack, now).NextAt).To(test.want)
		})
	}
}

// A Stack that gets spec.drift when it is old has not missed a check. Many may get it at once.
func TestTheFirstCheckOfAnExistingStack(t *testing.T) {
	g := NewWithT(t)
	stack := &v1.Stack{ObjectMeta: metav1.ObjectMeta{UID: "uid", Generation: 1, CreationTimestamp: metav1.Time{Time: started.Add(-48 * time.Hour)}}}
	ended(update, run.Succeeded)(stack)
	stack.Spec.Drift = &v1.Drift{Interval: &metav1.Duration{Duration: time.Hour}}
	g.Expect(observeDrift(stack, started)).To(And(HaveField("Unscheduled", false), HaveField("NextAt", BeTemporally("<", started))), "it has had spec.drift since its creation")

	stack.Generation = 2
	before := observeDrift(stack, started)
	g.Expect(before).To(And(HaveField("Unscheduled", true), HaveField("NextAt", BeTemporally(">", started))))
	ScheduleDrift(stack, started)
	for _, later := range []time.Duration{0, 30 * time.Minute, 90 * time.Minute} {
		seen := observeDrift(stack, started.Add(later))
		g.Expect(seen).To(And(HaveField("Unscheduled", false), HaveField("NextAt", before.NextAt)), "at the same time whenever it is looked at")
		g.Expect(seen.NextAt).To(BeTemporally("<=", started.Add(time.Hour)))
	}
	FailCheck(stack, "boom", started.Add(time.Hour))
	g.Expect(stack.Status.Drift.ScheduledSince).To(BeNil())
}

// A check is pending after an update, and spec.drift is gone: only the annotation, whose request is
// handled, has what was found kept.
func TestAFailedCheckWithoutAScheduleBacksOff(t *testing.T) {
	g := NewWithT(t)
	stack := &v1.Stack{}
	ended(update, run.Succeeded)(stack)
	stack.Annotations = map[string]string{v1.CheckDriftAnnotation: "one"}
	stack.Status.Drift = &v1.DriftStatus{Digest: "sha256:a", LastHandledCheck: "one", CheckPending: true}
	g.Expect(decided(stack)).To(Equal("InSync and a check"))

	FailCheck(stack, "boom", started)
	g.Expect(decided(stack)).To(Equal("InSync"))
	stack.Status.Drift.LastCheckedAt = &metav1.Time{Time: started.Add(-time.Hour)}
	g.Expect(decided(stack)).To(Equal("InSync and a check"))
}

func TestNoCheckIsPendingThatNothingAsksFor(t *testing.T) {
	g := NewWithT(t)
	stack := &v1.Stack{}
	ended(update, run.Succeeded)(stack)
	stack.Status.Drift = &v1.DriftStatus{Digest: "sha256:a", CheckPending: true}
	g.Expect(decided(stack)).To(Equal("InSync"))
	g.Expect(observeDrift(stack, started).Left).To(BeTrue(), "it is dropped")
}

func TestWhatSpecDriftNoLongerAsksForGoes(t *testing.T) {
	corrected := v1.DriftStatus{Result: v1.DriftDetectedReason, Digest: "sha256:a", AttemptedDigest: "sha256:a", SpecDigest: "sha256:b", Message: notUndone,
		Targets: []string{"urn:a"}, TargetDependents: true, LastHandledCheck: "one"}
	reported := v1.DriftStatus{Result: v1.DriftDetectedReason, Digest: "sha256:a", LastHandledCheck: "one"}
	for name, test := range map[string]struct {
		spec  *v1.Drift
		asked bool
		// has is what the status has, and want what is left of it.
		has, want *v1.DriftStatus
		plan      *v1.PlanStatus
		left      bool
	}{
		"nobody asks for checks":                                 {has: &corrected, left: true},
		"only a check was asked for":                             {asked: true, has: &reported, want: &reported},
		"only a check is asked for, of what was to be corrected": {asked: true, has: &corrected, want: &reported, left: true},
		"drift is only reported":                                 {spec: &v1.Drift{}, has: &corrected, want: &reported, left: true},
		"drift is only reported, and a plan waits":               {spec: &v1.Drift{Mode: v1.DriftReport}, has: &reported, want: &reported, plan: &v1.PlanStatus{Drift: "sha256:a"}, left: true},
		"a plan of what is due waits":                            {spec: &v1.Drift{}, has: &reported, want: &reported, plan: &v1.PlanStatus{}},
		"drift is proposed to be undone":                         {spec: &v1.Drift{Mode: v1.DriftPropose}, has: &corrected, want: &corrected, plan: &v1.PlanStatus{Drift: "sha256:a"}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			stack := &v1.Stack{}
			stack.Spec.Drift, stack.Status.Drift, stack.Status.Plan = test.spec, test.has.DeepCopy(), test.plan
			if test.asked {
				metav1.SetMetaDataAnnotation(&stack.ObjectMeta, v1.CheckDriftAnnotation, "one")
			}
			g.Expect(isDriftLeft(stack)).To(Equal(test.left))
			if !test.left {
				return
			}
			DropDrift(stack, DriftDetails{})
			g.Expect(stack.Status.Drift).To(Equal(test.want))
			g.Expect(stack.Status.Plan).To(BeNil())
			g.Expect(isDriftLeft(stack)).To(BeFalse(), "it is dropped once")
		})
	}
}
