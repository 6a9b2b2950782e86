// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/inventory"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// The list of the resources is for people to look at. Nothing rests on it, so that a
// run which has ended never waits for it, or fails with it.

const (
	// inventoryPatience is how long the writing of a list may keep the result of a run
	// from being absorbed.
	inventoryPatience = 10 * time.Second
	// maxUnwritten bounds the resources of lists that are yet to be written, and
	// maxUnwrittenRuns the runs that one Stack has told of them.
	maxUnwritten     = 200_000
	maxUnwrittenRuns = 10
)

func inventoryName(stack *v1.Stack) string { return ownedName(stack, "-inventory") }

// handInventory writes what a run has told of the resources, and returns what the
// status is to say of it. What cannot be written is kept, to be tried again.
func (r *StackReconciler) handInventory(ctx context.Context, stack *v1.Stack, result *run.Result) *v1.InventoryStatus {
	goes := !stack.DeletionTimestamp.IsZero() && result.Outcome == run.Succeeded // and its list with it
	if result.Inventory == nil || goes {
		return stack.Status.Inventory
	}
	key := client.ObjectKeyFromObject(stack)
	told := r.inventories.add(key, *result.Inventory)
	status, err := r.writeInventory(ctx, stack, told)
	if err != nil {
		r.inventories.keep(key, told, r.Now().Add(stack.GetRetryInterval()))
		return inventoryFailed(stack, err)
	}
	r.inventories.drop(key)
	return status
}

// retryInventory writes a list that could not be written before.
func (r *StackReconciler) retryInventory(ctx context.Context, stack *v1.Stack) error {
	key := client.ObjectKeyFromObject(stack)
	told := r.inventories.due(key, r.Now())
	if told == nil || !stack.DeletionTimestamp.IsZero() {
		return nil
	}
	status, err := r.writeInventory(ctx, stack, told)
	if err != nil {
		r.inventories.keep(key, told, r.Now().Add(stack.GetRetryInterval()))
		status = inventoryFailed(stack, err)
	} else {
		r.inventories.drop(key)
	}
	before := stack.Status.Inventory
	if err := r.patchStatus(ctx, stack, func() { stack.Status.Inventory = status }); err != nil {
		return err
	}
	r.announceInventory(ctx, stack, before)
	return nil
}

// writeInventory writes what runs have told of, one after the other.
func (r *StackReconciler) writeInventory(ctx context.Context, stack *v1.Stack, told []run.Inventory) (*v1.InventoryStatus, error) {
	ctx, cancel := context.WithTimeout(ctx, inventoryPatience)
	defer cancel()
	name := inventoryName(stack)
	meta, err := r.ownedMeta(ctx, stack, name)
	if err != nil {
		return nil, err
	}
	var before []byte
	if meta != nil && !told[0].Complete {
		if before, err = r.readInventory(ctx, client.ObjectKey{Namespace: stack.Namespace, Name: name}); err != nil {
			return nil, err
		}
	}
	data, kept, err := r.inventories.merge(before, told)
	if err != nil {
		return nil, err
	}
	if err := r.putOwned(ctx, stack, meta, name, inventory.Key, data); err != nil {
		return nil, err
	}
	return &v1.InventoryStatus{ConfigMap: name, Digest: inventory.Digest(data), Count: int32(kept.Count()), Message: lacks(kept)}, nil
}

// readInventory reads the data that are there.
func (r *StackReconciler) readInventory(ctx context.Context, key client.ObjectKey) ([]byte, error) {
	kept := &corev1.ConfigMap{}
	if err := r.APIReader.Get(ctx, key, kept); err != nil {
		return nil, fmt.Errorf("failed to read ConfigMap %s: %w", key, err)
	}
	return kept.BinaryData[inventory.Key], nil
}

// merge takes what runs have told into the data that were there. What cannot be read is
// as good as none. It is done for one Stack at a time: whoever may write ConfigMaps can
// have it take as much memory as the largest list does.
func (i *inventories) merge(before []byte, told []run.Inventory) ([]byte, inventory.List, error) {
	i.merging.Lock()
	defer i.merging.Unlock()
	var list *inventory.List
	if known, err := inventory.Decode(before); err == nil {
		list = &known
	}
	for _, one := range told {
		merged := inventory.Merge(list, one)
		list = &merged
	}
	return inventory.Encode(*list)
}

