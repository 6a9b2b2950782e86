// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package inputs

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/fluxcd/pkg/runtime/acl"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

const (
	// maxValues bounds all values of envRefs and secretsRef together, in bytes.
	// A process takes little more than that as its environment, and an object
	// of Kubernetes holds no more.
	maxValues = 1 << 20
	// maxVariable bounds NAME=value of an environment variable, in bytes: Linux
	// refuses to start a process with a longer one (MAX_ARG_STRLEN).
	maxVariable = 128<<10 - 1
)

// Options of Resolve.
type Options struct {
	// NoCrossNamespaceRefs refuses Secrets of other namespaces.
	NoCrossNamespaceRefs bool
}

// Inputs are the values that a run is given.
type Inputs struct {
	// Env are the environment variables, by name.
	Env map[string]string
	// BackendKey is the UID of the Secret that names the backend, "" where none
	// does. Like the value it is not for those who may not read the Secret.
	BackendKey string
	// Config are the plain config values by key, in canonical JSON.
	Config map[string]json.RawMessage
	// Secrets are the secret config values, by key.
	Secrets map[string]string
	// Masks are the texts that nothing which is shown may have in it, the
	// longest first.
	Masks []string
	// Digest changes when a value does, as sha256:<hex>.
	Digest string
}

// Resolve reads the values that the spec of a Stack asks for. The reader should
// not be a cache, which would hold all Secrets of the cluster: each Secret is
// read once, however often it is referred to.
//
// The errors are InvalidError, MissingError, UnusableError and
// acl.AccessDeniedError, each for errors.As; any other is one of the API server.
// None has a value in it.
func Resolve(ctx context.Context, reader client.Reader, stack *v1.Stack, opts Options) (*Inputs, error) {
	config, err := canonicalConfig(stack)
	if err != nil {
		return nil, err
	}
	if err := addConfigMaps(ctx, reader, stack, config); err != nil {
		return nil, err
	}
	r := resolver{
		reader: reader, namespace: stack.Namespace, opts: opts,
		secrets: map[types.NamespacedName]*corev1.Secret{},
	}
	env, secrets := map[string]value{}, map[string]value{}
	var hidden []string
	left := maxValues
	for _, ref := range references(stack) {
		v, err := r.value(ctx, ref)
		if err != nil {
			return nil, err
		}
		if left -= len(v.text); left < 0 {
			return nil, &UnusableError{ref.field, fmt.Sprintf(
				"the values of envRefs and secretsRef are together longer than %d bytes", maxValues)}
		}
		if ref.config {
			secrets[ref.name] = v
		} else {
			env[ref.name] = v
		}
		if ref.config || v.secret != "" || alwaysSecret(ref.name) {
			hidden = append(hidden, v.text)
		}
	}
	digest, err := digestOf(env, config, secrets)
	if err != nil {
		return nil, err
	}
	return &Inputs{
		Env: texts(env), BackendKey: string(env["PULUMI_BACKEND_URL"].secret), Config: config, Secrets: texts(secrets),
		Masks: masksOf(hidden), Digest: digest,
	}, nil
}

// canonicalConfig returns the config of the Stack in canonical JSON.
func canonicalConfig(stack *v1.Stack) (map[string]json.RawMessage, error) {
	config := make(map[string]json.RawMessage, len(stack.Spec.Config))
	for _, key := range slices.Sorted(maps.Keys(stack.Spec.Config)) {
		raw, err := canonical(stack.Spec.Config[key].Raw)
		if err != nil {
			return nil, &InvalidError{"spec.config." + key, "is not valid JSON"}
		}
		config[key] = raw
	}
	return config, nil
}

// texts returns the values without where they came from.
func texts(values map[string]value) map[string]string {
	out := make(map[string]string, len(values))
	for name, v := range values {
		out[name] = v.text
	}
	return out
}

// resolver reads the Secrets of one Resolve.
type resolver struct {
	reader    client.Reader
	namespace string
	opts      Options
	secrets   map[types.NamespacedName]*corev1.Secret
}

// value returns what the reference stands for, once it is known to be usable.
func (r *resolver) value(ctx context.Context, ref reference) (value, error) {
	if err := validateRef(ref.field, ref.ref); err != nil {
		return value{}, err
	}
	v := value{}
	if name, ok := secretOf(r.namespace, ref.ref); ok {
		secret, err := r.secret(ctx, ref.field, name)
		if err != nil {
			return value{}, err
		}
		data, ok := secret.Data[ref.ref.Secret.Key]
		if !ok {
			return value{}, &MissingError{Field: ref.field, Kind: secretKind, Object: name, Key: ref.ref.Secret.Key}
		}
		v = value{text: string(data), secret: secret.UID}
	} else {
		v = value{text: ref.ref.Literal.Value}
	}
	return v, usable(ref, v.text)
}

// secret reads a Secret, if it was not read before.
func (r *resolver) secret(ctx context.Context, field string, name types.NamespacedName) (*corev1.Secret, error) {
	if r.opts.NoCrossNamespaceRefs && name.Namespace != r.namespace {
		return nil, fmt.Errorf("%s: %w", field, acl.AccessDeniedError(
			fmt.Sprintf("can't access 'Secret/%s', cross-namespace references have been blocked", name)))
	}
	if secret, ok := r.secrets[name]; ok {
		return secret, nil
	}
	secret := &corev1.Secret{}
	if err := r.reader.Get(ctx, name, secret); err != nil {
		if apierrors.IsNotFound(err) {
			return nil, &MissingError{Field: field, Kind: secretKind, Object: name}
		}
		return nil, fmt.Errorf("%s: can't read Secret '%s': %w", field, name, err)
	}
	r.secrets[name] = secret
	return secret, nil
}

// usable checks that the value can be handed to a run: what a process cannot
// have in its environment would fail it with no word on which variable it was.
func usable(ref reference, text string) error {
	switch {
	case ref.config && !utf8.ValidString(text):
		return &UnusableError{ref.field, "the value is not text in UTF-8, which config must be: encode it, for instance as base64"}
	case !ref.config && strings.Contains(text, "\x00"):
		return &UnusableError{ref.field, "the value has a NUL byte, which no environment variable can hold"}
	case !ref.config && len(ref.name)+1+len(text) > maxVariable:
		return &UnusableError{ref.field, fmt.Sprintf("name and value are longer than %d bytes, "+
			"which no environment variable can be", maxVariable)}
	}
	return nil
}
