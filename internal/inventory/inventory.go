// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package inventory puts together what runs tell of the resources of a stack, and
// turns the list into the data of a ConfigMap and back. It must not need a client,
// or decide when anything is written.
package inventory

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/flux-pulumi/pulumi-controller/internal/packed"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// Key of the data in a ConfigMap: a List in JSON, compressed by gzip.
const Key = "resources.json.gz"

const (
	// MaxData bounds the data, in bytes. A ConfigMap may have 1 MiB with all that is
	// around its data.
	MaxData = 900 << 10
	// maxText bounds what data are unpacked to, in bytes, and maxMembers the members of its
	// lists and objects: whoever may write ConfigMaps in the namespace can write these.
	maxText    = 32 << 20
	maxMembers = 500_000
	// maxCount is as many as anybody counts.
	maxCount = 10_000_000
)

// most is how large data may be that are read.
func most() packed.Size { return packed.Size{Data: 1 << 20, Text: maxText, Members: maxMembers} }

// List of the resources that a stack manages.
type List struct {
	// Resources by URN.
	Resources []run.Resource `json:"resources"`
	// LeftOut is how many more there are.
	LeftOut int `json:"leftOut,omitempty"`
	// WithoutIDs: the IDs are left out, for want of space.
	WithoutIDs bool `json:"withoutIDs,omitempty"`
	// Incomplete: there may be others, of which no run has told.
	Incomplete bool `json:"incomplete,omitempty"`
}

// Count is how many resources there are.
func (l List) Count() int { return len(l.Resources) + l.LeftOut }

// Merge takes what a run tells into what was known, nil where nothing was.
func Merge(before *List, told run.Inventory) List {
	if told.Complete {
		return List{Resources: sorted(told.Resources), LeftOut: told.LeftOut, WithoutIDs: told.WithoutIDs}
	}
	merged := List{Incomplete: true, LeftOut: told.LeftOut, WithoutIDs: told.WithoutIDs}
	byURN := map[string]run.Resource{}
	if before != nil {
		merged.Incomplete = before.Incomplete || told.Missed
		merged.LeftOut, merged.WithoutIDs = max(merged.LeftOut, before.LeftOut), merged.WithoutIDs || before.WithoutIDs
		for _, known := range before.Resources {
			byURN[known.URN] = known
		}
	}
	for _, urn := range told.Gone {
		delete(byURN, urn)
	}
	for _, seen := range told.Resources {
		byURN[seen.URN] = seen
	}
	for _, known := range byURN {
		merged.Resources = append(merged.Resources, known)
	}
	merged.Resources = sorted(merged.Resources)
	return merged
}

func sorted(resources []run.Resource) []run.Resource {
	return slices.SortedFunc(slices.Values(resources), func(a, b run.Resource) int { return strings.Compare(a.URN, b.URN) })
}

// Encode makes the data of a list, and the list that is in them: without IDs, or
// without its last resources, where all of it is too big.
func Encode(list List) ([]byte, List, error) { return encode(list, MaxData) }

func encode(list List, limit int) ([]byte, List, error) {
	for {
		data, size, err := packed.Pack(list)
		if err != nil {
			return nil, list, fmt.Errorf("packing the list of resources: %w", err)
		}
		if isReadable(size, limit) {
			return data, list, nil
		}
		if !list.WithoutIDs {
			list = withoutIDs(list)
			continue
		}
		if len(list.Resources) == 0 {
			return nil, list, errors.New("the list of resources cannot be made small enough")
		}
		keep := keepOf(len(list.Resources), size, limit)
		list.LeftOut += len(list.Resources) - keep
		list.Resources = list.Resources[:keep]
	}
}

func withoutIDs(list List) List {
	list.WithoutIDs, list.Resources = true, slices.Clone(list.Resources)
	for n := range list.Resources {
		list.Resources[n].ID = ""
	}
	return list
}

// isReadable tells whether data of that size may be written, and are read again.
func isReadable(size packed.Size, limit int) bool {
	return size.Fits(packed.Size{Data: limit, Text: maxText, Members: maxMembers})
}

// keepOf is how many of a list are kept: less by as much as there is too much, and a
// little more.
func keepOf(count int, size packed.Size, limit int) int {
	return min(count*limit/size.Data, count*maxText/size.Text, count*maxMembers/max(1, size.Members), count) * 19 / 20
}

// Decode reads the data of a ConfigMap.
func Decode(data []byte) (List, error) {
	var list List
	if err := packed.Unpack(data, most(), &list); err != nil {
		return List{}, fmt.Errorf("reading the list of resources in the ConfigMap: %w", err)
	}
	list.LeftOut = max(0, min(list.LeftOut, maxCount))
	return list, nil
}

// Digest of data.
func Digest(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// Name of a resource, which is the end of its URN.
func Name(urn string) string {
	if at := strings.LastIndex(urn, "::"); at >= 0 {
		return urn[at+len("::"):]
	}
	return urn
}
