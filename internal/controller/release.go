// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"

	ctrl "sigs.k8s.io/controller-runtime"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

// A run is left to the process that recorded it until that is proven to be gone. If
// nothing can prove it, as for a process outside of the cluster on a host that never
// comes back, a person may say so with an annotation that names the run. Run IDs are
// unique, so the annotation works once, and does nothing if it is left behind.

// isReleased reports whether a person says that the holder of the recorded run is gone.
func isReleased(stack *v1.Stack) bool {
	recorded := stack.Status.Run
	return recorded != nil && recorded.ID != "" && stack.Annotations[v1.ReleaseRunAnnotation] == recorded.ID
}

// unprovenJob returns why nothing proves whether the Job of a run is at work, "" if the run
// has none, or that is known.
func (r *StackReconciler) unprovenJob(stack *v1.Stack) string {
	if stack.Status.Run.Job == "" {
		return ""
	}
	return r.Runner.Report(refOf(stack)).Unproven
}

// unprovenJobText says what a run that was started as a Job waits for, and what to do.
func unprovenJobText(stack *v1.Stack, why string) string {
	held := stack.Status.Run
	return fmt.Sprintf("Waiting for Job %s, which executes run %s (%s), although the controller no longer has --runner=job: %s. "+
		"Grant it the ClusterRole of config/runner-jobs, or, if there is neither the Job nor a pod of it any more, %s",
		held.Job, held.ID, held.Operation, why, releaseText(stack))
}

func releaseText(stack *v1.Stack) string {
	return fmt.Sprintf("release the run: kubectl annotate --overwrite -n %s stacks.pulumi.com/%s %s=%s",
		stack.Namespace, stack.Name, v1.ReleaseRunAnnotation, stack.Status.Run.ID)
}

// heldText says who has the run in flight, and what ends the wait for it.
func heldText(stack *v1.Stack) string {
	held := stack.Status.Run
	proof := "by itself when that process is seen to be gone, which is on that host alone"
	if held.Holder.PodNamespace != "" {
		proof = fmt.Sprintf("by itself when that pod is gone, or has restarted, which a controller in the namespace %s sees", held.Holder.PodNamespace)
	}
	return fmt.Sprintf("Waiting for the controller on %s, which has run %s (%s). It ends %s. If it never comes back, and no Pulumi of it is at work, "+
		"%s", held.Holder.Host, held.ID, held.Operation, proof, releaseText(stack))
}

// release gives up on a run that a person says is over. The Secret of a Job is deleted, so
// that no pod can start the run any more. The files of any other run are kept for its
// recovery.
func (r *StackReconciler) release(ctx context.Context, stack *v1.Stack) error {
	released, of := *stack.Status.Run, refOf(stack)
	if err := r.markInterrupted(ctx, stack, releasedText(&released)); err != nil || released.Job == "" {
		return err
	}
	if err := r.Runner.Forget(of); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "failed to delete the Secret of a run that was released", "run", released.ID)
	}
	return nil
}

// goneText describes a run whose holder is proven to be gone.
func goneText(lost *v1.RunStatus) string {
	return fmt.Sprintf("The controller on %s that had run %s (%s) is gone", lost.Holder.Host, lost.ID, lost.Operation)
}

// releasedText describes a run whose holder is gone because a person says so.
func releasedText(lost *v1.RunStatus) string {
	return fmt.Sprintf("Run %s (%s) of the controller on %s was released by the annotation %s, and counts as interrupted",
		lost.ID, lost.Operation, lost.Holder.Host, v1.ReleaseRunAnnotation)
}
