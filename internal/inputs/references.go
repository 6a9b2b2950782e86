// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package inputs

import (
	"cmp"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

// reference is one entry of envRefs or secretsRef.
type reference struct {
	// field is its path, for errors.
	field string
	// name of the variable, or of the config value.
	name string
	// config says that it is a secret config value, and not a variable.
	config bool
	ref    v1.ResourceRef
}

// references lists the references of a Stack, always in the same order, so that
// of two errors it is always the same one that is shown.
func references(stack *v1.Stack) []reference {
	var all []reference
	for _, name := range slices.Sorted(maps.Keys(stack.Spec.EnvRefs)) {
		all = append(all, reference{field: envField + "." + name, name: name, ref: stack.Spec.EnvRefs[name]})
	}
	for _, name := range slices.Sorted(maps.Keys(stack.Spec.SecretsRef)) {
		all = append(all, reference{
			field: secretsField + "." + name, name: name, config: true, ref: stack.Spec.SecretsRef[name],
		})
	}
	return all
}

// secretOf returns the Secret that a reference takes its value from, and false
// for one that takes it from nowhere else.
func secretOf(namespace string, ref v1.ResourceRef) (types.NamespacedName, bool) {
	if ref.Type != v1.ResourceRefSecret || ref.Secret == nil {
		return types.NamespacedName{}, false
	}
	return types.NamespacedName{Namespace: cmp.Or(ref.Secret.Namespace, namespace), Name: ref.Secret.Name}, true
}

// SecretRefs lists the Secrets that a Stack takes values from, each once, in
// order, the deprecated fields included. It is what the index of the watch on Secrets is made of, so it also
// lists those that Resolve would refuse to read.
func SecretRefs(stack *v1.Stack) []types.NamespacedName {
	var secrets []types.NamespacedName
	for _, r := range references(stack) {
		if secret, ok := secretOf(stack.Namespace, r.ref); ok {
			secrets = append(secrets, secret)
		}
	}
	for _, name := range secretNames(stack) {
		secrets = append(secrets, types.NamespacedName{Namespace: stack.Namespace, Name: name})
	}
	slices.SortFunc(secrets, func(a, b types.NamespacedName) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return slices.Compact(secrets)
}
