// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

// UpdatedByV1 sets the status that the operator v1 leaves after an update at the revision.
func UpdatedByV1(stack *v1.Stack, revision string, at time.Time) {
	stack.Finalizers = []string{v1.StackFinalizer}
	stack.Status.ObservedGeneration = stack.Generation
	stack.Status.LastUpdate = &v1.LastUpdate{
		State: v1.UpdateSucceeded, LastAttemptedCommit: revision, LastSuccessfulCommit: revision, LastResyncTime: &metav1.Time{Time: at},
	}
	stack.Status.Conditions = []metav1.Condition{{Type: meta.ReadyCondition, Status: metav1.ConditionTrue, Reason: "ProcessingCompleted"}}
}

// UpdatedByV2 sets that of v2.
func UpdatedByV2(stack *v1.Stack, revision string, at time.Time) {
	UpdatedByV1(stack, revision, at)
	stack.Status.LastUpdate.Generation = stack.Generation
	stack.Status.LastUpdate.Name = "app-18a9f0c2d3e"
	stack.Status.LastUpdate.Type = v1.UpdateTypeUp
}
