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
	"github.com/flux-pulumi/pulumi-controller/internal/grammar"
)

const (
	// maxValues bounds the total size in bytes of all values except plain config. The
	// environment of a process and a Kubernetes object can hold little more.
	maxValues = 1 << 20
	// maxVariable bounds NAME=value of an environment variable in bytes: Linux refuses to
	// start a process with a longer one (MAX_ARG_STRLEN).
	maxVariable = 128<<10 - 1
)

// Options of Resolve.
type Options struct {
	// NoCrossNamespaceRefs refuses Secrets of other namespaces.
	NoCrossNamespaceRefs bool
	// Controller resolves references of the types Env and FS. Nil refuses them.
	Controller *Controller
}

// Inputs are the values that a run is given.
type Inputs struct {
	// Env are the environment variables, by name.
	Env map[string]string
	// EnvFields are the spec fields that the variables come from, by variable name.
	EnvFields map[string]string
	// BackendKey is the UID of the Secret that the backend URL comes from, "" if none.
	// Like the URL, it must not be shown to people who may not read the Secret.
	BackendKey string
	// Config are the plain config values by key, in canonical JSON.
	Config map[string]json.RawMessage
	// Secrets are the secret config values, by key.
	Secrets map[string]string
	// Masks are the texts that must never be shown, longest first.
	Masks []string
	// LeftOut has a message for each object with keys that cannot be environment
	// variables.
	LeftOut []string
	// Digest of the values, as sha256:<hex>.
	Digest string
	// Controller are the values of the controller itself for a plan, which the digest does not have.
	Controller map[string]string
}

