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

// leaveBehind announces an object that the Stack no longer needs but may not delete. The
// garbage collector tries again once the Stack is gone.
func (r *StackReconciler) leaveBehind(ctx context.Context, stack *v1.Stack, reason string, err error) {
	r.announce(ctx, stack, stackstatus.Event{Type: corev1.EventTypeWarning, Reason: reason,
		Message: fmt.Sprintf("%v: it remains until the Stack is deleted, delete it by hand", err)})
}
