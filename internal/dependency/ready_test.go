// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package dependency_test

import (
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/dependency"
)

var now = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// ready returns a Stack that applied a revision of a source ten minutes ago.
func ready(changes ...func(*v1.Stack)) *v1.Stack {
	stack := &v1.Stack{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a", Generation: 2, ResourceVersion: "7"},
		Spec:       v1.StackSpec{Stack: "dev", FluxSource: &v1.FluxSource{SourceRef: v1.SourceReference{Kind: "GitRepository", Name: "repo"}}},
		Status: v1.StackStatus{
			ObservedGeneration:  2,
			LastAppliedRevision: "main@sha1:1",
			LastRun:             &v1.LastRun{ID: "run-1", State: v1.UpdateSucceeded, EndedAt: &metav1.Time{Time: now.Add(-10 * time.Minute)}},
		},
	}
	conditions.MarkTrue(stack, meta.ReadyCondition, meta.ReconciliationSucceededReason, "Applied")
	for _, change := range changes {
		change(stack)
	}
	return stack
}

func notReady(s *v1.Stack) {
	conditions.MarkUnknown(s, meta.ReadyCondition, meta.ProgressingReason, "Running")
}
func edited(s *v1.Stack)    { s.Generation++ }
func suspended(s *v1.Stack) { s.Spec.Suspend = true }
func previewed(s *v1.Stack) { s.Spec.Preview = true }
func deleted(s *v1.Stack)   { s.DeletionTimestamp = &metav1.Time{Time: now} }
func program(name string) func(*v1.Stack) {
	return func(s *v1.Stack) { s.Spec.FluxSource, s.Spec.ProgramRef = nil, &v1.ProgramReference{Name: name} }
}
func from(ref v1.SourceReference) func(*v1.Stack) {
	return func(s *v1.Stack) { s.Spec.FluxSource.SourceRef = ref }
}

func TestWhyNot(t *testing.T) {
	other := v1.SourceReference{Kind: "GitRepository", Name: "other"}
	for _, test := range []struct {
		name       string
		stack      *v1.Stack
		dependency *v1.Stack
		revision   string
		want       string
	}{
		{"ready at the same revision", ready(), ready(), "main@sha1:1", ""},
		{"not Ready", ready(), ready(notReady), "main@sha1:1", "is not ready"},
		{"without any condition", ready(), ready(func(s *v1.Stack) { s.Status.Conditions = nil }), "", "is not ready"},
		{"Ready at an older spec", ready(), ready(edited), "main@sha1:1", "is not ready"},
		{"never observed", ready(), ready(func(s *v1.Stack) { s.Status = v1.StackStatus{ObservedGeneration: -1} }), "", "is not ready"},
		{"being deleted", ready(), ready(deleted), "main@sha1:1", "is being deleted"},
		{"at the revision before", ready(), ready(), "main@sha1:2", "has not applied revision main@sha1:2 yet"},
		{"suspended is as its Ready says", ready(), ready(suspended), "main@sha1:1", ""},
		{"suspended at the revision before", ready(), ready(suspended), "main@sha1:2", "is suspended and has not applied revision main@sha1:2"},
		{"another source has revisions of its own", ready(from(other)), ready(), "main@sha1:2", ""},
		{"the same name of another kind is another source", ready(from(v1.SourceReference{Kind: "Bucket", Name: "repo"})), ready(), "main@sha1:2", ""},
		{"the same name in another namespace is another source",
			ready(from(v1.SourceReference{Kind: "GitRepository", Name: "repo", Namespace: "x"})), ready(), "main@sha1:2", ""},
		{"the namespace may be said or not",
			ready(from(v1.SourceReference{Kind: "GitRepository", Name: "repo", Namespace: "default"})), ready(), "main@sha1:2",
			"has not applied revision main@sha1:2 yet"},
		{"the same Program at the generation before", ready(program("p")), ready(program("p")), "2@sha256:2", "has not applied revision 2@sha256:2 yet"},
		{"another Program", ready(program("p")), ready(program("q")), "2@sha256:2", ""},
		{"a Program and a source", ready(program("p")), ready(), "2@sha256:2", ""},
		{"a preview applies no revision", ready(), ready(previewed), "main@sha1:2", ""},
		{"the source of the one that waits has no artifact", ready(), ready(), "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			NewWithT(t).Expect(dependency.WhyNot(test.stack, test.dependency, test.revision)).To(Equal(test.want))
		})
	}
}

func within(d time.Duration) *v1.PrerequisiteRequirement {
	return &v1.PrerequisiteRequirement{SucceededWithinDuration: &metav1.Duration{Duration: d}}
}

