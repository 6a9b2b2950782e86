// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package stackstatus

import (
	"cmp"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/decide"
	"github.com/flux-pulumi/pulumi-controller/internal/outputs"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// WritesOutputs reports whether the outputs of the Stack go to a Secret. A Stack that
// only previews has none, and leaves those of the last update in place.
func WritesOutputs(stack *v1.Stack) bool {
	return stack.Spec.WriteOutputsToSecret != nil && !stack.Spec.Preview
}

// hasFormerOutputs reports whether the outputs are in a Secret that the spec no longer names.
func hasFormerOutputs(stack *v1.Stack) bool {
	recorded, to := stack.Status.OutputsSecret, stack.Spec.WriteOutputsToSecret
	return recorded != nil && (to == nil || to.Name != recorded.Name)
}

// ObserveOutputs reports whether the Secret, which may be nil, is up to date.
func ObserveOutputs(stack *v1.Stack, secret *corev1.Secret) (decide.Outputs, error) {
	var seen decide.Outputs
	switch {
	case secret == nil:
		seen.Stale = true
	case !metav1.IsControlledBy(secret, stack):
		seen.Blocked = foreignMessage(secret)
	default:
		written, err := isWritten(stack, secret)
		if err != nil {
			return seen, err
		}
		seen.Stale = !written
	}
	if recorded := stack.Status.OutputsSecret; recorded != nil && recorded.Failure != nil && stands(recorded.Failure, stack, secret) {
		seen.Fault = recorded.Failure.Message
		if recorded.Failure.RetryAt != nil {
			seen.RetryAt = recorded.Failure.RetryAt.Time
		}
	}
	return seen, nil
}

// stands reports whether a failed write would fail again: neither the spec nor the Secret
// has changed.
func stands(failure *v1.OutputsFailure, stack *v1.Stack, secret *corev1.Secret) bool {
	return failure.Generation == stack.Generation && (failure.Secret == nil || *failure.Secret == outputs.Identity(secret))
}

func foreignMessage(secret *corev1.Secret) string {
	owner := "does not belong to this Stack"
	if by := metav1.GetControllerOf(secret); by != nil {
		owner = fmt.Sprintf("belongs to %s %s", by.Kind, by.Name)
	}
	return fmt.Sprintf("The outputs cannot be written: Secret %s/%s %s. Delete it, or set another spec.writeOutputsToSecret.name",
		secret.Namespace, secret.Name, owner)
}

// isWritten reports whether the Secret has what was last written to it, and that is what
// the spec asks for. Additional labels and annotations do no harm.
func isWritten(stack *v1.Stack, secret *corev1.Secret) (bool, error) {
	want, recorded := stack.Spec.WriteOutputsToSecret, stack.Status.OutputsSecret
	if recorded == nil || recorded.Name != want.Name || recorded.Digest == "" {
		return false, nil
	}
	digest, err := outputs.Digest(secret, *want)
	return digest == recorded.Digest && outputs.IsLabelled(secret, *want), err
}

// outputsAwaited reports that the outputs of the last update are not in their Secret yet.
func outputsAwaited(stack *v1.Stack) bool {
	recorded := stack.Status.OutputsSecret
	return WritesOutputs(stack) && (recorded == nil || recorded.Digest == "" || recorded.Failure != nil)
}

// ReturnsOutputs reports whether the outputs of the run belong in the Secret.
func ReturnsOutputs(stack *v1.Stack, record *v1.RunStatus, result *run.Result) bool {
	kind := run.KindOfRecord(record)
	return kind.ReadsOutputs && (!kind.Reconciles || result.Outcome == run.Succeeded) && WritesOutputs(stack) && stack.DeletionTimestamp.IsZero()
}

// OutputsUnwritten is the status after a run whose outputs were not written.
func OutputsUnwritten(stack *v1.Stack, record *v1.RunStatus, result *run.Result) *v1.OutputsSecretStatus {
	switch {
	case !ReturnsOutputs(stack, record, result):
		return stack.Status.OutputsSecret
	case !run.KindOfRecord(record).Reconciles && result.Outcome.Effect().Fails:
		return outputsUnreadable(stack, record, result)
	}
	return OutputsUnread(stack)
}

// OutputsUnread is the status while the outputs are still to be written. A Secret that
// exists has those of an earlier update.
func OutputsUnread(stack *v1.Stack) *v1.OutputsSecretStatus {
	name := stack.Spec.WriteOutputsToSecret.Name
	if recorded := stack.Status.OutputsSecret; recorded != nil {
		name = cmp.Or(recorded.Name, name)
	}
	return &v1.OutputsSecretStatus{Name: name}
}

// OutputsFailed is the status when the outputs could not be read or written. A zero
// retryAt means that a retry cannot help.
func OutputsFailed(stack *v1.Stack, message string, generation int64, retryAt time.Time) *v1.OutputsSecretStatus {
	failed := OutputsUnread(stack)
	failed.Failure = &v1.OutputsFailure{Message: "The outputs cannot be written: " + message, Generation: generation}
	if !retryAt.IsZero() {
		failed.Failure.RetryAt = &metav1.Time{Time: retryAt}
	}
	return failed
}

// outputsUnreadable is the status when the outputs could not be read.
func outputsUnreadable(stack *v1.Stack, record *v1.RunStatus, result *run.Result) *v1.OutputsSecretStatus {
	failures := int64(1)
	if recorded := stack.Status.OutputsSecret; recorded != nil && recorded.Failure != nil && recorded.Failure.Generation == record.Generation {
		failures += recorded.Failure.Failures
	}
	wait := decide.OutputsRetry(result.Outcome, failures, stack.GetRetryInterval())
	failed := OutputsFailed(stack, cmp.Or(result.Message, string(result.Outcome)), record.Generation, result.EndedAt.Add(wait))
	failed.Failure.Failures = failures
	return failed
}

// OutputsRefused is the status when the write to the Secret, which may be nil, was
// refused.
func OutputsRefused(stack *v1.Stack, message string, secret *corev1.Secret, now time.Time) *v1.OutputsSecretStatus {
	failed := OutputsFailed(stack, message, stack.Generation, now.Add(stack.GetRetryInterval()))
	identity := outputs.Identity(secret)
	failed.Failure.Secret = &identity
	return failed
}

// markApplied marks a Stack whose last update has succeeded. It is Ready only once its
// outputs can be read.
func markApplied(stack *v1.Stack, revision, originRevision string) {
	recorded := stack.Status.OutputsSecret
	switch {
	case !outputsAwaited(stack):
		markInSync(stack, revision, originRevision)
	case recorded != nil && recorded.Failure != nil:
		MarkFailed(stack, v1.OutputsFailedReason, recorded.Failure.Message)
	default:
		MarkWaiting(stack, fmt.Sprintf("Applied revision %s; its outputs are not yet written to Secret %s",
			revision, stack.Spec.WriteOutputsToSecret.Name))
	}
}

// absorbOutputs sets the conditions after a run that has read outputs. That run changed
// nothing, and does not count as the last update.
func absorbOutputs(stack *v1.Stack, record *v1.RunStatus) {
	if p := waitingPlan(stack); p != nil {
		MarkAwaitingApproval(stack, v1.ApprovalRequiredReason, awaitingText(stack, p))
		return
	}
	revision, origin := stack.Status.LastAppliedRevision, stack.Status.LastAppliedOriginRevision
	markEnded(stack, record, "Read the outputs of revision "+revision, func() { markApplied(stack, revision, origin) })
}
