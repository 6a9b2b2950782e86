// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package publish

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// maxUnwritten bounds the bytes of unwritten inventories, which are 150,000 usual resources,
// and maxUnwrittenRuns the runs of one Stack that they come from. A tenant can keep an
// inventory from being written, and choose the texts in it.
const (
	maxUnwritten     = 64 << 20
	maxUnwrittenRuns = 10
)

// Unwritten are the inventories that could not be written yet. The zero value has none.
type Unwritten struct {
	merging sync.Mutex
	mu      sync.Mutex
	pending map[types.NamespacedName]pendingInventory
}

type pendingInventory struct {
	parts   []run.Inventory
	retryAt time.Time
}

// add adds the inventory of a run to those that are still unwritten.
func (u *Unwritten) add(key types.NamespacedName, parts run.Inventory) []run.Inventory {
	u.mu.Lock()
	defer u.mu.Unlock()
	before := u.pending[key].parts
	if parts.Complete || len(before) == 0 {
		return []run.Inventory{parts}
	}
	if len(before) >= maxUnwrittenRuns {
		parts.Missed = true
		return []run.Inventory{parts}
	}
	return append(before[:len(before):len(before)], parts)
}

// keep keeps what could not be written, unless there is too much of it. The status says
// that the write failed, and the next run reports all resources.
func (u *Unwritten) keep(key types.NamespacedName, parts []run.Inventory, retryAt time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.pending == nil {
		u.pending = make(map[types.NamespacedName]pendingInventory)
	}
	delete(u.pending, key)
	bytes := sizeOf(parts)
	for _, other := range u.pending {
		bytes += sizeOf(other.parts)
	}
	if bytes > maxUnwritten {
		parts = []run.Inventory{{Missed: true}}
	}
	u.pending[key] = pendingInventory{parts, retryAt}
}

// sizeOf returns about how many bytes inventories use in memory.
func sizeOf(parts []run.Inventory) int {
	bytes := 0
	for _, one := range parts {
		bytes += one.Size()
	}
	return bytes
}

// of returns what is still to be written of a Stack; nil is nothing.
func (u *Unwritten) of(key types.NamespacedName) []run.Inventory {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.pending[key].parts
}

// RetryAt returns when to write it, zero if there is nothing to write.
func (u *Unwritten) RetryAt(key types.NamespacedName) time.Time {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.pending[key].retryAt
}

// Has reports whether an inventory of the Stack is still to be written.
func (u *Unwritten) Has(key types.NamespacedName) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	_, kept := u.pending[key]
	return kept
}

// Drop forgets what is still to be written of a Stack.
func (u *Unwritten) Drop(key types.NamespacedName) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.pending, key)
}
