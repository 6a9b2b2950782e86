// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package inventory puts together what runs tell of the resources of a stack, and
// turns the list into the data of a ConfigMap and back. It must not need a client,
// or decide when anything is written.
package inventory

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// Key of the data in a ConfigMap: a List in JSON, compressed by gzip.
const Key = "resources.json.gz"

const (
	// MaxData bounds the data, in bytes. A ConfigMap may have 1 MiB with all that is
	// around its data.
	MaxData = 900 << 10
	// maxText bounds what data are unpacked to.
	maxText = 64 << 20
)

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
		data, err := pack(list)
		if err != nil || len(data) <= limit {
			return data, list, err
		}
		if !list.WithoutIDs {
			list = withoutIDs(list)
			continue
		}
		if len(list.Resources) == 0 {
			return nil, list, errors.New("the list of resources cannot be made small enough")
		}
		// By as much as there is too much, and a little more.
		keep := len(list.Resources) * limit / len(data) * 19 / 20
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

// pack makes the same bytes of the same list: nothing in them tells of the time.
func pack(list List) ([]byte, error) {
	var packed bytes.Buffer
	writer := gzip.NewWriter(&packed)
	if err := errors.Join(json.NewEncoder(writer).Encode(list), writer.Close()); err != nil {
		return nil, fmt.Errorf("packing the list of resources: %w", err)
	}
	return packed.Bytes(), nil
}

// Decode reads the data of a ConfigMap.
func Decode(data []byte) (List, error) {
	var list List
	text, err := unpack(data)
	if err != nil {
		return list, err
	}
	if err := json.Unmarshal(text, &list); err != nil {
		return list, fmt.Errorf("reading the list of resources: %w", err)
	}
	return list, nil
}

func unpack(data []byte) ([]byte, error) {
	reader, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("unpacking what is in the ConfigMap: %w", err)
	}
	text, err := io.ReadAll(io.LimitReader(reader, maxText+1))
	if err != nil {
		return nil, fmt.Errorf("unpacking what is in the ConfigMap: %w", err)
	}
	if len(text) > maxText {
		return nil, fmt.Errorf("unpacking what is in the ConfigMap: it is bigger than %d bytes", maxText)
	}
	return text, nil
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
