// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package stackstatus

import (
	"cmp"
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
	return UnprovenOfOperator(stack, revision, madeAt) == ""
}

// UnprovenOfOperator returns what keeps the status from proving that, "" if it does.
func UnprovenOfOperator(stack *v1.Stack, revision string, madeAt time.Time) string {
	status, last := &stack.Status, stack.Status.LastUpdate
	switch {
	case status.LastAttemptedDigest != "", status.LastAppliedDigest != "", len(status.History) > 0:
		return "this controller has run it"
	case last == nil:
		return "the operator has never updated it"
	case uuid.Validate(last.Name) == nil:
		return "this controller has run it" // a CRD of the operator has left no more of the status
	case status.CurrentUpdate != nil:
		return "the operator has not seen the end of an update"
	case last.Type != "" && last.Type != v1.UpdateTypeUp:
		return fmt.Sprintf("the last run of the operator was of type %q", last.Type)
	case last.State != v1.UpdateSucceeded:
		return "the last update of the operator has not succeeded"
	case isNotReady(stack) && reasonOf(stack, meta.ReadyCondition) != meta.ArtifactFailedReason:
		return "it is not ready" // stalled, or about to run; a missing source does not count, as this controller reports it
	}
	return cmp.Or(otherGeneration(stack), otherRequest(stack), otherRevision(stack, revision, madeAt))
}

// otherGeneration returns why the last update of the operator may not have been of the current
// spec. The operator v2 records the generation. v1 records the generation it has observed, but
// applies an edit only with the next commit, unless the spec names the commit. So with v1
// only a spec that was never edited is proven.
func otherGeneration(stack *v1.Stack) string {
	if byOperatorV2(stack) {
		if stack.Status.LastUpdate.Generation == stack.Generation {
			return ""
		}
		return "its spec was edited after the last update"
	}
	followsNothing := stack.Spec.Commit != "" && stack.Spec.Branch == "" && !isNotReady(stack)
	if stack.Status.ObservedGeneration == stack.Generation && (stack.Generation == 1 || followsNothing) {
		return ""
	}
	return "its spec was edited, and the status of the operator v1 does not say whether that was applied"
}

func isNotReady(stack *v1.Stack) bool {
	return apimeta.IsStatusConditionFalse(stack.Status.Conditions, meta.ReadyCondition)
}

func byOperatorV2(stack *v1.Stack) bool { return stack.Status.LastUpdate.Generation != 0 }

// otherRequest returns why the last update of the operator may not have been for the last
// request. If it recorded none, a Stack that is Ready waits for no update.
func otherRequest(stack *v1.Stack) string {
	answered, asked := stack.Status.LastUpdate.ReconcileRequest, stack.Annotations[v1.ReconcileRequestAnnotation]
	if answered == asked || answered == "" && !isNotReady(stack) {
		return ""
	}
	return "the operator has not answered its annotation " + v1.ReconcileRequestAnnotation
}

// otherRevision returns why the last update of the operator may not have been of the current
// program. An attempt of v1 that failed after it no longer counts once the program is
// back at that revision, whatever it left behind.
func otherRevision(stack *v1.Stack, revision string, madeAt time.Time) string {
	last, now := stack.Status.LastUpdate, revisionOfOperator(stack, revision)
	switch {
	case now == "":
		return "the revision of its program is not known"
	case last.LastSuccessfulCommit != now:
		return fmt.Sprintf("its program is at %s, and the last update was of %s", now, cmp.Or(last.LastSuccessfulCommit, "no known revision"))
	case last.LastAttemptedCommit != "" && last.LastAttemptedCommit != now:
		return fmt.Sprintf("the operator has last tried to update it to %s", last.LastAttemptedCommit)
	case !isOfObject(last, madeAt):
		return "its Program was created after the last update"
	}
	return ""
}

// isOfObject reports whether the update was of this Program, and not of an earlier one of
// the same name: generations start at 1 again.
func isOfObject(last *v1.LastUpdate, madeAt time.Time) bool {
	return madeAt.IsZero() || (last.LastResyncTime != nil && !last.LastResyncTime.Time.Before(madeAt))
}

// UnchangedRevision returns the revision that a GitRepository has for the projectRepo of a
// Stack if nothing was pushed since the last update of the operator, "" if there was none.
func UnchangedRevision(stack *v1.Stack) string {
	last := stack.Status.LastUpdate
	if stack.Spec.Commit != "" {
		return "sha1:" + stack.Spec.Commit
	}
	if last == nil || last.LastSuccessfulCommit == "" {
		return ""
	}
	return stack.Spec.Branch + "@sha1:" + last.LastSuccessfulCommit
}

// OfOperator returns which major version of the Pulumi operator has last updated the Stack, 0 if
// it is not known, and whether this controller has run it or taken it over since.
func OfOperator(stack *v1.Stack) (major int, taken bool) {
	last := stack.Status.LastUpdate
	taken = ranHere(stack) || (last != nil && uuid.Validate(last.Name) == nil)
	switch {
	case stack.Status.CurrentUpdate != nil, last != nil && byOperatorV2(stack):
		return 2, taken
	case last != nil:
		return 1, taken
	}
	return 0, taken
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
