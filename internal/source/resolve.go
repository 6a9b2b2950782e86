// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"fmt"

	fluxmeta "github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/acl"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"

	"github.com/flux-pulumi/pulumi-controller/internal/bounded"
)

// originRevisionKey is where source-controller puts the git commit that an OCI artifact
// was built from.
const originRevisionKey = "org.opencontainers.image.revision"

// maxMessage bounds text from others in an error, in bytes: a condition of a source may
// hold 32 KiB.
const maxMessage = 1024

// Source is what a source object offers.
type Source struct {
	// Kind, Namespace and Name of the source object.
	Kind, Namespace, Name string
	// Revision of the artifact, for instance main@sha1:4e1c....
	Revision string
	// OriginRevision is the git commit that an OCI artifact was built from, if known.
	OriginRevision string
	// URL to download the artifact from.
	URL string
	// Digest of the artifact, as <algorithm>:<checksum>.
	Digest string
	// Size of the artifact in bytes, 0 if unknown.
	Size int64
}

// Resolver finds the artifact of a source object.
type Resolver struct {
	// Client reads source objects. Its scheme must include source.toolkit.fluxcd.io/v1.
	Client client.Reader
	// NoCrossNamespaceRefs refuses sources in other namespaces.
	NoCrossNamespaceRefs bool
}

// object is what all source kinds implement.
type object interface {
	client.Object
	sourcev1.Source
	GetConditions() []metav1.Condition
}

// newObject returns an empty object of the kind, or nil for a kind that is not a source
// of programs.
func newObject(kind string) object {
	switch kind {
	case sourcev1.GitRepositoryKind:
		return &sourcev1.GitRepository{}
	case sourcev1.OCIRepositoryKind:
		return &sourcev1.OCIRepository{}
	case sourcev1.BucketKind:
		return &sourcev1.Bucket{}
	case sourcev1.ExternalArtifactKind:
		return &sourcev1.ExternalArtifact{}
	default:
		return nil
	}
}

// IsKind reports whether the kind is a source of programs.
func IsKind(kind string) bool { return newObject(kind) != nil }

// Resolve returns what a source offers to an object in the namespace. A source that is
// not Ready but has an artifact still offers it, as in kustomize-controller. The errors
// are those of this package and acl.AccessDeniedError.
//
// The reference's version is ignored: the object is always read as v1, the only version
// that Flux has for all of these kinds, so that a manifest with
// source.toolkit.fluxcd.io/v1beta2 works on a cluster that serves only v1.
func (r Resolver) Resolve(ctx context.Context, namespace string, ref v1.SourceReference) (*Source, error) {
	obj, err := objectFor(ref)
	if err != nil {
		return nil, err
	}
	key := types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}
	if key.Namespace == "" {
		key.Namespace = namespace
	}
	name := fmt.Sprintf("%s/%s", ref.Kind, key)
	if r.NoCrossNamespaceRefs && key.Namespace != namespace {
		// Not wrapped: acl.IsAccessDenied checks only the outermost error.
		return nil, acl.AccessDeniedError(
			fmt.Sprintf("can't access '%s', cross-namespace references have been blocked", name))
	}
	if err := r.Client.Get(ctx, key, obj); err != nil {
		return nil, readError(name, ref.Kind, err)
	}
	artifact := obj.GetArtifact()
	if artifact == nil || artifact.URL == "" || artifact.Digest == "" {
		return nil, fail(notReady(name, obj.GetConditions()), ErrNotReady)
	}
	return sourceOf(ref.Kind, key, artifact), nil
}

// objectFor returns an empty object of the kind in the reference.
func objectFor(ref v1.SourceReference) (object, error) {
	if ref.APIVersion != "" {
		gv, err := schema.ParseGroupVersion(ref.APIVersion)
		if err != nil || gv.Group != sourcev1.GroupVersion.Group {
			return nil, fail(fmt.Sprintf("sourceRef.apiVersion %q is not a Flux source: use %s",
				ref.APIVersion, sourcev1.GroupVersion), ErrInvalid)
		}
	}
	if ref.Name == "" {
		return nil, fail("sourceRef.name is required", ErrInvalid)
	}
	obj := newObject(ref.Kind)
	if obj == nil {
		return nil, fail(fmt.Sprintf("sourceRef.kind %q is not supported: use "+
			"GitRepository, OCIRepository, Bucket or ExternalArtifact", ref.Kind), ErrInvalid)
	}
	return obj, nil
}

// readError explains why the source could not be read.
func readError(name, kind string, err error) error {
	if apimeta.IsNoMatchError(err) || pathUnknown(err) {
		return fail(fmt.Sprintf("can't read '%s': this cluster does not serve %s in %s: "+
			"install source-controller, or a version of it that does", name, kind, sourcev1.GroupVersion), ErrNotServed, err)
	}
	if apierrors.IsNotFound(err) {
		return fail(fmt.Sprintf("source '%s' not found", name), ErrNotFound, err)
	}
	return fmt.Errorf("can't read '%s': %w", name, err)
}

// pathUnknown reports whether a 404 means that the API server does not serve the path,
// rather than that the object does not exist. It happens when a CRD was removed but the
// client still remembers it.
func pathUnknown(err error) bool {
	return apierrors.IsNotFound(err) && apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
}

// notReady says why there is no artifact, quoting the source.
func notReady(name string, conditions []metav1.Condition) string {
	ready := apimeta.FindStatusCondition(conditions, fluxmeta.ReadyCondition)
	if ready == nil || ready.Message == "" {
		return fmt.Sprintf("source '%s' has no artifact yet", name)
	}
	return fmt.Sprintf("source '%s' has no artifact yet: %s", name, bounded.Text(ready.Message, maxMessage))
}

func sourceOf(kind string, key types.NamespacedName, artifact *fluxmeta.Artifact) *Source {
	s := &Source{
		Kind:           kind,
		Namespace:      key.Namespace,
		Name:           key.Name,
		Revision:       artifact.Revision,
		OriginRevision: artifact.Metadata[originRevisionKey],
		URL:            artifact.URL,
		Digest:         artifact.Digest,
	}
	if artifact.Size != nil {
		s.Size = *artifact.Size
	}
	return s
}
