// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// RunRecords reads what Stacks have recorded of runs, for the runners.
type RunRecords struct {
	// Cached reads from the cache, and APIReader from the API server.
	Cached, APIReader client.Reader
	// Namespace is the only namespace with Stacks of this controller. Empty means all.
	Namespace string
}

// InUse returns the IDs of the runs whose files may still be needed: those in flight,
// and those to recover from.
func (r RunRecords) InUse(ctx context.Context) (map[string]bool, error) {
	inUse := map[string]bool{}
	stacks := &v1.StackList{}
	if err := r.APIReader.List(ctx, stacks, client.InNamespace(r.Namespace)); err != nil {
		return nil, fmt.Errorf("failed to list Stacks: %w", err)
	}
	for i := range stacks.Items {
		status := &stacks.Items[i].Status
		if status.Run != nil {
			inUse[status.Run.ID] = true
		}
		for _, lost := range status.Interrupted {
			inUse[lost.ID] = true
		}
	}
	return inUse, nil
}

// Recorded returns what the Stack has recorded about the run. The cache may be stale, so
// it only counts if it has the run.
func (r RunRecords) Recorded(ctx context.Context, ref run.Ref) (run.Recorded, error) {
	for _, reader := range []client.Reader{r.Cached, r.APIReader} {
		stack := &v1.Stack{}
		err := reader.Get(ctx, client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}, stack)
		if err != nil && !apierrors.IsNotFound(err) {
			return run.Recorded{}, fmt.Errorf("failed to read Stack %s/%s: %w", ref.Namespace, ref.Name, err)
		}
		if record := stack.Status.Run; err == nil && record != nil && record.ID == ref.ID {
			return run.Recorded{InFlight: true, Operation: record.Operation, Cancelled: record.Cancel != "", AtOnce: record.Cancel == v1.CancelNow}, nil
		}
	}
	return run.Recorded{}, nil
}
