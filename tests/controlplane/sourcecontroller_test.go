// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/tar"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/flux-pulumi/pulumi-controller/tests/sources"
)

// flux is a control plane with source-controller and a client for it.
type flux struct {
	client.Client
	controller *SourceController
}

func startFlux(t *testing.T, plane *ControlPlane) *flux {
	t.Helper()
	g, ctx := NewWithT(t), context.WithoutCancel(t.Context())
	begin := time.Now()
	controller, err := StartSourceController(ctx, plane, SourceControllerOptions{Dir: t.TempDir()})
	g.Expect(err).NotTo(HaveOccurred())
	t.Logf("source-controller ready after %s", time.Since(begin).Round(time.Millisecond))
	t.Cleanup(func() { g.Expect(controller.Stop()).To(Succeed()) })

	scheme := runtime.NewScheme()
	g.Expect(corev1.AddToScheme(scheme)).To(Succeed())
	g.Expect(sourcev1.AddToScheme(scheme)).To(Succeed())
	kube, err := client.New(plane.RESTConfig(), client.Options{Scheme: scheme})
	g.Expect(err).NotTo(HaveOccurred())
	return &flux{Client: kube, controller: controller}
}

// source is what all kinds of sources have in common.
type source interface {
	client.Object
	GetConditions() []metav1.Condition
	GetArtifact() *meta.Artifact
}

// artifact creates the source and returns its artifact when it is Ready.
func (f *flux) artifact(t *testing.T, object source) *meta.Artifact {
	t.Helper()
	g, ctx := NewWithT(t), t.Context()
	begin := time.Now()
	g.Expect(f.Create(ctx, object)).To(Succeed())
	artifact := f.ready(t, object, "")
	t.Logf("%T has an artifact after %s", object, time.Since(begin).Round(time.Millisecond))
	return artifact
}

// ready waits until the source is Ready with an artifact of a revision other than old.
func (f *flux) ready(t *testing.T, object source, old string) *meta.Artifact {
	t.Helper()
	g, ctx := NewWithT(t), t.Context()
	g.Eventually(func(g Gomega) {
		g.Expect(f.Get(ctx, client.ObjectKeyFromObject(object), object)).To(Succeed())
		conditions := object.GetConditions()
		g.Expect(apimeta.IsStatusConditionTrue(conditions, meta.ReadyCondition)).To(BeTrue(), "%+v", conditions)
		g.Expect(object.GetArtifact()).NotTo(BeNil())
		g.Expect(object.GetArtifact().Revision).NotTo(Equal(old))
	}, startTimeout, 20*time.Millisecond).Should(Succeed())
	return object.GetArtifact()
}

// files downloads an artifact.
func files(t *testing.T, artifact *meta.Artifact) sources.Files {
	t.Helper()
	g := NewWithT(t)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, artifact.URL, nil)
	g.Expect(err).NotTo(HaveOccurred())
	response, err := http.DefaultClient.Do(request)
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { _ = response.Body.Close() }()
	g.Expect(response.StatusCode).To(Equal(http.StatusOK))
	dir := t.TempDir()
	g.Expect(tar.Untar(response.Body, dir)).To(Succeed())
	unpacked, err := sources.ReadDir(dir)
	g.Expect(err).NotTo(HaveOccurred())
	return unpacked
}

func named(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Namespace: metav1.NamespaceDefault}
}

func sourcesBecomeArtifacts(t *testing.T, plane *ControlPlane) {
	f := startFlux(t, plane)
	want := sources.Files{"Pulumi.yaml": "name: app\nruntime: yaml\n", "sub/Main.yaml": "outputs: {}\n"}
	t.Run("git", func(t *testing.T) { f.testGit(t, want) })
	t.Run("oci", func(t *testing.T) { f.testOCI(t, want) })
	t.Run("s3", func(t *testing.T) { f.testS3(t, want) })
}

func (f *flux) testGit(t *testing.T, want sources.Files) {
	g, ctx := NewWithT(t), t.Context()
	server, err := sources.NewGitServer(t.TempDir())
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { g.Expect(server.Close()).To(Succeed()) }()
	repo, err := server.NewRepo(ctx, "app")
	g.Expect(err).NotTo(HaveOccurred())
	commit, err := repo.Commit(ctx, want, "first")
	g.Expect(err).NotTo(HaveOccurred())

	object := &sourcev1.GitRepository{ObjectMeta: named("app"), Spec: sourcev1.GitRepositorySpec{
		URL: repo.URL(), Interval: metav1.Duration{Duration: time.Second},
		Reference: &sourcev1.GitRepositoryRef{Branch: sources.Branch},
	}}
	artifact := f.artifact(t, object)
	g.Expect(artifact.Revision).To(Equal(sources.Branch + "@sha1:" + commit))
	g.Expect(artifact.URL).To(HavePrefix(f.controller.URL() + "/"))
	g.Expect(files(t, artifact)).To(Equal(want))

	// The artifact follows the branch.
	commit, err = repo.Remove(ctx, "second", "sub")
	g.Expect(err).NotTo(HaveOccurred())
	artifact = f.ready(t, object, artifact.Revision)
	g.Expect(artifact.Revision).To(HaveSuffix(commit))
	g.Expect(files(t, artifact)).To(Equal(sources.Files{"Pulumi.yaml": want["Pulumi.yaml"]}))
}

func (f *flux) testOCI(t *testing.T, want sources.Files) {
	g, ctx := NewWithT(t), t.Context()
	registry, err := sources.NewOCIRegistry()
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { g.Expect(registry.Close()).To(Succeed()) }()
	origin := map[string]string{sources.AnnotationRevision: "main@sha1:abc", sources.AnnotationSource: "https://example.com/app"}
	digest, err := registry.PushArtifact(ctx, "team/app:latest", want, origin)
	g.Expect(err).NotTo(HaveOccurred())

	artifact := f.artifact(t, &sourcev1.OCIRepository{ObjectMeta: named("app"), Spec: sourcev1.OCIRepositorySpec{
		URL: registry.URL("team/app"), Insecure: true, Interval: metav1.Duration{Duration: time.Hour},
		Reference: &sourcev1.OCIRepositoryRef{Tag: "latest"},
	}})
	g.Expect(artifact.Revision).To(Equal("latest@" + digest))
	g.Expect(artifact.Metadata).To(Equal(origin))
	g.Expect(files(t, artifact)).To(Equal(want))
}

func (f *flux) testS3(t *testing.T, want sources.Files) {
	g, ctx := NewWithT(t), t.Context()
	server, err := sources.NewS3Server(ctx, t.TempDir())
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { g.Expect(server.Close()).To(Succeed()) }()
	g.Expect(server.MakeBucket(ctx, "stacks")).To(Succeed())
	g.Expect(server.PutObjects(ctx, "stacks", want)).To(Succeed())
	g.Expect(f.Create(ctx, &corev1.Secret{ObjectMeta: named("s3"), StringData: server.Credentials()})).To(Succeed())

	artifact := f.artifact(t, &sourcev1.Bucket{ObjectMeta: named("app"), Spec: sourcev1.BucketSpec{
		Provider: sourcev1.BucketProviderGeneric, BucketName: "stacks", Endpoint: server.Endpoint(), Region: server.Region(),
		Insecure: true, SecretRef: &meta.LocalObjectReference{Name: "s3"}, Interval: metav1.Duration{Duration: time.Hour},
	}})
	g.Expect(artifact.Revision).To(HavePrefix("sha256:"))
	g.Expect(files(t, artifact)).To(Equal(want))
}
