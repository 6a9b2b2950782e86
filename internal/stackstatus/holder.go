// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package stackstatus

import (
	"fmt"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// IsReleased reports whether a person says that the holder of the recorded run is gone.
func IsReleased(stack *v1.Stack) bool {
	recorded := stack.Status.Run
	return recorded != nil && recorded.ID != "" && stack.Annotations[v1.ReleaseRunAnnotation] == recorded.ID
}

// UnprovenJobText says what a run that was started as a Job waits for, and what to do.
func UnprovenJobText(stack *v1.Stack, why string) string {
	held := stack.Status.Run
	return fmt.Sprintf("Waiting for Job %s, which executes run %s (%s), although the controller no longer has --runner=job: "+
		"%s. Grant it the ClusterRole of config/runner-jobs, or, if neither the Job nor a pod of it exists any more, %s",
		held.Job, held.ID, held.Operation, why, releaseText(stack))
}

func releaseText(stack *v1.Stack) string {
	return fmt.Sprintf("release the run: kubectl annotate --field-manager=flux-client-side-apply --overwrite -n %s stacks.pulumi.com/%s %s=%s",
		stack.Namespace, stack.Name, v1.ReleaseRunAnnotation, stack.Status.Run.ID)
}

// HeldText says who has the run in flight, and what ends the wait for it.
func HeldText(stack *v1.Stack) string {
	held := stack.Status.Run
	proof := "when that process has ended, which only a controller on that host can see"
	if held.Holder.PodNamespace != "" {
		proof = fmt.Sprintf("when that pod is deleted or restarted, which only a controller in the namespace %s can see", held.Holder.PodNamespace)
	}
	return fmt.Sprintf("Waiting for the controller on %s, which executes run %s (%s). The wait ends %s. If that controller never comes back and its Pulumi is no longer "+
		"running, %s", held.Holder.Host, held.ID, held.Operation, proof, releaseText(stack))
}

// GoneText describes a run whose holder is proven to be gone, or a check for drift that another
// controller has started.
func GoneText(lost *v1.RunStatus) string {
	if run.KindOfRecord(lost).InBackground {
		return fmt.Sprintf("Another controller has taken over from the one on %s before run %s (%s) ended", lost.Holder.Host, lost.ID, lost.Operation)
	}
	return fmt.Sprintf("The controller on %s that had run %s (%s) is gone", lost.Holder.Host, lost.ID, lost.Operation)
}

// ReleasedText describes a run whose holder is gone because a person says so.
func ReleasedText(lost *v1.RunStatus) string {
	return fmt.Sprintf("Run %s (%s) of the controller on %s was released by the annotation %s and counts as interrupted",
		lost.ID, lost.Operation, lost.Holder.Host, v1.ReleaseRunAnnotation)
}