func TestWhyUnmet(t *testing.T) {
	justNow := func(s *v1.Stack) { s.Status.LastRun.EndedAt = &metav1.Time{Time: now.Add(-9 * time.Second)} }
	for _, test := range []struct {
		name        string
		requirement *v1.PrerequisiteRequirement
		stack       *v1.Stack
		want        string
		stale       bool
	}{
		{"ever is enough without a requirement", nil, ready(), "", false},
		{"and with an empty one", &v1.PrerequisiteRequirement{}, ready(), "", false},
		{"new enough", within(10 * time.Minute), ready(), "", false},
		{"too old", within(9 * time.Minute), ready(), "last succeeded more than 9m0s ago and was asked to run again", true},
		{"too old and suspended: nothing is asked of it", within(9 * time.Minute), ready(suspended), "last succeeded more than 9m0s ago and is suspended", false},
		{"not Ready: it is busy, or has failed", within(9 * time.Minute), ready(notReady), "is not ready", false},
		{"never run", nil, ready(func(s *v1.Stack) { s.Status.LastRun = nil }), "has not succeeded yet", false},
		{"failed", nil, ready(func(s *v1.Stack) { s.Status.LastRun.State = v1.UpdateFailed }), "has not succeeded yet", false},
		{"being deleted", within(time.Hour), ready(deleted), "is being deleted", false},
		{"nothing can be newer than the time it takes to tell", within(time.Millisecond), ready(justNow), "", false},
		{"without a time, as no controller writes it", within(time.Hour), ready(func(s *v1.Stack) { s.Status.LastRun.EndedAt = nil }),
			"last succeeded more than 1h0m0s ago and was asked to run again", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			g := NewWithT(t)
			why, stale := dependency.WhyUnmet(test.requirement, ready(), test.stack, "main@sha1:1", now)
			g.Expect(why).To(Equal(test.want))
			g.Expect(stale).To(Equal(test.stale))
		})
	}
}

func TestAPrerequisiteOfTheSameSourceMustHaveAppliedTheRevision(t *testing.T) {
	g := NewWithT(t)
	why, stale := dependency.WhyUnmet(within(time.Minute), ready(), ready(), "main@sha1:2", now)
	g.Expect(why).To(Equal("has not applied revision main@sha1:2 yet"))
	g.Expect(stale).To(BeFalse(), "the new revision runs it anyway")
	other := from(v1.SourceReference{Kind: "GitRepository", Name: "other"})
	why, _ = dependency.WhyUnmet(nil, ready(other), ready(), "main@sha1:2", now)
	g.Expect(why).To(BeEmpty())
}

func TestARequestChangesOnlyWithTheNeedForIt(t *testing.T) {
	g := NewWithT(t)
	first := dependency.Request(ready())
	g.Expect(dependency.Request(ready())).To(Equal(first), "whoever asks, and however often")

	ranAgain := ready(func(s *v1.Stack) { s.Status.LastRun.ID = "run-2" })
	g.Expect(dependency.Request(ranAgain)).NotTo(Equal(first))
	failedInBetween := ready(func(s *v1.Stack) { s.Status.Conditions[0].LastTransitionTime = metav1.Time{Time: now.Add(time.Hour)} })
	g.Expect(dependency.Request(failedInBetween)).NotTo(Equal(first))
}

func TestCompare(t *testing.T) {
	dependsOn := func(names ...string) func(*v1.Stack) {
		return func(s *v1.Stack) {
			s.Spec.DependsOn = nil
			for _, name := range names {
				s.Spec.DependsOn = append(s.Spec.DependsOn, v1.DependencyReference{Name: name})
			}
		}
	}
	written := func(s *v1.Stack) { s.ResourceVersion += "1" }
	for _, test := range []struct {
		name          string
		before, after *v1.Stack
		want          dependency.Change
	}{
		{"nothing, as in a resync of the cache", ready(), ready(), dependency.Change{}},
		{"became ready", ready(notReady), ready(written), dependency.Change{Ready: true, Any: true}},
		{"is ready no longer: who waits keeps waiting", ready(), ready(notReady, written), dependency.Change{Any: true}},
		{"ready at another revision", ready(), ready(written, func(s *v1.Stack) { s.Status.LastAppliedRevision = "main@sha1:2" }),
			dependency.Change{Ready: true, Any: true}},
		{"ready at the new spec", ready(edited), ready(edited, written, func(s *v1.Stack) { s.Status.ObservedGeneration = 3 }),
			dependency.Change{Ready: true, Any: true}},
		{"run again", ready(), ready(written, func(s *v1.Stack) { s.Status.LastRun.ID = "run-2" }), dependency.Change{Ready: true, Any: true}},
		{"another output", ready(), ready(written, func(s *v1.Stack) { s.Status.Failures = 1 }), dependency.Change{Any: true}},
		{"asked for", ready(), ready(written, func(s *v1.Stack) { s.Annotations = map[string]string{"a": "b"} }), dependency.Change{Any: true}},
		{"depends on another one", ready(dependsOn("x", "y")), ready(dependsOn("y", "z"), written, edited),
			dependency.Change{Any: true, Order: true, Freed: []dependency.Key{key("x")}}},
		{"asks more of the same", ready(dependsOn("x")), ready(written, edited, func(s *v1.Stack) {
			s.Spec.DependsOn = []v1.DependencyReference{{Name: "x", ReadyExpr: "true"}}
		}), dependency.Change{Any: true}},
		{"from dependsOn to prerequisites", ready(dependsOn("x")), ready(written, edited, func(s *v1.Stack) {
			s.Spec.Prerequisites = []v1.PrerequisiteReference{{Name: "x"}}
		}), dependency.Change{Any: true}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := dependency.Compare(test.before, test.after)
			if len(got.Freed) == 0 {
				got.Freed = nil
			}
			NewWithT(t).Expect(got).To(Equal(test.want))
		})
	}
}
