// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/gitsource"
	"github.com/flux-pulumi/pulumi-controller/tests/process"
)

// These tests are about the CRDs of source-controller, and about which Stacks the events
// of kept objects enqueue, so they need a real API server. The test plays
// source-controller.

// fromRepo makes a Stack take its program from a private repository, and never poll.
func fromRepo(s *v1.Stack) {
	s.Spec.ProgramRef = nil
	s.Spec.ProjectRepo, s.Spec.Branch = "https://git.example.com/a.git", "main"
	s.Spec.GitAuth = &v1.GitAuth{PersonalAccessToken: &v1.ResourceRef{
		Type: v1.ResourceRefSecret, Secret: &v1.SecretKeyReference{Name: "token", Key: "token"},
	}}
}

func (u *orderedTenant) repo(g Gomega, stack string) *sourcev1.GitRepository {
	repo := &sourcev1.GitRepository{}
	g.Expect(u.Get(u.ctx, client.ObjectKey{Namespace: u.namespace, Name: gitsource.Name(stack)}, repo)).To(Succeed())
	return repo
}

// fetched makes the GitRepository of a Stack fetch a revision, once it is as expected.
func (u *orderedTenant) fetched(stack, revision string, expect ...func(g Gomega, repo *sourcev1.GitRepository)) {
	u.Eventually(func(g Gomega) {
		repo := u.repo(g, stack)
		for _, e := range expect {
			e(g, repo)
		}
		repo.Status.ObservedGeneration = repo.Generation
		repo.Status.LastHandledReconcileAt = repo.Annotations[meta.ReconcileRequestAnnotation]
		repo.Status.Artifact = &meta.Artifact{
			URL: "http://source/a.tar.gz", Path: "a.tar.gz", Revision: "main@sha1:" + revision,
			Digest: "sha256:" + strings.Repeat(revision, 64), LastUpdateTime: metav1.Now(),
		}
		conditions.MarkTrue(repo, sourcev1.ArtifactInStorageCondition, meta.SucceededReason, "stored")
		g.Expect(u.Status().Update(u.ctx, repo)).To(Succeed())
	}).Should(Succeed())
}

func (u *orderedTenant) awaitApplied(stack, revision string) {
	u.Eventually(func(g Gomega) {
		s := u.stack(stack)
		g.Expect(s.Status.LastAppliedRevision).To(Equal("main@sha1:"+revision), "%v", s.Status.Conditions)
		g.Expect(conditions.IsReady(s)).To(BeTrue())
	}).Should(Succeed())
}

func TestRepositoriesOnAnAPIServer(t *testing.T) {
	t.Parallel()
	cluster := sharedCluster(t)
	u := cluster.tenant(t)
	u.create(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "token"}, StringData: map[string]string{"token": gitToken}})
	u.createStack("early", fromRepo)
	// With -count, they are there the second time.
	if apimeta.IsNoMatchError(u.Get(u.ctx, client.ObjectKey{Namespace: u.namespace, Name: "early"}, &sourcev1.GitRepository{})) {
		u.Eventually(func() string {
			return conditions.GetMessage(u.stack("early"), meta.ReadyCondition)
		}).Should(ContainSubstring("install source-controller"))
		crds, err := process.FindBin(filepath.Join("crds", "source-controller"))
		u.Expect(err).NotTo(HaveOccurred())
		_, err = envtest.InstallCRDs(cluster.config, envtest.CRDInstallOptions{Paths: []string{crds}, ErrorIfPathMissing: true, MaxTime: time.Minute})
		u.Expect(err).NotTo(HaveOccurred())
		// Nothing polls within the day.
		u.edit("early", func(s *v1.Stack) { s.Annotations = map[string]string{meta.ReconcileRequestAnnotation: "1"} })
	}
	u.fetched("early", "1")
	u.awaitApplied("early", "1")

	t.Run("a new commit is run", func(*testing.T) {
		u.fetched("early", "2")
		u.awaitApplied("early", "2")
	})
	t.Run("another branch is fetched before it is run", func(*testing.T) {
		u.edit("early", func(s *v1.Stack) { s.Spec.Branch = "next" })
		u.fetched("early", "3", func(g Gomega, repo *sourcev1.GitRepository) { g.Expect(repo.Spec.Reference.Branch).To(Equal("next")) })
		u.awaitApplied("early", "3")
		u.Expect(u.runner.done(u.namespace)).To(Equal([]string{"update early", "update early", "update early"}))
	})
	t.Run("a GitRepository that someone edits or deletes is restored", func(*testing.T) {
		repo := u.repo(u, "early")
		repo.Spec.URL = "https://evil.example.com/a.git"
		u.Expect(u.Update(u.ctx, repo)).To(Succeed())
		u.Eventually(func(g Gomega) { g.Expect(u.repo(g, "early").Spec.URL).To(Equal("https://git.example.com/a.git")) }).Should(Succeed())
		uid := repo.UID
		u.Expect(u.Delete(u.ctx, repo)).To(Succeed())
		u.Eventually(func(g Gomega) { g.Expect(u.repo(g, "early").UID).NotTo(Equal(uid)) }).Should(Succeed())
		u.fetched("early", "3")
		u.awaitReady("early")
	})
	t.Run("a Secret that someone deletes is recreated", func(*testing.T) {
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: u.namespace, Name: "early-git-auth"}}
		u.Expect(u.Delete(u.ctx, secret)).To(Succeed())
		u.Eventually(func() error { return u.Get(u.ctx, client.ObjectKeyFromObject(secret), secret) }).Should(Succeed())
		u.Expect(secret.Data).To(HaveKeyWithValue("password", []byte(gitToken)))
	})
	t.Run("a foreign object is waited for", func(*testing.T) {
		theirs := &sourcev1.GitRepository{ObjectMeta: metav1.ObjectMeta{Name: "late"}, Spec: sourcev1.GitRepositorySpec{URL: "https://theirs", Interval: metav1.Duration{Duration: time.Hour}}}
		u.create(theirs)
		u.createStack("late", fromRepo)
		u.Eventually(func() string { return conditions.GetMessage(u.stack("late"), meta.ReadyCondition) }).Should(ContainSubstring("already exists, and Stack"))
		u.Expect(u.Delete(u.ctx, theirs)).To(Succeed())
		u.fetched("late", "4", func(g Gomega, repo *sourcev1.GitRepository) {
			g.Expect(metav1.GetControllerOf(repo)).To(HaveField("Kind", v1.StackKind))
		})
		u.awaitApplied("late", "4")
	})
	t.Run("the longest name works", func(*testing.T) {
		name := strings.Repeat("n", 253)
		u.createStack(name, fromRepo, func(s *v1.Stack) { s.Spec.Stack = "dev" })
		u.fetched(name, "5")
		u.awaitApplied(name, "5")
	})
	t.Run("nothing is left of a deleted Stack", func(*testing.T) {
		u.Expect(u.Delete(u.ctx, u.stack("late"))).To(Succeed())
		u.Eventually(func(g Gomega) {
			for name, object := range map[string]client.Object{"late": &sourcev1.GitRepository{}, "late-git-auth": &corev1.Secret{}} {
				g.Expect(client.IgnoreNotFound(u.Get(u.ctx, client.ObjectKey{Namespace: u.namespace, Name: name}, object))).To(Succeed())
				g.Expect(object.GetUID()).To(BeEmpty())
			}
		}).Should(Succeed())
	})
}
