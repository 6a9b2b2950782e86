// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package publish

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/inventory"
	"github.com/flux-pulumi/pulumi-controller/internal/owned"
	"github.com/flux-pulumi/pulumi-controller/internal/plural"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// The inventory is for people to read. Nothing depends on it, so an ended run never waits
// for it or fails because of it.

func inventoryName(stack *v1.Stack) string { return owned.Name(stack.Name, "-inventory") }

// Inventory writes the inventory of a run, and returns its status. What cannot be written is
// kept, to be retried: see decide.WriteInventory.
func (p Publisher) Inventory(ctx context.Context, stack *v1.Stack, result *run.Result) *v1.InventoryStatus {
	goes := !stack.DeletionTimestamp.IsZero() && result.Outcome == run.Succeeded // the inventory goes with the Stack
	if result.Inventory == nil || goes {
		return stack.Status.Inventory
	}
	return p.tryInventory(ctx, stack, p.Unwritten.add(client.ObjectKeyFromObject(stack), *result.Inventory))
}

// RetryInventory writes an inventory that could not be written before, and returns its status.
func (p Publisher) RetryInventory(ctx context.Context, stack *v1.Stack) *v1.InventoryStatus {
	parts := p.Unwritten.of(client.ObjectKeyFromObject(stack))
	if parts == nil {
		return stack.Status.Inventory
	}
	return p.tryInventory(ctx, stack, parts)
}

func (p Publisher) tryInventory(ctx context.Context, stack *v1.Stack, parts []run.Inventory) *v1.InventoryStatus {
	key := client.ObjectKeyFromObject(stack)
	status, err := p.writeInventory(ctx, stack, parts)
	if err != nil {
		p.Unwritten.keep(key, parts, p.Now().Add(stack.GetRetryInterval()))
		return inventoryFailed(stack, err)
	}
	p.Unwritten.Drop(key)
	return status
}

// writeInventory merges the inventories of several runs, in order, and writes the result.
func (p Publisher) writeInventory(ctx context.Context, stack *v1.Stack, parts []run.Inventory) (*v1.InventoryStatus, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	name := inventoryName(stack)
	meta, err := p.ownedMeta(ctx, stack, name)
	if err != nil {
		return nil, err
	}
	var before []byte
	if meta != nil && !parts[0].Complete {
		if before, err = p.readInventory(ctx, client.ObjectKey{Namespace: stack.Namespace, Name: name}); err != nil {
			return nil, err
		}
	}
	data, kept, err := p.Unwritten.merge(before, parts)
	if err != nil {
		return nil, err
	}
	if err := p.putOwned(ctx, stack, meta, name, inventory.Key, data); err != nil {
		return nil, err
	}
	return &v1.InventoryStatus{ConfigMap: name, Digest: inventory.Digest(data), Count: int32(kept.Count()), Message: lacks(kept)}, nil
}

// readInventory reads the data of the ConfigMap.
func (p Publisher) readInventory(ctx context.Context, key client.ObjectKey) ([]byte, error) {
	kept := &corev1.ConfigMap{}
	if err := p.Reader.Get(ctx, key, kept); err != nil {
		return nil, fmt.Errorf("failed to read ConfigMap %s: %w", key, err)
	}
	return kept.BinaryData[inventory.Key], nil
}

// merge merges the inventories of runs into the previous data, which is ignored if it
// cannot be read. It handles one Stack at a time: anyone who may write ConfigMaps can
// make it use as much memory as the largest inventory takes.
func (u *Unwritten) merge(before []byte, parts []run.Inventory) ([]byte, inventory.List, error) {
	u.merging.Lock()
	defer u.merging.Unlock()
	var list *inventory.List
	if known, err := inventory.Decode(before); err == nil {
		list = &known
	}
	for _, one := range parts {
		merged := inventory.Merge(list, one)
		list = &merged
	}
	return inventory.Encode(*list)
}

// lacks says what an inventory leaves out.
func lacks(list inventory.List) string {
	switch {
	case list.LeftOut > 0 && list.WithoutIDs:
		return plural.Of(list.LeftOut, "resource", "resources") + " and the IDs of the others omitted: they do not fit into a ConfigMap"
	case list.LeftOut > 0:
		return plural.Of(list.LeftOut, "resource", "resources") + " omitted: there are too many"
	case list.WithoutIDs:
		return "The IDs of the resources are omitted: they do not fit into a ConfigMap"
	case list.Incomplete:
		return "There may be more resources than these: the next successful update without targets lists them all"
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
