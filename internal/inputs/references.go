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
	// config says that it is a secret config value rather than a variable.
	config bool
	ref    v1.ResourceRef
}

// references lists the references of a Stack in a stable order, so that of several errors
// the same one is always shown.
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

// secretOf returns the Secret that a reference reads, or false if it reads none.
func secretOf(namespace string, ref v1.ResourceRef) (types.NamespacedName, bool) {
	if ref.Type != v1.ResourceRefSecret || ref.Secret == nil {
		return types.NamespacedName{}, false
	}
	return types.NamespacedName{Namespace: cmp.Or(ref.Secret.Namespace, namespace), Name: ref.Secret.Name}, true
}

// ReadsController reports whether a Stack takes values from the controller's own environment
// or files, whose changes nothing reports.
func ReadsController(stack *v1.Stack) bool {
	return slices.ContainsFunc(references(stack), func(r reference) bool {
		return r.ref.Type == v1.ResourceRefEnv || r.ref.Type == v1.ResourceRefFS
	})
}

// SecretRefs lists the Secrets that a Stack takes values from, including the deprecated
// fields, sorted and without duplicates. The index for the Secret watch is built from it,
// so it also lists Secrets that Resolve would refuse to read.
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
