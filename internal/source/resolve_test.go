// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package source_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	fluxmeta "github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/acl"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/source"
)

// readerOf returns a reader with the objects. controller-runtime's fake client suffices,
// as the code only gets objects by name. The errors below are what client-go returns for
// kinds that a real API server does not serve.
func readerOf(g *WithT, failure error, objects ...client.Object) client.Reader {
	scheme := runtime.NewScheme()
	g.Expect(sourcev1.AddToScheme(scheme)).To(Succeed())
	builder := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...)
	if failure != nil {
		builder = builder.WithInterceptorFuncs(interceptor.Funcs{
			Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
				return failure
			},
		})
	}
	return builder.Build()
}

// named returns the metadata of an object app in the namespace.
func named(namespace string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: "app"}
}

// artifact returns an artifact with all fields that are read.
func artifact() *fluxmeta.Artifact {
	bytes := int64(42)
	return &fluxmeta.Artifact{
		URL: "http://source/a.tar.gz", Digest: "sha256:00", Revision: "main@sha1:4e1c", Size: &bytes,
		Metadata: map[string]string{"org.opencontainers.image.revision": "main@sha1:0ff1"},
	}
}

// ready returns a Ready condition with the message.
func ready(status metav1.ConditionStatus, message string) []metav1.Condition {
	return []metav1.Condition{{Type: "Ready", Status: status, Reason: "Any", Message: message}}
}

func TestResolveReturnsTheArtifact(t *testing.T) {
	for kind, obj := range map[string]client.Object{
		"GitRepository": &sourcev1.GitRepository{ObjectMeta: named("apps"), Status: sourcev1.GitRepositoryStatus{Artifact: artifact()}},
		"OCIRepository": &sourcev1.OCIRepository{ObjectMeta: named("apps"), Status: sourcev1.OCIRepositoryStatus{Artifact: artifact()}},
		"Bucket":        &sourcev1.Bucket{ObjectMeta: named("apps"), Status: sourcev1.BucketStatus{Artifact: artifact()}},
		"ExternalArtifact": &sourcev1.ExternalArtifact{
			ObjectMeta: named("apps"), Status: sourcev1.ExternalArtifactStatus{Artifact: artifact()},
		},
	} {
		for _, apiVersion := range []string{"", "source.toolkit.fluxcd.io/v1", "source.toolkit.fluxcd.io/v1beta2", "source.toolkit.fluxcd.io/v9"} {
			t.Run(fmt.Sprintf("%s in %q", kind, apiVersion), func(t *testing.T) {
				g := NewWithT(t)
				got, err := source.Resolver{Client: readerOf(g, nil, obj)}.Resolve(context.Background(), "apps",
					v1.SourceReference{APIVersion: apiVersion, Kind: kind, Name: "app"})
				g.Expect(err).ToNot(HaveOccurred())
				g.Expect(got).To(Equal(&source.Source{
					Kind: kind, Namespace: "apps", Name: "app", Revision: "main@sha1:4e1c", OriginRevision: "main@sha1:0ff1",
					URL: "http://source/a.tar.gz", Digest: "sha256:00", Size: 42,
				}))
			})
		}
	}
}

func TestResolveServesTheLastArtifactOfASourceThatFails(t *testing.T) {
	g := NewWithT(t)
	failing := &sourcev1.GitRepository{
		ObjectMeta: named("apps"),
		Status: sourcev1.GitRepositoryStatus{
			Artifact: &fluxmeta.Artifact{URL: "http://source/a.tar.gz", Digest: "sha256:00"}, Conditions: ready(metav1.ConditionFalse, "auth failed"),
		},
	}
	got, err := source.Resolver{Client: readerOf(g, nil, failing)}.Resolve(context.Background(), "apps",
		v1.SourceReference{Kind: "GitRepository", Name: "app"})
	g.Expect(err).ToNot(HaveOccurred())
	g.Expect(got.URL).To(Equal("http://source/a.tar.gz"))
	g.Expect(got.Size).To(BeZero())
	g.Expect(got.OriginRevision).To(BeEmpty())
}

