// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/lru"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// maxResults bounds the cached results. Each takes less than 500 bytes, however many objects
// it depends on.
const maxResults = 1 << 16

// ResultCache keeps what reading the Secrets and ConfigMaps of a Stack led to, for as long as
// their watched metadata says that none of them has changed. So the reconcile of a Stack in
// sync reads none of them from the API server. It keeps digests, and no value of a Secret.
//
// A nil cache keeps nothing.
type ResultCache struct {
	metadata client.Reader
	results  *lru.Cache
}

// NewResultCache returns a cache for a controller that watches the metadata of Secrets and
// ConfigMaps, which the reader reads.
func NewResultCache(metadata client.Reader) *ResultCache {
	return &ResultCache{metadata: metadata, results: lru.New(maxResults)}
}

// Result is what reading the Secrets and ConfigMaps of a Stack led to.
type Result struct {
	// Digest of their values, "" if the result has none.
	Digest string
	// Account is the service account of a run with these values.
	Account string
}

// resultKey identifies the result about one part of a Stack, such as its inputs.
type resultKey struct {
	stack types.UID
	about string
}

// keptResult is a result, and the digest of all that it depends on.
type keptResult struct {
	Result
	basis Basis
}

// Basis identifies all that a result depends on. The zero value is one that is not known.
type Basis [sha256.Size]byte

// Basis returns the basis of a result that depends on the given objects and on nothing else
// but the state. It is the zero value if the watch does not have one of the objects: what it
// has not seen, it may also not see go.
func (c *ResultCache) Basis(ctx context.Context, secrets, configMaps []types.NamespacedName, state ...string) Basis {
	if c == nil {
		return Basis{}
	}
	parts := slices.Clone(state)
	for _, of := range []struct {
		kind string
		keys []types.NamespacedName
	}{{"Secret", secrets}, {"ConfigMap", configMaps}} {
		for _, key := range of.keys {
			object := &metav1.PartialObjectMetadata{}
			object.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind(of.kind))
			if c.metadata.Get(ctx, key, object) != nil {
				return Basis{}
			}
			parts = append(parts, fmt.Sprintf("%s/%s/%s/%s", of.kind, key, object.UID, object.ResourceVersion))
		}
	}
	text, err := json.Marshal(parts)
	if err != nil {
		return Basis{}
	}
	return sha256.Sum256(text)
}

// Get returns the result about a part of a Stack, if it was kept on the same basis.
func (c *ResultCache) Get(stack types.UID, about string, basis Basis) (Result, bool) {
	if c == nil || basis == (Basis{}) {
		return Result{}, false
	}
	kept, ok := c.results.Get(resultKey{stack, about})
	if !ok || kept.(keptResult).basis != basis {
		return Result{}, false
	}
	return kept.(keptResult).Result, true
}

// Keep keeps a result. Its basis is that of before the objects were read, so that a change in
// between leads to another reading.
func (c *ResultCache) Keep(stack types.UID, about string, basis Basis, result Result) {
	if c == nil || basis == (Basis{}) {
		return
	}
	c.results.Add(resultKey{stack, about}, keptResult{result, basis})
}

// Drop drops the result about a part of a Stack.
func (c *ResultCache) Drop(stack types.UID, about string) {
	if c != nil {
		c.results.Remove(resultKey{stack, about})
	}
}
