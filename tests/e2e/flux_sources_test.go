// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/sources"
)

// hourly is the interval of sources: tests request each reconcile, so polling can explain nothing.
func hourly() metav1.Duration { return metav1.Duration{Duration: time.Hour} }

// gitSource is a git repository and the GitRepository that follows it.
type gitSource struct {
	t      *tenant
	repo   *sources.GitRepo
	object *sourcev1.GitRepository
}

// git creates a repository with a first commit, and a GitRepository named app.
func (t *tenant) git(files sources.Files) *gitSource {
	t.test.Helper()
	s := t.gitRepo()
	_, err := s.repo.Commit(t.ctx, files, "first")
	t.Expect(err).NotTo(HaveOccurred())
	t.apply(s.object)
	return s
}

// gitRepo creates an empty repository, and a GitRepository that is not applied yet.
func (t *tenant) gitRepo() *gitSource {
	t.test.Helper()
	repo, err := t.gitServer.NewRepo(t.ctx, t.namespace)
	t.Expect(err).NotTo(HaveOccurred())
	return &gitSource{t: t, repo: repo, object: &sourcev1.GitRepository{
		ObjectMeta: metav1.ObjectMeta{Name: "app", Namespace: t.namespace},
		Spec: sourcev1.GitRepositorySpec{
			URL: repo.URL(), Interval: hourly(), Reference: &sourcev1.GitRepositoryRef{Branch: sources.Branch},
		},
	}}
}

// commit commits and has the source look, as a webhook does. It returns the revision, and the source may not be there yet.
func (s *gitSource) commit(files sources.Files) (revision string) {
	s.t.test.Helper()
	commit, err := s.repo.Commit(s.t.ctx, files, "next")
	s.t.Expect(err).NotTo(HaveOccurred())
	request(s.t, s.object)
	return revisionOf(commit)
}

// move commits files in place of a directory.
func (s *gitSource) move(from string, files sources.Files) (revision string) {
	s.t.test.Helper()
	_, err := s.repo.Remove(s.t.ctx, "remove "+from, from)
	s.t.Expect(err).NotTo(HaveOccurred())
	return s.commit(files)
}

// link commits a symbolic link in place of a file or a directory.
func (s *gitSource) link(path, target string) (revision string) {
	s.t.test.Helper()
	commit, err := s.repo.Link(s.t.ctx, path, target, "link "+path)
	s.t.Expect(err).NotTo(HaveOccurred())
	request(s.t, s.object)
	return revisionOf(commit)
}

func revisionOf(commit string) string { return sources.Branch + "@sha1:" + commit }

// fluxSource is any source object.
type fluxSource interface {
	client.Object
	sourcev1.Source
}

// awaitArtifact waits until the source has an artifact, other than the one of the revision given, and returns its revision.
func (t *tenant) awaitArtifact(source fluxSource, not string) (revision string) {
	t.test.Helper()
	t.Eventually(func(g Gomega) {
		g.Expect(t.Get(t.ctx, keyOf(source), source)).To(Succeed())
		g.Expect(source.GetArtifact()).NotTo(BeNil())
		revision = source.GetArtifact().Revision
		g.Expect(revision).NotTo(Equal(not))
	}).Should(Succeed())
	return revision
}

// from makes the Stack take its program from a directory of the source of that kind named app.
func from(kind, dir string) func(*v1.Stack) {
	return func(s *v1.Stack) {
		s.Spec.FluxSource = &v1.FluxSource{
			SourceRef: v1.SourceReference{APIVersion: sourcev1.GroupVersion.String(), Kind: kind, Name: "app"},
			Dir:       dir,
		}
	}
}

func fromGit(s *v1.Stack) { from(sourcev1.GitRepositoryKind, "")(s) }

func fromArtifact(s *v1.Stack) { from(sourcev1.ExternalArtifactKind, "")(s) }

// ociRepository describes the OCIRepository of the latest artifact of a repository of the registry.
func (t *tenant) ociRepository() *sourcev1.OCIRepository {
	return &sourcev1.OCIRepository{
		ObjectMeta: metav1.ObjectMeta{Name: "app", Namespace: t.namespace},
		Spec: sourcev1.OCIRepositorySpec{
			URL: t.registry.URL(t.namespace), Interval: hourly(), Insecure: true,
			Reference: &sourcev1.OCIRepositoryRef{Tag: "latest"},
		},
	}
}

// push pushes files as the latest artifact, made from a git revision.
func (t *tenant) push(files sources.Files, origin string) {
	t.test.Helper()
	_, err := t.registry.PushArtifact(t.ctx, t.namespace+":latest", files, map[string]string{sources.AnnotationRevision: origin})
	t.Expect(err).NotTo(HaveOccurred())
}

// bucket creates a bucket for the tenant and describes the Bucket that follows it.
func (t *tenant) bucket() *sourcev1.Bucket {
	t.test.Helper()
	t.Expect(t.s3.MakeBucket(t.ctx, t.namespace)).To(Succeed())
	t.apply(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "bucket"}, StringData: t.s3.Credentials()})
	return &sourcev1.Bucket{
		ObjectMeta: metav1.ObjectMeta{Name: "app", Namespace: t.namespace},
		Spec: sourcev1.BucketSpec{
			Provider: sourcev1.BucketProviderGeneric, Endpoint: t.s3.Endpoint(), Region: t.s3.Region(), Insecure: true,
			BucketName: t.namespace, Interval: hourly(), SecretRef: &meta.LocalObjectReference{Name: "bucket"},
		},
	}
}
