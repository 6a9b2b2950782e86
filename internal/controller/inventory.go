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

// The inventory is for people to read. Nothing depends on it, so an ended run never waits
// for it or fails because of it.

const (
	// inventoryPatience is how long writing an inventory may delay the absorption of a
	// result.
	inventoryPatience = 10 * time.Second
	// maxUnwritten bounds the bytes of unwritten inventories, which are 150,000 usual
	// resources, and maxUnwrittenRuns the runs of one Stack that they come from. A tenant
	// can keep an inventory from being written, and choose the texts in it.
	maxUnwritten     = 64 << 20
	maxUnwrittenRuns = 10
)

func inventoryName(stack *v1.Stack) string { return ownedName(stack, "-inventory") }

// handInventory writes the inventory of a run, and returns its status. What cannot be
// written is kept and retried.
func (r *StackReconciler) handInventory(ctx context.Context, stack *v1.Stack, result *run.Result) *v1.InventoryStatus {
	goes := !stack.DeletionTimestamp.IsZero() && result.Outcome == run.Succeeded // the inventory goes with the Stack
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

// retryInventory writes an inventory that could not be written before.
func (r *StackReconciler) retryInventory(ctx context.Context, stack *v1.Stack) error {
	key := client.ObjectKeyFromObject(stack)
	told := r.inventories.unwritten(key)
	if told == nil {
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

// writeInventory merges the inventories of several runs, in order, and writes the result.
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

// readInventory reads the data of the ConfigMap.
func (r *StackReconciler) readInventory(ctx context.Context, key client.ObjectKey) ([]byte, error) {
	kept := &corev1.ConfigMap{}
	if err := r.APIReader.Get(ctx, key, kept); err != nil {
		return nil, fmt.Errorf("failed to read ConfigMap %s: %w", key, err)
	}
	return kept.BinaryData[inventory.Key], nil
}

// merge merges the inventories of runs into the previous data, which is ignored if it
// cannot be read. It handles one Stack at a time: anyone who may write ConfigMaps can
// make it use as much memory as the largest inventory takes.
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

// lacks says what an inventory leaves out.
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

// inventoryFailed is the status after a failed write, which left the inventory unchanged.
func inventoryFailed(stack *v1.Stack, err error) *v1.InventoryStatus {
	failed := &v1.InventoryStatus{}
	if before := stack.Status.Inventory; before != nil {
		*failed = *before
	}
	failed.Message = fmt.Sprintf("Cannot write the list of resources: %v", err)
	return failed
}

// announceInventory announces a failed write once.
func (r *StackReconciler) announceInventory(ctx context.Context, stack *v1.Stack, before *v1.InventoryStatus) {
	key, now := client.ObjectKeyFromObject(stack), stack.Status.Inventory
	if now == nil || !r.inventories.isKept(key) || (before != nil && before.Message == now.Message) {
		return
	}
	r.announce(ctx, stack, notice{kind: corev1.EventTypeWarning, reason: v1.InventoryFailedReason, message: now.Message})
}

// inventories are the inventories that could not be written yet.
type inventories struct {
	merging sync.Mutex
	mu      sync.Mutex
	pending map[types.NamespacedName]pendingInventory
}

type pendingInventory struct {
	told    []run.Inventory
	retryAt time.Time
}

// add adds the inventory of a run to those that are still unwritten.
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

// keep keeps what could not be written, unless there is too much of it. The status says
// that the write failed, and the next run reports all resources.
func (i *inventories) keep(key types.NamespacedName, told []run.Inventory, retryAt time.Time) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.pending == nil {
		i.pending = make(map[types.NamespacedName]pendingInventory)
	}
	delete(i.pending, key)
	bytes := sizeOf(told)
	for _, other := range i.pending {
		bytes += sizeOf(other.told)
	}
	if bytes > maxUnwritten {
		told = []run.Inventory{{Missed: true}}
	}
	i.pending[key] = pendingInventory{told, retryAt}
}

// sizeOf returns about how many bytes inventories take in memory.
func sizeOf(told []run.Inventory) int {
	bytes := 0
	for _, one := range told {
		bytes += one.Size()
	}
	return bytes
}

// unwritten returns what is still to be written; nil is nothing.
func (i *inventories) unwritten(key types.NamespacedName) []run.Inventory {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.pending[key].told
}

// retryAt returns when to write it, zero if there is nothing to write.
func (i *inventories) retryAt(key types.NamespacedName) time.Time {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.pending[key].retryAt
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
