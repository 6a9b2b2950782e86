// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"

	ctrl "sigs.k8s.io/controller-runtime"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/inventory"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/runlog"
)

// publishLog writes the log of a run whose pod will be gone, and returns its status. The
// log is for people to read: an ended run never waits for it or fails because of it. What
// the status says about a run that is no reconcile does not replace what it says about
// the last one, and so neither does its log.
func (r *StackReconciler) publishLog(ctx context.Context, stack *v1.Stack, record *v1.RunStatus, result *run.Result) *v1.RunLogStatus {
	isLast := !stack.DeletionTimestamp.IsZero() && result.Outcome == run.Succeeded // the ConfigMap goes with the Stack
	switch {
	case isAside(record) || isLast:
		return stack.Status.RunLog
	case result.Log == nil:
		return nil
	}
	status, err := r.writeLog(ctx, stack, record.ID, result.Log)
	if err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "failed to write the log of a run", "run", record.ID)
		return &v1.RunLogStatus{Run: record.ID, Message: fmt.Sprintf("Cannot write the log of the run: %v", err)}
	}
	return status
}

func (r *StackReconciler) writeLog(ctx context.Context, stack *v1.Stack, runID string, log *run.Log) (*v1.RunLogStatus, error) {
	ctx, cancel := context.WithTimeout(ctx, inventoryPatience)
	defer cancel()
	data, err := runlog.Encode(log)
	if err != nil {
		return nil, err
	}
	name := ownedName(stack, "-log")
	before, err := r.ownedMeta(ctx, stack, name)
	if err != nil {
		return nil, err
	}
	if err := r.putOwned(ctx, stack, before, name, runlog.Key, data); err != nil {
		return nil, err
	}
	return &v1.RunLogStatus{Run: runID, ConfigMap: name, Digest: inventory.Digest(data)}, nil
}
