// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"

	"github.com/fluxcd/pkg/apis/meta"
	ctrl "sigs.k8s.io/controller-runtime"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/gitobjects"
	"github.com/flux-pulumi/pulumi-controller/internal/gitsource"
	"github.com/flux-pulumi/pulumi-controller/internal/stackstatus"
)

func (r *StackReconciler) gitObjects() gitobjects.Keeper {
	return gitobjects.Keeper{Client: r.Client, APIReader: r.APIReader, Owner: FieldOwner, Now: r.Now}
}

// keepGitObjects does what is due for the projectRepo of the Stack.
func (r *StackReconciler) keepGitObjects(ctx context.Context, stack *v1.Stack, due *gitsource.Upkeep) error {
	if due.Verb == gitsource.Write {
		// Before anything is created, so that any process finds it again.
		if err := r.patchStatus(ctx, stack, func() { stackstatus.MarkGitKept(stack, gitsource.Name(stack.Name)) }); err != nil {
			return err
		}
	}
	left, err := r.gitObjects().Do(ctx, stack, due)
	r.announceLeft(ctx, stack, meta.ArtifactFailedReason, left)
	if err != nil || due.Verb != gitsource.Delete {
		return err
	}
	return r.patchStatus(ctx, stack, func() { stackstatus.MarkGitDeleted(stack) })
}

// releaseGit deletes what was kept for a Stack that goes. Errors do not stop it: the
// garbage collector deletes owned objects anyway.
func (r *StackReconciler) releaseGit(ctx context.Context, stack *v1.Stack) {
	if stack.Status.GitRepository == "" {
		return
	}
	left, err := r.gitObjects().DeleteAll(ctx, stack)
	r.announceLeft(ctx, stack, meta.ArtifactFailedReason, left)
	if err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "failed to delete the objects for spec.projectRepo, leaving them to the garbage collector")
	}
}