func TestResolveErrors(t *testing.T) {
	gr := schema.GroupResource{Group: "source.toolkit.fluxcd.io", Resource: "gitrepositories"}
	for name, tt := range map[string]struct {
		ref     v1.SourceReference
		status  *sourcev1.GitRepositoryStatus
		failure error
		is      error
		want    string
	}{
		"a group that is not Flux's": {
			ref: v1.SourceReference{APIVersion: "apps/v1", Kind: "GitRepository", Name: "app"}, is: source.ErrInvalid,
			want: `sourceRef.apiVersion "apps/v1" is not a Flux source: use source.toolkit.fluxcd.io/v1`,
		},
		"a group without a version": {
			ref: v1.SourceReference{APIVersion: "source.toolkit.fluxcd.io", Kind: "GitRepository", Name: "app"}, is: source.ErrInvalid,
			want: `sourceRef.apiVersion "source.toolkit.fluxcd.io" is not a Flux source`,
		},
		"a version that is no version": {
			ref: v1.SourceReference{APIVersion: "a/b/c", Kind: "GitRepository", Name: "app"}, is: source.ErrInvalid,
			want: `sourceRef.apiVersion "a/b/c" is not a Flux source`,
		},
		"a kind that holds no programs": {
			ref: v1.SourceReference{Kind: "HelmChart", Name: "app"}, is: source.ErrInvalid,
			want: `sourceRef.kind "HelmChart" is not supported: use GitRepository, OCIRepository, Bucket or ExternalArtifact`,
		},
		"no name": {ref: v1.SourceReference{Kind: "GitRepository"}, is: source.ErrInvalid, want: "sourceRef.name is required"},
		"an object that does not exist": {
			ref: v1.SourceReference{Kind: "GitRepository", Name: "app"}, is: source.ErrNotFound,
			want: "source 'GitRepository/apps/app' not found",
		},
		"an object of another namespace that does not exist": {
			ref: v1.SourceReference{Kind: "GitRepository", Name: "app", Namespace: "infra"}, is: source.ErrNotFound,
			want: "source 'GitRepository/infra/app' not found",
		},
		"a source that is new": {
			ref: v1.SourceReference{Kind: "GitRepository", Name: "app"}, status: &sourcev1.GitRepositoryStatus{}, is: source.ErrNotReady,
			want: "source 'GitRepository/apps/app' has no artifact yet",
		},
		"a source that fails": {
			ref: v1.SourceReference{Kind: "GitRepository", Name: "app"}, is: source.ErrNotReady,
			status: &sourcev1.GitRepositoryStatus{Conditions: ready(metav1.ConditionFalse, "authentication required")},
			want:   "source 'GitRepository/apps/app' has no artifact yet: authentication required",
		},
		"a source that fails at length": {
			ref: v1.SourceReference{Kind: "GitRepository", Name: "app"}, is: source.ErrNotReady,
			status: &sourcev1.GitRepositoryStatus{Conditions: ready(metav1.ConditionFalse, strings.Repeat("é", 9000))},
			want:   "source 'GitRepository/apps/app' has no artifact yet: " + strings.Repeat("é", 510) + "...",
		},
		"an artifact without a digest": {
			ref: v1.SourceReference{Kind: "GitRepository", Name: "app"}, is: source.ErrNotReady,
			status: &sourcev1.GitRepositoryStatus{Artifact: &fluxmeta.Artifact{URL: "http://source"}},
			want:   "source 'GitRepository/apps/app' has no artifact yet",
		},
		"a kind that the cluster does not serve": {
			ref: v1.SourceReference{Kind: "GitRepository", Name: "app"}, is: source.ErrNotServed,
			failure: fmt.Errorf("failed to get API group resources: %w",
				&apimeta.NoKindMatchError{GroupKind: schema.GroupKind{Group: gr.Group, Kind: "GitRepository"}}),
			want: "can't read 'GitRepository/apps/app': this cluster does not serve GitRepository in source.toolkit.fluxcd.io/v1: " +
				"install source-controller, or a version of it that does",
		},
		"a kind that the cluster does not serve any more": {
			ref: v1.SourceReference{Kind: "GitRepository", Name: "app"}, is: source.ErrNotServed,
			failure: apierrors.NewGenericServerResponse(404, "get", gr, "app", "404 page not found", 0, true),
			want:    "install source-controller",
		},
		"an API server that fails": {
			ref: v1.SourceReference{Kind: "GitRepository", Name: "app"}, failure: errors.New("boom"),
			want: "can't read 'GitRepository/apps/app': boom",
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			var objects []client.Object
			if tt.status != nil {
				objects = append(objects, &sourcev1.GitRepository{ObjectMeta: named("apps"), Status: *tt.status})
			}
			_, err := source.Resolver{Client: readerOf(g, tt.failure, objects...)}.Resolve(context.Background(), "apps", tt.ref)
			g.Expect(err).To(MatchError(ContainSubstring(tt.want)))
			for _, sentinel := range []error{source.ErrInvalid, source.ErrNotFound, source.ErrNotReady, source.ErrNotServed} {
				g.Expect(errors.Is(fmt.Errorf("wrapped: %w", err), sentinel)).To(Equal(sentinel == tt.is), "%v", sentinel)
			}
			if tt.failure != nil {
				g.Expect(err).To(MatchError(tt.failure))
			}
		})
	}
}

func TestTheKindsOfSources(t *testing.T) {
	g := NewWithT(t)
	for _, kind := range []string{"GitRepository", "OCIRepository", "Bucket", "ExternalArtifact"} {
		g.Expect(source.IsKind(kind)).To(BeTrue(), kind)
	}
	for _, kind := range []string{"HelmRepository", "HelmChart", "gitrepository", "Secret", ""} {
		g.Expect(source.IsKind(kind)).To(BeFalse(), kind)
	}
}

func TestResolveAcrossNamespaces(t *testing.T) {
	other := &sourcev1.Bucket{ObjectMeta: named("infra"), Status: sourcev1.BucketStatus{Artifact: artifact()}}
	ref := v1.SourceReference{Kind: "Bucket", Name: "app", Namespace: "infra"}
	t.Run("is possible", func(t *testing.T) {
		g := NewWithT(t)
		got, err := source.Resolver{Client: readerOf(g, nil, other)}.Resolve(context.Background(), "apps", ref)
		g.Expect(err).ToNot(HaveOccurred())
		g.Expect(got.Namespace).To(Equal("infra"))
	})
	t.Run("can be refused, without telling whether the source exists", func(t *testing.T) {
		g := NewWithT(t)
		resolver := source.Resolver{Client: readerOf(g, errors.New("nothing may be read")), NoCrossNamespaceRefs: true}
		_, err := resolver.Resolve(context.Background(), "apps", ref)
		g.Expect(acl.IsAccessDenied(err)).To(BeTrue())
		g.Expect(err).To(MatchError("can't access 'Bucket/infra/app', cross-namespace references have been blocked"))
	})
	t.Run("is not what naming the own namespace means", func(t *testing.T) {
		g := NewWithT(t)
		resolver := source.Resolver{Client: readerOf(g, nil, other), NoCrossNamespaceRefs: true}
		_, err := resolver.Resolve(context.Background(), "infra", ref)
		g.Expect(err).ToNot(HaveOccurred())
	})
}
