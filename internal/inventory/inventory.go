// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package inventory merges what runs report about the resources of a stack, and converts
// the list to and from the data of a ConfigMap. It must not need a client, or decide when
// anything is written.
package inventory

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/flux-pulumi/pulumi-controller/internal/bounded"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// Key of the data in a ConfigMap: a List in gzipped JSON.
const Key = "resources.json.gz"

const (
	// MaxData bounds the data in bytes. A ConfigMap may have 1 MiB, including everything
	// around its data.
	MaxData = 900 << 10
	// maxText bounds the unpacked data in bytes, maxMembers the members of its lists and
	// objects: anyone who may write ConfigMaps in the namespace can write the data.
	maxText    = 32 << 20
	maxMembers = 500_000
	// maxCount bounds LeftOut, which comes from the same data.
	maxCount = 10_000_000
)

// most returns the bounds of data to read.
func most() bounded.Size { return bounded.Size{Data: 1 << 20, Text: maxText, Members: maxMembers} }

// List is the resources that a stack manages.
type List struct {
	// Resources, sorted by URN.
	Resources []run.Resource `json:"resources"`
	// LeftOut is the number of resources left out.
	LeftOut int `json:"leftOut,omitempty"`
	// WithoutIDs says that IDs are left out to save space.
	WithoutIDs bool `json:"withoutIDs,omitempty"`
	// Incomplete says that there may be resources that no run has reported.
	Incomplete bool `json:"incomplete,omitempty"`
}

// Count returns the number of resources.
func (l List) Count() int { return len(l.Resources) + l.LeftOut }

// Merge merges what a run reports into the previous list, which may be nil.
func Merge(before *List, reported run.Inventory) List {
	if reported.Complete {
		return List{Resources: sorted(reported.Resources), LeftOut: reported.LeftOut, WithoutIDs: reported.WithoutIDs}
	}
	merged := List{Incomplete: true, LeftOut: reported.LeftOut, WithoutIDs: reported.WithoutIDs}
	byURN := map[string]run.Resource{}
	if before != nil {
		merged.Incomplete = before.Incomplete || reported.Missed
		merged.LeftOut, merged.WithoutIDs = max(merged.LeftOut, before.LeftOut), merged.WithoutIDs || before.WithoutIDs
		for _, known := range before.Resources {
			byURN[known.URN] = known
		}
	}
	for _, urn := range reported.Gone {
		delete(byURN, urn)
	}
	for _, seen := range reported.Resources {
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

// Encode returns the data for a list, and the list as encoded: if it is too big, without
// IDs, and then also without the last resources.
func Encode(list List) ([]byte, List, error) { return encode(list, MaxData) }

func encode(list List, limit int) ([]byte, List, error) {
	for {
		data, size, err := bounded.Pack(list)
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

// isReadable reports whether data of that size may be written and can be read back.
func isReadable(size bounded.Size, limit int) bool {
	return size.Fits(bounded.Size{Data: limit, Text: maxText, Members: maxMembers})
}

// keepOf returns how many entries of a list to keep: in proportion to the excess, and a
// little fewer.
func keepOf(count int, size bounded.Size, limit int) int {
	return min(count*limit/size.Data, count*maxText/size.Text, count*maxMembers/max(1, size.Members), count) * 19 / 20
}

// Decode reads the data of a ConfigMap.
func Decode(data []byte) (List, error) {
	var list List
	if err := bounded.Unpack(data, most(), &list); err != nil {
		return List{}, fmt.Errorf("reading the list of resources in the ConfigMap: %w", err)
	}
	list.LeftOut = max(0, min(list.LeftOut, maxCount))
	return list, nil
}

// Digest returns the digest of data.
func Digest(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}
