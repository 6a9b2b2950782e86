// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"cmp"
	"context"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/pack"
	"github.com/flux-pulumi/pulumi-controller/internal/gitsource"
)

// packedSource returns what the source of the Stack excludes. A source that does not exist
// or cannot be read excludes nothing of its own.
func (s *session) packedSource(ctx context.Context, api client.Reader, stack *v1.Stack) pack.Source {
	of := stack.Spec.FluxSource
	switch {
	case of == nil:
		return pack.Source{Ignore: gitsource.Everything, Dir: stack.Spec.RepoDir}
	case of.SourceRef.Kind == sourcev1.ExternalArtifactKind: // it has no spec.ignore
		return pack.Source{Dir: of.Dir}
	}
	source := &unstructured.Unstructured{}
	source.SetGroupVersionKind(sourcev1.GroupVersion.WithKind(of.SourceRef.Kind))
	key := client.ObjectKey{Namespace: cmp.Or(of.SourceRef.Namespace, stack.Namespace), Name: of.SourceRef.Name}
	if err := api.Get(ctx, key, source); client.IgnoreNotFound(err) != nil && !meta.IsNoMatchError(err) {
		s.Warningf("ignoring spec.ignore of %s %s, because it cannot be read: %v", of.SourceRef.Kind, key, err)
	}
	ignore, _, _ := unstructured.NestedString(source.Object, "spec", "ignore")
	return pack.Source{Ignore: ignore, Dir: of.Dir}
}