// lacks tells what is not in a list.
func lacks(list inventory.List) string {
	switch {
	case list.LeftOut > 0 && list.WithoutIDs:
		return fmt.Sprintf("%d resources are left out, and the IDs of the others: they are too many for a ConfigMap", list.LeftOut)
	case list.LeftOut > 0:
		return fmt.Sprintf("%d resources are left out: they are too many", list.LeftOut)
	case list.WithoutIDs:
		return "The IDs of the resources are left out: they are too many for a ConfigMap"
	case list.Incomplete:
		return "There may be more resources than these, which the next update of all that succeeds will tell of"
	}
	return ""
}

// inventoryFailed is the status when the list could not be written. What is there is
// as it was.
func inventoryFailed(stack *v1.Stack, err error) *v1.InventoryStatus {
	failed := &v1.InventoryStatus{}
	if before := stack.Status.Inventory; before != nil {
		*failed = *before
	}
	failed.Message = fmt.Sprintf("Cannot write the list of resources: %v", err)
	return failed
}

// announceInventory tells once that the list could not be written.
func (r *StackReconciler) announceInventory(ctx context.Context, stack *v1.Stack, before *v1.InventoryStatus) {
	key, now := client.ObjectKeyFromObject(stack), stack.Status.Inventory
	if now == nil || !r.inventories.isKept(key) || (before != nil && before.Message == now.Message) {
		return
	}
	r.announce(ctx, stack, notice{kind: corev1.EventTypeWarning, reason: v1.InventoryFailedReason, message: now.Message})
}

// inventories are the lists that could not be written yet.
type inventories struct {
	merging sync.Mutex
	mu      sync.Mutex
	pending map[types.NamespacedName]pendingInventory
}

type pendingInventory struct {
	told    []run.Inventory
	retryAt time.Time
}

// add puts what a run has told to what is yet to be written.
func (i *inventories) add(key types.NamespacedName, told run.Inventory) []run.Inventory {
	i.mu.Lock()
	defer i.mu.Unlock()
	before := i.pending[key].told
	if told.Complete || len(before) == 0 {
		return []run.Inventory{told}
	}
	if len(before) >= maxUnwrittenRuns {
		told.Missed = true
		return []run.Inventory{told}
	}
	return append(before[:len(before):len(before)], told)
}

// keep keeps what could not be written, unless there is too much of that. The status
// says that it could not, and the next run tells of all that there is.
func (i *inventories) keep(key types.NamespacedName, told []run.Inventory, retryAt time.Time) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.pending == nil {
		i.pending = make(map[types.NamespacedName]pendingInventory)
	}
	delete(i.pending, key)
	count := sizeOf(told)
	for _, other := range i.pending {
		count += sizeOf(other.told)
	}
	if count > maxUnwritten {
		told = []run.Inventory{{Missed: true}}
	}
	i.pending[key] = pendingInventory{told, retryAt}
}

func sizeOf(told []run.Inventory) int {
	count := 0
	for _, one := range told {
		count += len(one.Resources) + len(one.Gone)
	}
	return count
}

// due is what is to be written now: nil is nothing.
func (i *inventories) due(key types.NamespacedName, now time.Time) []run.Inventory {
	i.mu.Lock()
	defer i.mu.Unlock()
	if pending, ok := i.pending[key]; ok && !now.Before(pending.retryAt) {
		return pending.told
	}
	return nil
}

func (i *inventories) isKept(key types.NamespacedName) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	_, kept := i.pending[key]
	return kept
}

func (i *inventories) drop(key types.NamespacedName) {
	i.mu.Lock()
	defer i.mu.Unlock()
	delete(i.pending, key)
}

// after is when to look at the Stack again, which is in time to try again.
func (i *inventories) after(key types.NamespacedName, now time.Time, otherwise time.Duration) time.Duration {
	i.mu.Lock()
	defer i.mu.Unlock()
	pending, kept := i.pending[key]
	if !kept {
		return otherwise
	}
	wait := max(time.Second, pending.retryAt.Sub(now))
	if otherwise == 0 {
		return wait
	}
	return min(wait, otherwise)
}
