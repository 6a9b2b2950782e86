// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package details converts a plan into the data of ConfigMaps, and back. A plan that is too
// large for one is split over several, and one that is too large for all of them is cut,
// which leaves its digest the same. It must not need a client, or decide when anything is
// written.
package details

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/flux-pulumi/pulumi-controller/internal/bounded"
	"github.com/flux-pulumi/pulumi-controller/internal/plan"
)

const (
	// Key of the data in each ConfigMap: a part of the plan in gzipped JSON.
	Key = "plan.json.gz"
	// PartsAnnotation of the first ConfigMap is the number of all of them.
	PartsAnnotation = "pulumi.com/parts"
	// MaxParts bounds the number of ConfigMaps, which is one digit in their names.
	MaxParts = 8
	// maxPart bounds the data of one in bytes. A ConfigMap may have 1 MiB, including
	// everything around its data.
	maxPart = 900 << 10
	// maxText bounds the unpacked data in bytes, maxMembers the members of its lists and
	// objects.
	maxText    = 64 << 20
	maxMembers = 1_000_000
)

// Encode returns the data of one or more ConfigMaps for a plan.
func Encode(of plan.Plan) ([][]byte, error) { return encode(of, maxPart) }

func encode(of plan.Plan, part int) ([][]byte, error) {
	most := bounded.Size{Data: MaxParts * part, Text: maxText, Members: maxMembers}
	var data []byte
	_, ok, err := of.Fit(func(p plan.Plan) (bool, error) {
		packed, size, err := bounded.Pack(p)
		data = packed
		return size.Fits(most), err
	})
	switch {
	case err != nil:
		return nil, fmt.Errorf("packing the plan: %w", err)
	case !ok:
		return nil, errors.New("the plan cannot be made small enough")
	}
	return split(data, part), nil
}

func split(data []byte, part int) (parts [][]byte) {
	for len(data) > part {
		parts, data = append(parts, data[:part]), data[part:]
	}
	return append(parts, data)
}

// Decode reads the data of all ConfigMaps of a plan.
func Decode(parts [][]byte) (plan.Plan, error) {
	var read plan.Plan
	most := bounded.Size{Data: MaxParts * maxPart, Text: maxText, Members: maxMembers}
	if err := bounded.Unpack(bytes.Join(parts, nil), most, &read); err != nil {
		return plan.Plan{}, fmt.Errorf("reading the plan in the ConfigMap: %w", err)
	}
	return read, nil
}

// Part is a ConfigMap with a part of a plan.
type Part struct {
	Annotations map[string]string
	Data        []byte
}

// Name returns the name of part n, of which the first is 0, from the name of the first. They
// differ in the last character.
func Name(first string, n int) string { return strings.TrimSuffix(first, "1") + strconv.Itoa(n+1) }

// Collect reads the data of all ConfigMaps of a plan, of which the first has that name.
func Collect(first string, read func(name string) (Part, error)) (parts [][]byte, err error) {
	count := 1
	for n := 0; n < count; n++ {
		part, err := read(Name(first, n))
		if err != nil {
			return nil, err
		}
		if n == 0 {
			written, _ := strconv.Atoi(part.Annotations[PartsAnnotation]) // else it is one
			count = max(1, min(written, MaxParts))
		}
		parts = append(parts, part.Data)
	}
	return parts, nil
}

// Digest returns the digest of the data of all ConfigMaps of a plan.
func Digest(parts [][]byte) string {
	sum := sha256.Sum256(bytes.Join(parts, nil))
	return "sha256:" + hex.EncodeToString(sum[:])
}
