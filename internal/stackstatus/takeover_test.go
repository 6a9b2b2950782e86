// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package stackstatus

import (
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/operator"
)

func operatorV1(s *v1.Stack, revision string) {
	operator.UpdatedByV1(s, revision, started.Add(-time.Hour))
}

func operatorV2(s *v1.Stack, revision string) {
	operator.UpdatedByV2(s, revision, started.Add(-time.Hour))
}

func ofProgram(s *v1.Stack) { s.Spec.ProgramRef = &v1.ProgramReference{Name: "web"} }

func ofFlux(s *v1.Stack) {
	s.Spec.FluxSource = &v1.FluxSource{SourceRef: v1.SourceReference{Kind: "GitRepository", Name: "infra"}}
}

func ofBranch(s *v1.Stack) { s.Spec.ProjectRepo, s.Spec.Branch = "https://example.com/infra", "main" }

func ofCommit(s *v1.Stack) {
	s.Spec.ProjectRepo, s.Spec.Commit = "https://example.com/infra", gitCommit40
}

func TestWhatTheOperatorHasAppliedIsTakenOver(t *testing.T) {
	const programRevision = "7@sha256:2d2b"
	type change = func(*v1.Stack)
	tests := []struct {
		name     string
		source   change
		revision string // the current one
		by       func(stack *v1.Stack, revision string)
		applied  string // in the operator's format
		change   change
		want     bool
	}{
		{"v2, a Program", ofProgram, programRevision, operatorV2, "7", nil, true},
		{"v2, a Program that was edited since", ofProgram, "8@sha256:ffff", operatorV2, "7", nil, false},
		{"v2, a Program in the words of v1", ofProgram, programRevision, operatorV2, "web/7", nil, false},
		{"v2, a Flux source", ofFlux, gitRevision, operatorV2, gitRevision, nil, true},
		{"v2, an OCIRepository", ofFlux, ociRevision, operatorV2, ociRevision, nil, true},
		{"v2, a Flux source at another revision", ofFlux, gitRevision, operatorV2, "main@sha1:0000", nil, false},
		{"v2, a branch", ofBranch, gitRevision, operatorV2, gitCommit40, nil, true},
		{"v2, a branch with a new commit", ofBranch, gitRevision, operatorV2, "0000", nil, false},
		{"v2, a source without a revision", ofBranch, "", operatorV2, "", nil, false},
		{"v2, edited before its update", ofBranch, gitRevision, operatorV2, gitCommit40, func(s *v1.Stack) {
			s.Generation, s.Status.LastUpdate.Generation = 4, 4
		}, true},
		{"v2, edited since", ofBranch, gitRevision, operatorV2, gitCommit40, func(s *v1.Stack) { s.Generation++ }, false},
		{"v2, with an update in flight", ofFlux, gitRevision, operatorV2, gitRevision, func(s *v1.Stack) {
			s.Status.CurrentUpdate = &v1.CurrentUpdate{Name: "app-18a9f0c2d3f"}
		}, false},
		{"v2, failed", ofFlux, gitRevision, operatorV2, gitRevision, func(s *v1.Stack) { s.Status.LastUpdate.State = v1.UpdateFailed }, false},
		{"v2, previewed", ofFlux, gitRevision, operatorV2, gitRevision, func(s *v1.Stack) { s.Status.LastUpdate.Type = v1.UpdateTypePreview }, false},
		{"v2, destroyed", ofFlux, gitRevision, operatorV2, gitRevision, func(s *v1.Stack) { s.Status.LastUpdate.Type = v1.UpdateTypeDestroy }, false},
		{"v2, with a request that was answered", ofFlux, gitRevision, operatorV2, gitRevision, func(s *v1.Stack) {
			s.Annotations = map[string]string{v1.ReconcileRequestAnnotation: "one"}
			s.Status.ObservedReconcileRequest, s.Status.LastUpdate.ReconcileRequest = "one", "one"
		}, true},
		{"v2, with a request that was only seen", ofFlux, gitRevision, operatorV2, gitRevision, func(s *v1.Stack) {
			s.Annotations = map[string]string{v1.ReconcileRequestAnnotation: "two"}
			s.Status.ObservedReconcileRequest, s.Status.LastUpdate.ReconcileRequest = "two", "one"
		}, false},
		{"v2, stalled", ofFlux, gitRevision, operatorV2, gitRevision, func(s *v1.Stack) {
			s.Status.Conditions[0].Status, s.Status.Conditions[0].Reason = metav1.ConditionFalse, "NotReadyStalled"
		}, false},
		{"v2, whose source was awaited here", ofFlux, gitRevision, operatorV2, gitRevision, func(s *v1.Stack) {
			s.Status.Conditions[0].Status, s.Status.Conditions[0].Reason = metav1.ConditionFalse, meta.ArtifactFailedReason
		}, true},
		{"v2, whose source was awaited here, with a request of which nobody knows", ofFlux, gitRevision, operatorV2, gitRevision, func(s *v1.Stack) {
			s.Status.Conditions[0].Status, s.Status.Conditions[0].Reason = metav1.ConditionFalse, meta.ArtifactFailedReason
			s.Annotations = map[string]string{v1.ReconcileRequestAnnotation: "one"}
			s.Status.ObservedReconcileRequest = "one"
		}, false},
		{"v2, without conditions", ofFlux, gitRevision, operatorV2, gitRevision, func(s *v1.Stack) { s.Status.Conditions = nil }, true},

		{"v1, a Program", ofProgram, programRevision, operatorV1, "web/7", nil, true},
		{"v1, another Program", ofProgram, programRevision, operatorV1, "other/7", nil, false},
		{"v1, a Program in the words of v2", ofProgram, programRevision, operatorV1, "7", nil, false},
		{"v1, a Flux source", ofFlux, gitRevision, operatorV1, gitRevision, nil, true},
		{"v1, a branch", ofBranch, gitRevision, operatorV1, gitCommit40, nil, true},
		{"v1, a commit", ofCommit, gitRevision, operatorV1, gitCommit40, nil, true},
		{"v1, edited once, which it may not have applied", ofBranch, gitRevision, operatorV1, gitCommit40, func(s *v1.Stack) {
			s.Generation, s.Status.ObservedGeneration = 2, 2
		}, false},
		{"v1, a commit, edited once, which it has applied", ofCommit, gitRevision, operatorV1, gitCommit40, func(s *v1.Stack) {
			s.Generation, s.Status.ObservedGeneration = 2, 2
		}, true},
		{"v1, edited since", ofCommit, gitRevision, operatorV1, gitCommit40, func(s *v1.Stack) { s.Generation++ }, false},
		{"v1, back at a commit after another that failed", ofBranch, gitRevision, operatorV1, gitCommit40, func(s *v1.Stack) {
			s.Status.LastUpdate.LastAttemptedCommit = "0000"
		}, false},
		{"v1, after a commit that could not be had", ofBranch, gitRevision, operatorV1, gitCommit40, func(s *v1.Stack) {
			s.Status.LastUpdate.LastAttemptedCommit = ""
		}, true},

		{"never updated", ofFlux, gitRevision, operatorV1, gitRevision, func(s *v1.Stack) { s.Status.LastUpdate = nil }, false},
		{"run here since", ofFlux, gitRevision, operatorV2, gitRevision, func(s *v1.Stack) { s.Status.LastAttemptedDigest = "sha256:x" }, false},
		{"taken over before", ofFlux, gitRevision, operatorV2, gitRevision, func(s *v1.Stack) { s.Status.LastAppliedDigest = "sha256:x" }, false},
		{"run here since, of which the history tells", ofFlux, gitRevision, operatorV2, gitRevision, func(s *v1.Stack) {
			s.Status.History = meta.History{{}}
		}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			stack := &v1.Stack{ObjectMeta: metav1.ObjectMeta{Generation: 1}}
			tt.source(stack)
			tt.by(stack, tt.applied)
			if tt.change != nil {
				tt.change(stack)
			}
			NewWithT(t).Expect(AppliedByOperator(stack, tt.revision, time.Time{})).To(Equal(tt.want))
		})
	}
}

// A Program that was deleted and recreated may have the generation of the earlier one.
func TestARecreatedProgramIsNotTakenOver(t *testing.T) {
	updated := started.Add(-time.Hour)
	for name, test := range map[string]struct {
		made    time.Time
		updated *metav1.Time
		want    bool
	}{
		"made before the update":   {updated.Add(-time.Minute), &metav1.Time{Time: updated}, true},
		"in the second of it":      {updated, &metav1.Time{Time: updated}, true},
		"after it":                 {updated.Add(time.Second), &metav1.Time{Time: updated}, false},
		"nobody knows when it was": {updated.Add(-time.Minute), nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			for applied, by := range map[string]func(*v1.Stack, string){"web/1": operatorV1, "1": operatorV2} {
				stack := &v1.Stack{ObjectMeta: metav1.ObjectMeta{Generation: 1}}
				ofProgram(stack)
				by(stack, applied)
				stack.Status.LastUpdate.LastResyncTime = test.updated
				g := NewWithT(t)
				g.Expect(AppliedByOperator(stack, "1@sha256:2d2b", test.made)).To(Equal(test.want))
			}
		})
	}
}
