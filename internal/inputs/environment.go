// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package inputs

import (
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/plural"
)

const (
	// accessTokenVariable is set from the key accessTokenKey of accessTokenSecret.
	accessTokenVariable = "PULUMI_ACCESS_TOKEN"
	accessTokenKey      = "accessToken"
)

// envsField and envSecretsField return the path of a list entry.
func envsField(i int) string       { return fmt.Sprintf("spec.envs[%d]", i) }
func envSecretsField(i int) string { return fmt.Sprintf("spec.envSecrets[%d]", i) }

// secretNames lists the Secrets that the deprecated fields name, all in the Stack's
// namespace.
func secretNames(stack *v1.Stack) []string {
	names := slices.Clone(stack.Spec.EnvSecrets)
	if stack.Spec.AccessTokenSecret != "" {
		names = append(names, stack.Spec.AccessTokenSecret)
	}
	return names
}

// addEnvs adds the keys of the ConfigMaps in envs.
func (r *resolver) addEnvs(ctx context.Context, stack *v1.Stack) error {
	read := map[string]*corev1.ConfigMap{}
	for i, name := range stack.Spec.Envs {
		field, object := envsField(i), types.NamespacedName{Namespace: r.namespace, Name: name}
		if read[name] == nil {
			found, err := configMap(ctx, r.reader, field, object)
			if err != nil {
				return err
			}
			read[name] = found
		}
		if err := addVariables(r, field, configMapKind, object, read[name].Data, ""); err != nil {
			return err
		}
	}
	return nil
}

// addEnvSecrets adds the keys of the Secrets in envSecrets.
func (r *resolver) addEnvSecrets(ctx context.Context, stack *v1.Stack) error {
	for i, name := range stack.Spec.EnvSecrets {
		field, object := envSecretsField(i), types.NamespacedName{Namespace: r.namespace, Name: name}
		secret, err := r.secret(ctx, field, object)
		if err != nil {
			return err
		}
		if err := addVariables(r, field, secretKind, object, secret.Data, secret.UID); err != nil {
			return err
		}
	}
	return nil
}

// addVariables adds the keys of one object. Like Kubernetes with envFrom, it skips keys
// that are not valid variable names: the object may also hold files for something else.
// The shell that starts the CLI would silently drop such variables.
func addVariables[text string | []byte](r *resolver, field, kind string, object types.NamespacedName, data map[string]text, secret types.UID) error {
	leftOut := 0
	for _, name := range slices.Sorted(maps.Keys(data)) {
		if len(validation.IsCIdentifier(name)) > 0 {
			leftOut++
			continue
		}
		if err := r.add(reference{field: variableField(field, name), name: name}, value{text: string(data[name]), secret: secret, hidden: kind == secretKind}); err != nil {
			return err
		}
	}
	if leftOut > 0 {
		// The keys are not named: readers of the log may not be allowed to read the
		// Secret.
		r.leftOut = append(r.leftOut, fmt.Sprintf("%s: ignoring %s of %s '%s' that cannot name an environment variable",
			field, plural.Of(leftOut, "key", "keys"), kind, object))
	}
	return nil
}

// variableField returns the path of a key of an object in a list.
func variableField(field, key string) string { return fmt.Sprintf("%s (key %s)", field, key) }

// addAccessToken adds the token of accessTokenSecret unless envRefs has one. The Secret
// that is overridden then need not exist.
func (r *resolver) addAccessToken(ctx context.Context, stack *v1.Stack) error {
	if stack.Spec.AccessTokenSecret == "" {
		return nil
	}
	if _, given := stack.Spec.EnvRefs[accessTokenVariable]; given {
		return nil
	}
	name := types.NamespacedName{Namespace: r.namespace, Name: stack.Spec.AccessTokenSecret}
	v, err := r.secretKey(ctx, accessTokenField, name, accessTokenKey)
	if err != nil {
		return err
	}
	return r.add(reference{field: accessTokenField, name: accessTokenVariable}, v)
}
