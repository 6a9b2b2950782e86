// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package history

import (
	"errors"
	"fmt"
	"time"

	"github.com/flux-pulumi/pulumi-controller/internal/bounded"
	"github.com/flux-pulumi/pulumi-controller/internal/owned"
	"github.com/flux-pulumi/pulumi-controller/internal/plan"
)

const (
	// maxData bounds the data of all runs in bytes. A ConfigMap may have 1 MiB, including everything
	// around its data.
	maxData = 900 << 10
	// maxOne bounds the data of one run.
	maxOne = maxData / 3
	// maxText and maxMembers bound the unpacked data of one run: anyone who may write ConfigMaps in
	// the namespace can write it.
	maxText    = 8 << 20
	maxMembers = 200_000
)

// Change is what a run has changed.
type Change struct {
	EndedAt time.Time `json:"endedAt"`
	// Approved is the digest of the plan that the run was to apply, and ApprovedBy who has approved it.
	// Runs that share an entry of the history have each their own.
	Approved   string `json:"approved,omitempty"`
	ApprovedBy string `json:"approvedBy,omitempty"`
	// Plan has the steps that were done.
	Plan plan.Plan `json:"plan"`
}

func most() bounded.Size { return bounded.Size{Data: maxOne, Text: maxText, Members: maxMembers} }

// ConfigMap returns the name of the ConfigMap of a Stack.
func ConfigMap(stack string) string { return owned.Name(stack, "-history") }

// Key returns the key of the data of a run in the ConfigMap.
func Key(run string) string { return run + ".json.gz" }

// Encode returns the data of a run. What does not fit is only counted.
func Encode(change Change) ([]byte, error) {
	var data []byte
	_, ok, err := change.Plan.Within(plan.Bounds()).Fit(func(less plan.Plan) (bool, error) {
		change.Plan = less.WithoutDigests()
		packed, size, err := bounded.Pack(change)
		data = packed
		return size.Fits(most()), err
	})
	if err != nil {
		return nil, fmt.Errorf("packing what the run has changed: %w", err)
	}
	if !ok {
		return nil, errors.New("what the run has changed cannot be made small enough")
	}
	return data, nil
}

// Decode reads the data of a run, which must not be empty.
func Decode(data []byte) (Change, error) {
	var read Change
	if err := bounded.Unpack(data, most(), &read); err != nil {
		return Change{}, fmt.Errorf("reading what the run has changed: %w", err)
	}
	read.Plan = read.Plan.Bounded()
	read.Approved, read.ApprovedBy = bounded.Line(read.Approved, plan.MaxName), bounded.Line(read.ApprovedBy, plan.MaxName)
	return read, nil
}
