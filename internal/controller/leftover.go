// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/stackstatus"
)

// announceLeft announces objects that the Stack no longer needs but may not delete. The garbage
// collector tries again once the Stack is gone.
func (r *StackReconciler) announceLeft(ctx context.Context, stack *v1.Stack, reason string, left []error) {
	for _, err := range left {
		r.announce(ctx, stack, stackstatus.Event{Type: corev1.EventTypeWarning, Reason: reason,
			Message: fmt.Sprintf("%v: it remains until the Stack is deleted, delete it by hand", err)})
	}
}
