// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package publish writes what a run leaves for others to read beside the status of its Stack:
// the outputs in a Secret; the inventory, the log, the steps of a preview, plans, and what the runs of the
// history have changed in ConfigMaps.
// It returns what the status says of them, and writes no status itself.
package publish

import (
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// patience is how long a write of a ConfigMap may delay the absorption of a result.
const patience = 10 * time.Second

// Publisher writes the objects that a Stack owns.
type Publisher struct {
	Client client.Client
	// Reader reads from the API server: these objects are not cached.
	Reader client.Reader
	// Owner is the field manager of all writes.
	Owner client.FieldOwner
	// Unwritten keeps the inventories that could not be written.
	Unwritten *Unwritten
	// Now is the clock.
	Now func() time.Time
}