// Resolve reads the values that the spec of a Stack asks for. The reader should not be a
// cache, which would hold all Secrets of the cluster. Each Secret is read only once.
//
// The errors are InvalidError, MissingError, UnusableError and ReadError, for use with
// errors.As. None contains a value.
func Resolve(ctx context.Context, reader client.Reader, stack *v1.Stack, opts Options) (*Inputs, error) {
	config, err := canonicalConfig(stack)
	if err != nil {
		return nil, err
	}
	if err := addConfigMaps(ctx, reader, stack, config); err != nil {
		return nil, err
	}
	r := &resolver{
		reader: reader, namespace: stack.Namespace, opts: opts, left: maxValues,
		secrets: map[types.NamespacedName]*corev1.Secret{},
		env:     map[string]value{}, config: map[string]value{},
	}
	for _, add := range []func(context.Context, *v1.Stack) error{
		// Later ones override earlier ones.
		r.addEnvs, r.addEnvSecrets, r.addAccessToken, r.addReferences, r.addInlineSecrets,
	} {
		if err := add(ctx, stack); err != nil {
			return nil, err
		}
	}
	digest, err := digestOf(r.env, config, r.config)
	if err != nil {
		return nil, err
	}
	// After the digest: a new value in a file of the controller triggers no run.
	if err := r.takePassphrase(); err != nil {
		return nil, err
	}
	return &Inputs{
		Env: texts(r.env), EnvFields: fields(r.env), BackendKey: string(r.env[grammar.BackendVariable].secret),
		Config: config, Secrets: texts(r.config), Masks: masksOf(hidden(r.env, r.config)), LeftOut: r.leftOut, Digest: digest,
		Controller: ofController(r.env, r.config),
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

func texts(values map[string]value) map[string]string {
	out := make(map[string]string, len(values))
	for name, v := range values {
		out[name] = v.text
	}
	return out
}

// fields returns the spec fields that the values came from.
func fields(values map[string]value) map[string]string {
	out := make(map[string]string, len(values))
	for name, v := range values {
		out[name] = v.field
	}
	return out
}

// hidden returns the texts that must never be shown.
func hidden(env, config map[string]value) []string {
	var all []string
	for name, v := range env {
		if v.hidden || alwaysSecret(name) {
			all = append(all, v.text)
		}
	}
	for _, v := range config {
		all = append(all, v.text)
	}
	return all
}

// resolver collects the values for one Resolve.
type resolver struct {
	reader    client.Reader
	namespace string
	opts      Options
	// left is how many more bytes of values there may be.
	left    int
	secrets map[types.NamespacedName]*corev1.Secret
	leftOut []string
	// env are the environment variables, and config the secret config values.
	env, config map[string]value
}

// addReferences adds the values of envRefs and secretsRef.
func (r *resolver) addReferences(ctx context.Context, stack *v1.Stack) error {
	for _, ref := range references(stack) {
		v, err := r.value(ctx, ref)
		if err != nil {
			return err
		}
		if err := r.add(ref, v); err != nil {
			return err
		}
	}
	return nil
}

// addInlineSecrets adds the secret config written in the spec.
func (r *resolver) addInlineSecrets(_ context.Context, stack *v1.Stack) error {
	if err := validateSecrets(stack); err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(stack.Spec.Secrets)) {
		ref := reference{field: inlineField + "." + key, name: key, config: true}
		if err := r.add(ref, value{text: stack.Spec.Secrets[key]}); err != nil {
			return err
		}
	}
	return nil
}

// add adds a value if it is usable. Overridden values count towards the bound too.
func (r *resolver) add(ref reference, v value) error {
	if err := usable(ref, v.text); err != nil {
		return err
	}
	if r.left -= len(v.text); r.left < 0 {
		return &UnusableError{ref.field, fmt.Sprintf(
			"the values of environment variables and secret config exceed %d bytes in total", maxValues)}
	}
	v.field = ref.field
	if ref.config {
		r.config[ref.name] = v
	} else {
		r.env[ref.name] = v
	}
	return nil
}

// value resolves a reference.
func (r *resolver) value(ctx context.Context, ref reference) (value, error) {
	if err := validateRef(ref.field, ref.ref); err != nil {
		return value{}, err
	}
	switch ref.ref.Type {
	case v1.ResourceRefSecret:
		name, _ := secretOf(r.namespace, ref.ref)
		return r.secretKey(ctx, ref.field, name, ref.ref.Secret.Key)
	case v1.ResourceRefEnv, v1.ResourceRefFS:
		return r.opts.Controller.value(ref)
	}
	return value{text: ref.ref.Literal.Value}, nil
}

// secretKey returns the value of a key of a Secret.
func (r *resolver) secretKey(ctx context.Context, field string, name types.NamespacedName, key string) (value, error) {
	secret, err := r.secret(ctx, field, name)
	if err != nil {
		return value{}, err
	}
	data, ok := secret.Data[key]
	if !ok {
		return value{}, &MissingError{Field: field, Kind: secretKind, Object: name, Key: key}
	}
	return value{text: string(data), secret: secret.UID, hidden: true}, nil
}

// secret reads a Secret, or returns it if already read.
func (r *resolver) secret(ctx context.Context, field string, name types.NamespacedName) (*corev1.Secret, error) {
	if r.opts.NoCrossNamespaceRefs && name.Namespace != r.namespace {
		return nil, &ReadError{field, acl.AccessDeniedError(
			fmt.Sprintf("can't access 'Secret/%s', cross-namespace references have been blocked", name))}
	}
	if secret, ok := r.secrets[name]; ok {
		return secret, nil
	}
	secret := &corev1.Secret{}
	if err := r.reader.Get(ctx, name, secret); err != nil {
		if apierrors.IsNotFound(err) {
			return nil, &MissingError{Field: field, Kind: secretKind, Object: name}
		}
		return nil, &ReadError{field, fmt.Errorf("can't read Secret '%s': %w", name, err)}
	}
	r.secrets[name] = secret
	return secret, nil
}

// usable checks that a run can be given the value. A process with an invalid environment
// fails to start without saying which variable is at fault.
func usable(ref reference, text string) error {
	switch {
	case ref.config && !utf8.ValidString(text):
		return &UnusableError{ref.field, "the value is not UTF-8 text, but config must be: encode it, for example as base64"}
	case !ref.config && strings.Contains(text, "\x00"):
		return &UnusableError{ref.field, "the value contains a NUL byte, which is not possible in an environment variable"}
	case !ref.config && len(ref.name)+1+len(text) > maxVariable:
		return &UnusableError{ref.field, fmt.Sprintf("name and value exceed %d bytes, "+
			"the limit of an environment variable", maxVariable)}
	}
	return nil
}
