// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"path"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// Digest returns the digest of what decides the verdict of packs: their content, config and
// order. Where an artifact is downloaded from is no part of it, nor whether a pack is enforced.
// Without packs it is empty.
func Digest(packs []run.PolicyPack) (string, error) {
	if len(packs) == 0 {
		return "", nil
	}
	type content struct {
		Set, Name, Artifact, Dir string
		Config                   json.RawMessage
	}
	contents := make([]content, 0, len(packs))
	for _, pack := range packs {
		contents = append(contents, content{pack.Set, pack.Name, pack.Artifact.Digest, path.Join("/", pack.Artifact.Dir), pack.Config})
	}
	text, err := json.Marshal(contents)
	if err != nil {
		return "", fmt.Errorf("failed to encode the packs for their digest: %w", err)
	}
	return fmt.Sprintf("sha256:%x", sha256.Sum256(text)), nil
}

// OfSet returns the packs of a PolicySet.
func OfSet(packs []run.PolicyPack, set string) []run.PolicyPack {
	var of []run.PolicyPack
	for _, pack := range packs {
		if pack.Set == set {
			of = append(of, pack)
		}
	}
	return of
}

// Enforced returns the packs that are enforced.
func Enforced(packs []run.PolicyPack) []run.PolicyPack {
	var enforced []run.PolicyPack
	for _, pack := range packs {
		if pack.Enforced {
			enforced = append(enforced, pack)
		}
	}
	return enforced
}
