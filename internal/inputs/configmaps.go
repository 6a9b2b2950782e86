// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package inputs

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

// ConfigMapRefs lists the ConfigMaps that a Stack takes values from, sorted and without
// duplicates. The index for the ConfigMap watch is built from it.
func ConfigMapRefs(stack *v1.Stack) []types.NamespacedName {
	names := map[string]bool{}
	for _, ref := range stack.Spec.ConfigRef {
		names[ref.Name] = true
	}
	for _, name := range stack.Spec.Envs {
		names[name] = true
	}
	refs := make([]types.NamespacedName, 0, len(names))
	for _, name := range slices.Sorted(maps.Keys(names)) {
		refs = append(refs, types.NamespacedName{Namespace: stack.Namespace, Name: name})
	}
	return refs
}

// validateConfigRefs checks each entry of configRef, and that no key is in spec.config as
// well.
func validateConfigRefs(stack *v1.Stack) error {
	for _, key := range slices.Sorted(maps.Keys(stack.Spec.ConfigRef)) {
		ref, field := stack.Spec.ConfigRef[key], configField+"."+key
		if ref == (v1.ConfigMapRef{}) {
			return &InvalidError{field, emptyProblem}
		}
		if ref.Name == "" || ref.Key == "" {
			return &InvalidError{field, "name and key of a ConfigMap are required"}
		}
		if _, twice := stack.Spec.Config[key]; twice {
			return &InvalidError{field, "spec.config has the same key: remove one of the two"}
		}
	}
	return nil
}

// addConfigMaps adds the values of configRef to the config, in canonical JSON. It reads
// each ConfigMap once and bounds the values like those of other references.
func addConfigMaps(ctx context.Context, reader client.Reader, stack *v1.Stack, config map[string]json.RawMessage) error {
	if err := validateConfigRefs(stack); err != nil {
		return err
	}
	read := map[types.NamespacedName]*corev1.ConfigMap{}
	left := maxValues
	for _, key := range slices.Sorted(maps.Keys(stack.Spec.ConfigRef)) {
		ref, field := stack.Spec.ConfigRef[key], configField+"."+key
		name := types.NamespacedName{Namespace: stack.Namespace, Name: ref.Name}
		if read[name] == nil {
			found, err := configMap(ctx, reader, field, name)
			if err != nil {
				return err
			}
			read[name] = found
		}
		text, ok := read[name].Data[ref.Key]
		if !ok {
			return withoutText(field, read[name], ref.Key)
		}
		if left -= len(text); left < 0 {
			return &UnusableError{field, fmt.Sprintf("the values of configRef exceed %d bytes in total", maxValues)}
		}
		value, err := configValue(text, ref.JSON)
		if err != nil {
			return &UnusableError{field, fmt.Sprintf("the value of key %q in ConfigMap '%s' is not valid JSON: correct it, or remove json: true", ref.Key, name)}
		}
		switch {
		case isNull(value):
			return &UnusableError{field, fmt.Sprintf("the value of key %q in ConfigMap '%s' %s", ref.Key, name, nullProblem)}
		case ref.JSON && looksEncrypted(value):
			return &UnusableError{field, fmt.Sprintf("the value of key %q in ConfigMap '%s' %s", ref.Key, name, encryptedProblem)}
		}
		config[key] = value
	}
	return nil
}

// withoutText returns the error for a key that is missing in the data of a ConfigMap.
func withoutText(field string, of *corev1.ConfigMap, key string) error {
	name := client.ObjectKeyFromObject(of)
	if _, ok := of.BinaryData[key]; ok {
		return &UnusableError{field, fmt.Sprintf("key %q of ConfigMap '%s' is in binaryData, but config must be "+
			"text: put it in data, for example as base64", key, name)}
	}
	return &MissingError{Field: field, Kind: configMapKind, Object: name, Key: key}
}

func configMap(ctx context.Context, reader client.Reader, field string, name types.NamespacedName) (*corev1.ConfigMap, error) {
	found := &corev1.ConfigMap{}
	if err := reader.Get(ctx, name, found); err != nil {
		if apierrors.IsNotFound(err) {
			return nil, &MissingError{Field: field, Kind: configMapKind, Object: name}
		}
		return nil, &ReadError{field, fmt.Errorf("can't read ConfigMap '%s': %w", name, err)}
	}
	return found, nil
}

// configValue returns a ConfigMap value as a config value.
func configValue(text string, isJSON bool) (json.RawMessage, error) {
	if isJSON {
		return canonicalText(text)
	}
	return json.Marshal(text)
}

// canonicalText is canonical for JSON written by a person, where an empty text is an
// error rather than null.
func canonicalText(text string) (json.RawMessage, error) {
	if text == "" {
		return nil, fmt.Errorf("not a JSON value")
	}
	return canonical([]byte(text))
}
