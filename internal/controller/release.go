// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

// A run is left to the process that recorded it until that is proven to be gone.
// Where nothing can prove it, as of a process outside of the cluster on a host that
// never comes back, a person may say so, by an annotation that names the run. No
// other run has its ID, so that the word counts once, and what is left of it does
// nothing.

// isReleased tells whether a person says that the holder of the recorded run is gone.
func isReleased(stack *v1.Stack) bool {
	recorded := stack.Status.Run
	return recorded != nil && recorded.ID != "" && stack.Annotations[v1.ReleaseRunAnnotation] == recorded.ID
}

// heldText tells who has the run that is waited for, and what ends that.
func heldText(stack *v1.Stack) string {
	held := stack.Status.Run
	release := fmt.Sprintf("release the run: kubectl annotate --overwrite -n %s stacks.pulumi.com/%s %s=%s", stack.Namespace, stack.Name, v1.ReleaseRunAnnotation, held.ID)
	if held.Job != "" {
		return fmt.Sprintf("Waiting for Job %s, which executes run %s (%s). A controller with --runner=job absorbs its result. If there will be none, "+
			"and the Job and its pod are gone, %s", held.Job, held.ID, held.Operation, release)
	}
	proof := "by itself when that process is seen to be gone, which is on that host alone"
	if held.Holder.PodUID != "" {
		proof = "by itself when that pod is gone, or has restarted"
	}
	return fmt.Sprintf("Waiting for the controller on %s, which has run %s (%s). It ends %s. If it never comes back, and no Pulumi of it is at work, "+
		"%s", held.Holder.Host, held.ID, held.Operation, proof, release)
}

// goneText tells of a run whose holder is proven to be gone.
func goneText(lost *v1.RunStatus) string {
	return fmt.Sprintf("The controller on %s that had run %s (%s) is gone", lost.Holder.Host, lost.ID, lost.Operation)
}

// releasedText tells of a run whose holder is gone by the word of a person.
func releasedText(lost *v1.RunStatus) string {
	return fmt.Sprintf("Run %s (%s) of the controller on %s was released by the annotation %s, and counts as interrupted",
		lost.ID, lost.Operation, lost.Holder.Host, v1.ReleaseRunAnnotation)
}
