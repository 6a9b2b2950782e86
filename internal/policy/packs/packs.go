// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package packs resolves the packs of a PolicySet: where their artifacts are, and their config.
package packs

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/policy"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/source"
)

// Sources resolves the artifact that a reference points to.
type Sources interface {
	Resolve(ctx context.Context, namespace string, ref v1.SourceReference) (*source.Source, error)
}

// Resolver resolves packs.
type Resolver struct {
	// Sources finds their artifacts. A PolicySet may refer to any namespace.
	Sources Sources
	// ConfigMaps reads the ConfigMaps with config from the API server, of which only the metadata
	// is cached. Configs keeps what was read.
	ConfigMaps client.Reader
	Configs    *Configs
	// Watch watches a kind of source from now on. Nil watches none.
	Watch func(kind string) error
}

// ConfigError says that what a PolicySet says of its packs cannot be used.
type ConfigError struct{ Err error }

func (e *ConfigError) Error() string { return e.Err.Error() }

func (e *ConfigError) Unwrap() error { return e.Err }

// Pack resolves a pack of the PolicySet. The error is one of Sources, a ConfigError, or one of the
// API server.
func (r Resolver) Pack(ctx context.Context, set *v1.PolicySet, pack *v1.PolicyPack) (run.PolicyPack, error) {
	found, err := r.resolve(ctx, pack)
	if err != nil {
		return run.PolicyPack{}, fmt.Errorf("%s: %w", run.PolicyPack{Set: set.Name, Name: pack.Name}.Title(), err)
	}
	found.Set, found.Enforced = set.Name, set.Enforces()
	return found, nil
}

func (r Resolver) resolve(ctx context.Context, pack *v1.PolicyPack) (run.PolicyPack, error) {
	ref := pack.SourceRef.Source()
	if r.Watch != nil {
		if err := r.Watch(ref.Kind); err != nil {
			return run.PolicyPack{}, err
		}
	}
	found, err := r.Sources.Resolve(ctx, ref.Namespace, ref)
	if err != nil {
		return run.PolicyPack{}, err
	}
	text, err := r.readConfig(ctx, pack.ConfigFrom)
	if err != nil {
		return run.PolicyPack{}, err
	}
	config, err := policy.Config(pack.Config, text)
	if err != nil {
		return run.PolicyPack{}, &ConfigError{err}
	}
	return run.PolicyPack{
		Name: pack.Name, Revision: found.Revision, Config: config,
		Artifact: run.Artifact{URL: found.URL, Digest: found.Digest, Dir: pack.Dir},
	}, nil
}

// readConfig returns the text of the config in a ConfigMap, "" if there is no reference.
func (r Resolver) readConfig(ctx context.Context, from *v1.PolicyConfigReference) (string, error) {
	if from == nil {
		return "", nil
	}
	ref := from.ConfigMap
	if text, ok := r.Configs.get(ctx, ref); ok {
		return text, nil
	}
	name := fmt.Sprintf("ConfigMap %s/%s", ref.Namespace, ref.Name)
	found := &corev1.ConfigMap{}
	err := r.ConfigMaps.Get(ctx, client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}, found)
	if apierrors.IsNotFound(err) {
		return "", &ConfigError{fmt.Errorf("%s of configFrom not found: %w", name, err)}
	}
	if err != nil {
		err = fmt.Errorf("failed to read %s of configFrom: %w", name, err)
		if apierrors.IsForbidden(err) {
			return "", &ConfigError{err}
		}
		return "", err
	}
	text, ok := found.Data[ref.Key]
	if !ok {
		return "", &ConfigError{fmt.Errorf("%s of configFrom has no key %q", name, ref.Key)}
	}
	r.Configs.keep(ref, found, text)
	return text, nil
}
