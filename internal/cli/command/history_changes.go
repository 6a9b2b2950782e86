// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/history"
	"github.com/flux-pulumi/pulumi-controller/internal/plan"
)

// historyEntry is an entry of the history with what its runs have changed.
type historyEntry struct {
	meta.Snapshot
	// Changes of the last runs that have changed something, newest first.
	Changes []runChange `json:"changes"`
}

// runChange is what a run has changed, or why that is not known.
type runChange struct {
	Run     string     `json:"run"`
	EndedAt *time.Time `json:"endedAt,omitempty"`
	// Approved is the digest of the plan that the run was to apply.
	Approved   string     `json:"approved,omitempty"`
	ApprovedBy string     `json:"approvedBy,omitempty"`
	Plan       *plan.Plan `json:"plan,omitempty"`
	Message    string     `json:"message,omitempty"`
}

// readHistory reads the ConfigMap with what the runs have changed, which has a key for each.
func readHistory(ctx context.Context, api client.Reader, stack *v1.Stack) (map[string][]byte, error) {
	key := client.ObjectKey{Namespace: stack.Namespace, Name: history.ConfigMap(stack.Name)}
	kept := &corev1.ConfigMap{}
	err := api.Get(ctx, key, kept)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil // no run has changed anything since there are details
	case err != nil:
		return nil, fmt.Errorf("reading ConfigMap %s: %w", key, err)
	case !metav1.IsControlledBy(kept, stack):
		return nil, fmt.Errorf("the ConfigMap %s does not belong to Stack %s, so the controller cannot write there what runs change: delete or rename it", key, stack.Name)
	}
	return kept.BinaryData, nil
}

// maxShown bounds what is shown of all runs, in bytes: anyone who may write ConfigMaps in the namespace can
// write a small one that unpacks to much.
const maxShown = 32 << 20

// changesOf returns what the runs of an entry have changed, as far as there is room.
func changesOf(metadata map[string]string, data map[string][]byte, room *int) []runChange {
	runs := history.ChangedIn(metadata)
	if last := history.Run(metadata); len(data[history.Key(last)]) > 0 && !slices.Contains(runs, last) {
		runs = slices.Insert(runs, 0, last) // its result was lost
	}
	changes := []runChange{}
	for _, run := range runs {
		if *room <= 0 {
			changes = append(changes, runChange{Run: run, Message: "the details of the runs before are too large to show these too"})
			continue
		}
		change := changeOf(run, data)
		if change.Plan != nil {
			*room -= change.Plan.Size()
		}
		changes = append(changes, change)
	}
	return changes
}

func changeOf(run string, data map[string][]byte) runChange {
	kept, known := data[history.Key(run)]
	switch {
	case !known:
		return runChange{Run: run, Message: "there are no details: they could not be written (see the log of the controller), or the pod of the run was of an earlier version"}
	case len(kept) == 0:
		return runChange{Run: run, Message: "the details were dropped to make room for those of later runs"}
	}
	read, err := history.Decode(kept)
	if err != nil {
		return runChange{Run: run, Message: err.Error()}
	}
	return runChange{Run: run, EndedAt: &read.EndedAt, Approved: read.Approved, ApprovedBy: read.ApprovedBy, Plan: &read.Plan}
}
