// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package packs

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/lru"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

const (
	// maxConfigs bounds the texts that are kept, and maxKeptText each of them, in bytes.
	maxConfigs  = 256
	maxKeptText = 64 << 10
)

// Configs keeps the config of packs that was read from ConfigMaps, for as long as their watched
// metadata says that they have not changed: a thousand Stacks with the same packs read a ConfigMap
// once. A nil Configs keeps nothing.
type Configs struct {
	metadata client.Reader
	texts    *lru.Cache
}

// NewConfigs returns the config for a controller that watches the metadata of ConfigMaps, which
// the reader reads.
func NewConfigs(metadata client.Reader) *Configs {
	return &Configs{metadata: metadata, texts: lru.New(maxConfigs)}
}

// version identifies the content of a ConfigMap.
type version struct {
	uid             types.UID
	resourceVersion string
}

// keptText is the text of a key of a ConfigMap, and the version that it was read from.
type keptText struct {
	version
	text string
}

func versionOf(object client.Object) version {
	return version{object.GetUID(), object.GetResourceVersion()}
}

// get returns the text of the key, if it was kept and the ConfigMap has not changed since.
func (c *Configs) get(ctx context.Context, ref v1.PolicyConfigMapReference) (string, bool) {
	if c == nil {
		return "", false
	}
	found, ok := c.texts.Get(ref)
	if !ok {
		return "", false
	}
	kept := found.(keptText)
	metadata := &metav1.PartialObjectMetadata{}
	metadata.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMap"))
	// What the watch does not have, because it is of one namespace or of some labels, is read again.
	if c.metadata.Get(ctx, client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}, metadata) != nil || versionOf(metadata) != kept.version {
		return "", false
	}
	return kept.text, true
}

// keep keeps the text of the key with the version that it was read from. One that is newer than
// the watched metadata is read again until the watch has it too.
func (c *Configs) keep(ref v1.PolicyConfigMapReference, from *corev1.ConfigMap, text string) {
	if c != nil && len(text) <= maxKeptText {
		c.texts.Add(ref, keptText{versionOf(from), text})
	}
}
