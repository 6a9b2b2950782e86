// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package stackstatus

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/google/uuid"
	apimeta "k8s.io/apimachinery/pkg/api/meta"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/grammar"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// AppliedByOperator reports whether the Pulumi operator applied the Stack as it is now,
// with the program at this revision, and this controller has not run it since. madeAt is when
// the Program was created, zero for a source.
func AppliedByOperator(stack *v1.Stack, revision string, madeAt time.Time) bool {
	status, last := &stack.Status, stack.Status.LastUpdate
	switch {
	case last == nil, status.LastAttemptedDigest != "", status.LastAppliedDigest != "", len(status.History) > 0:
		return false // never updated, or not by the operator
	case uuid.Validate(last.Name) == nil:
		return false // a run of this controller, of whose status a CRD of the operator has left no more
	case status.CurrentUpdate != nil:
		return false // the operator has not seen the end of another update
	case last.State != v1.UpdateSucceeded, last.Type != "" && last.Type != v1.UpdateTypeUp:
		return false
	case isNotReady(stack) && reasonOf(stack, meta.ReadyCondition) != meta.ArtifactFailedReason:
		return false // stalled, or about to run; a missing source does not count, as this controller reports it
	}
	return isOfGeneration(stack) && isOfRequest(stack) && isOfRevision(stack, revision, madeAt)
}

// isOfGeneration reports whether the last update of the operator was of the current spec.
// The operator v2 records the generation. v1 records the generation it has observed, but
// applies an edit only with the next commit, unless the spec names the commit. So with v1
// only a spec that was never edited is proven.
func isOfGeneration(stack *v1.Stack) bool {
	if byOperatorV2(stack) {
		return stack.Status.LastUpdate.Generation == stack.Generation
	}
	followsNothing := stack.Spec.Commit != "" && stack.Spec.Branch == "" && !isNotReady(stack)
	return stack.Status.ObservedGeneration == stack.Generation && (stack.Generation == 1 || followsNothing)
}

func isNotReady(stack *v1.Stack) bool {
	return apimeta.IsStatusConditionFalse(stack.Status.Conditions, meta.ReadyCondition)
}

func byOperatorV2(stack *v1.Stack) bool { return stack.Status.LastUpdate.Generation != 0 }

// isOfRequest reports whether the last update of the operator was for the last request.
// If it recorded none, a Stack that is Ready waits for no update.
func isOfRequest(stack *v1.Stack) bool {
	answered, asked := stack.Status.LastUpdate.ReconcileRequest, stack.Annotations[v1.ReconcileRequestAnnotation]
	return answered == asked || answered == "" && !isNotReady(stack)
}

// isOfRevision reports whether the last update of the operator was of the current
// program. An attempt of v1 that failed after it no longer counts once the program is
// back at that revision, whatever it left behind.
func isOfRevision(stack *v1.Stack, revision string, madeAt time.Time) bool {
	last, now := stack.Status.LastUpdate, revisionOfOperator(stack, revision)
	return now != "" && last.LastSuccessfulCommit == now &&
		(last.LastAttemptedCommit == "" || last.LastAttemptedCommit == now) && isOfObject(last, madeAt)
}

// isOfObject reports whether the update was of this Program, and not of an earlier one of
// the same name: generations start at 1 again.
func isOfObject(last *v1.LastUpdate, madeAt time.Time) bool {
	return madeAt.IsZero() || (last.LastResyncTime != nil && !last.LastResyncTime.Time.Before(madeAt))
}

// revisionOfOperator returns the revision of the program in the operator's format: the
// commit of a git repository, the revision of a Flux source, or the generation of a
// Program, which v1 puts after the name.
func revisionOfOperator(stack *v1.Stack, revision string) string {
	switch {
	case stack.Spec.ProgramRef != nil && byOperatorV2(stack):
		return generationOf(revision)
	case stack.Spec.ProgramRef != nil:
		return stack.Spec.ProgramRef.Name + "/" + generationOf(revision)
	case stack.Spec.FluxSource != nil:
		return revision
	}
	return gitCommit(revision)
}

// generationOf returns the generation in the revision of a Program.
func generationOf(revision string) string {
	generation, _, _ := strings.Cut(revision, "@")
	if _, err := strconv.ParseInt(generation, 10, 64); err != nil {
		return ""
	}
	return generation
}

// Inputs is the current inputs of a Stack, as far as the status is about them.
type Inputs struct {
	Revision, OriginRevision, Digest string
	// Project is that of a Program. A source brings its own.
	Project run.Project
}

// MarkTakenOver sets the status as if this controller had applied the inputs, except for
// what only a run can tell: the backend in which the stack was found.
func MarkTakenOver(stack *v1.Stack, applied Inputs) {
	markHandled(stack)
	must := MustExist(stack)
	stack.Status.LastAttemptedRevision = applied.Revision
	stack.Status.LastAttemptedDigest = applied.Digest
	stack.Status.LastAppliedDigest = applied.Digest
	recordKnownProject(stack, applied.Project)
	stack.Status.ProjectInfo.UpdatedElsewhere = must
	markInSync(stack, applied.Revision, applied.OriginRevision)
}

// recordKnownProject keeps what is known of the project, so that the stack can be destroyed
// after its program is gone.
func recordKnownProject(stack *v1.Stack, project run.Project) {
	info := stack.Status.ProjectInfo
	if info == nil {
		info = &v1.ProjectInfo{}
		stack.Status.ProjectInfo = info
	}
	if info.Name != "" {
		return
	}
	info.Name, info.Runtime = project.Name, project.Runtime
	if name, err := grammar.ParseStackName(stack.Spec.Stack); err == nil && info.Name == "" {
		info.Name = name.Project
	}
}

// isTakenOver reports that the Pulumi operator applied what is applied: no run of this
// controller has ended since.
func isTakenOver(stack *v1.Stack) bool {
	return stack.Status.LastAppliedDigest != "" && stack.Status.LastUpdate != nil && len(stack.Status.History) == 0
}

// appliedText says which revision is applied, with the warnings of the run that did it.
func appliedText(stack *v1.Stack, revision string) string {
	text := fmt.Sprintf("Applied revision: %s", revision)
	last := LastRun(stack)
	switch {
	case isTakenOver(stack):
		text += " (by the Pulumi operator; taken over without a run, because nothing has changed since)"
	case last != nil && last.Operation == v1.OperationUpdate && last.State == v1.UpdateSucceeded && last.Message != "":
		text += ". Warning: " + last.Message
	}
	return text
}
