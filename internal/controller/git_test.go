// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"strings"
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

const gitToken = "canary-of-the-token"

// gitWorld is a world with a Stack of a private repository. The test plays
// source-controller.
type gitWorld struct {
	*world
	*WithT
	ctx context.Context
}

func newGitWorld(t *testing.T, objects ...client.Object) *gitWorld {
	t.Helper()
	stack := &v1.Stack{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "app", UID: "uid-of-app", Generation: 1}}
	stack.Spec.Stack, stack.Spec.Backend, stack.Spec.DestroyOnFinalize = "dev", "file:///state", true
	stack.Spec.ProjectRepo, stack.Spec.Branch, stack.Spec.RepoDir = "https://git.example.com/a.git", "main", "infra"
	stack.Spec.GitAuth = &v1.GitAuth{PersonalAccessToken: &v1.ResourceRef{
		Type: v1.ResourceRefSecret, Secret: &v1.SecretKeyReference{Name: "token", Key: "token"},
	}}
	token := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "token", UID: "uid-of-token"}, Data: map[string][]byte{"token": []byte(gitToken)}}
	w := newWorld(t, append(objects, stack, token)...)
	return &gitWorld{world: w, WithT: NewWithT(t), ctx: context.Background()}
}

func (w *gitWorld) repo() *sourcev1.GitRepository {
	repo := &sourcev1.GitRepository{}
	w.Expect(w.Get(w.ctx, key, repo)).To(Succeed())
	return repo
}

func (w *gitWorld) secret() *corev1.Secret {
	secret := &corev1.Secret{}
	w.Expect(w.Get(w.ctx, client.ObjectKey{Namespace: "default", Name: "app-git-auth"}, secret)).To(Succeed())
	return secret
}

// fetch makes the repository fetch a revision for its current generation.
func (w *gitWorld) fetch(revision string) {
	repo := w.repo()
	repo.Status.LastHandledReconcileAt = repo.Annotations[meta.ReconcileRequestAnnotation]
	repo.Status.Artifact = &meta.Artifact{URL: "http://source/" + revision, Digest: "sha256:" + revision, Revision: "main@sha1:" + revision}
	repo.Status.Conditions = []metav1.Condition{{Type: sourcev1.ArtifactInStorageCondition, Status: metav1.ConditionTrue, ObservedGeneration: repo.Generation}}
	w.Expect(w.Update(w.ctx, repo)).To(Succeed())
}

// edited increments the generation, as the API server does when a spec changes.
func (w *gitWorld) edited() {
	repo := w.repo()
	repo.Generation++
	w.Expect(w.Update(w.ctx, repo)).To(Succeed())
}

// settle runs the program at the revision.
func (w *gitWorld) settle(revision string) {
	w.mustReconcile()
	w.fetch(revision)
	w.finish()
}

func (w *gitWorld) finish() {
	w.mustReconcile()
	w.Expect(w.stack().Status.Run).NotTo(BeNil(), "%v", w.stack().Status.Conditions)
	w.runner.end(w.stack().Status.Run.ID, run.Succeeded, "")
	w.mustReconcile()
	w.mustReconcile()
	w.Expect(conditions.IsReady(w.stack())).To(BeTrue())
}

func (w *gitWorld) message() string { return conditions.GetMessage(w.stack(), meta.ReadyCondition) }

func TestARepositoryIsKeptAndRun(t *testing.T) {
	w := newGitWorld(t)
	w.mustReconcile()
	repo, secret := w.repo(), w.secret()
	w.Expect(metav1.IsControlledBy(repo, w.stack())).To(BeTrue())
	w.Expect(*repo.OwnerReferences[0].BlockOwnerDeletion).To(BeFalse())
	w.Expect(repo.Spec.URL).To(Equal("https://git.example.com/a.git"))
	w.Expect(repo.Spec.SecretRef.Name).To(Equal(secret.Name))
	w.Expect(metav1.IsControlledBy(secret, w.stack())).To(BeTrue())
	w.Expect(secret.Data).To(Equal(map[string][]byte{"username": []byte("git"), "password": []byte(gitToken)}))
	w.Expect(w.stack().Status.GitRepository).To(Equal("app"))
	w.Expect(w.message()).To(ContainSubstring("has not fetched"))
	w.Expect(w.runner.started).To(BeZero())
	w.Expect(w.events.lines).To(HaveEach(HavePrefix("Trace")))

	w.fetch("one")
	w.finish()
	w.Expect(w.stack().Status.LastAppliedRevision).To(Equal("main@sha1:one"))
	w.Expect(w.runner.started).To(Equal(1))
}

func TestAnUpToDateGitRepositoryIsNotWritten(t *testing.T) {
	w := newGitWorld(t)
	w.settle("one")
	stack, repo, secret := w.stack().ResourceVersion, w.repo().ResourceVersion, w.secret().ResourceVersion
	w.mustReconcile()
	w.Expect([]string{w.stack().ResourceVersion, w.repo().ResourceVersion, w.secret().ResourceVersion}).To(Equal([]string{stack, repo, secret}))
}

func TestTheArtifactOfAnEarlierSpecIsNotRun(t *testing.T) {
	w := newGitWorld(t)
	w.settle("one")
	w.edit(func(s *v1.Stack) { s.Spec.Branch, s.Generation = "next", 2 })
	w.mustReconcile()
	w.Expect(w.repo().Spec.Reference.Branch).To(Equal("next"))
	w.edited()
	w.mustReconcile()
	w.Expect(w.runner.started).To(Equal(1))
	w.Expect(w.message()).To(ContainSubstring("has not fetched"))
	w.fetch("two")
	w.finish()
	w.Expect(w.runner.started).To(Equal(2))
}

func TestErrorsOfTheGitServerContainNoCredentials(t *testing.T) {
	w := newGitWorld(t)
	w.mustReconcile()
	repo := w.repo()
	repo.Status.Conditions = []metav1.Condition{{Type: sourcev1.FetchFailedCondition, Status: metav1.ConditionTrue, Message: "authentication with " + gitToken + " failed"}}
	w.Expect(w.Update(w.ctx, repo)).To(Succeed())
	w.mustReconcile()
	w.Expect(w.message()).To(ContainSubstring("authentication with *** failed"))
	w.Expect(w.events.lines).To(ContainElement(HavePrefix("Warning ArtifactFailed")))
}

func TestANewTokenIsUsedAtOnce(t *testing.T) {
	w := newGitWorld(t)
	w.settle("one")
	var token corev1.Secret
	w.Expect(w.Get(w.ctx, client.ObjectKey{Namespace: "default", Name: "token"}, &token)).To(Succeed())
	token.Data["token"] = []byte("another")
	w.Expect(w.Update(w.ctx, &token)).To(Succeed())
	w.mustReconcile()
	w.Expect(w.secret().Data).To(HaveKeyWithValue("password", []byte("another")))
	asked := w.repo().Annotations[meta.ReconcileRequestAnnotation]
	w.Expect(asked).NotTo(BeEmpty())
	w.Expect(asked).NotTo(Equal(w.repo().Status.LastHandledReconcileAt))
}

func TestARequestMakesTheRepositoryFetchFirst(t *testing.T) {
	w := newGitWorld(t)
	w.settle("one")
	w.edit(func(s *v1.Stack) { s.Annotations = map[string]string{meta.ReconcileRequestAnnotation: "now"} })
	w.mustReconcile()
	w.Expect(w.repo().Annotations).To(HaveKeyWithValue(meta.ReconcileRequestAnnotation, "now"))
	w.mustReconcile()
	w.Expect(w.runner.started).To(Equal(1))
	w.Expect(w.stack().Status.GetLastHandledReconcileRequest()).NotTo(Equal("now"), "who waits for the answer would take the fetch for a failure")
	w.Expect(conditions.GetReason(w.stack(), meta.ReconcilingCondition)).To(Equal(meta.ProgressingReason), "that of a retry is one, too")
	w.fetch("two")
	w.finish()
	w.Expect(w.runner.started).To(Equal(2))
	w.Expect(w.stack().Status.GetLastHandledReconcileRequest()).To(Equal("now"))
	w.Expect(w.stack().Status.LastAppliedRevision).To(Equal("main@sha1:two"))
}

func TestDriftOfARepositoryIsUndone(t *testing.T) {
	w := newGitWorld(t)
	w.settle("one")
	repo, secret := w.repo(), w.secret()
	repo.Spec.URL, repo.Spec.RecurseSubmodules = "https://evil.example.com/a.git", true
	secret.Data = map[string][]byte{"password": []byte("x"), "more": []byte("y")}
	w.Expect(w.Update(w.ctx, repo)).To(Succeed())
	w.Expect(w.Update(w.ctx, secret)).To(Succeed())
	w.mustReconcile()
	w.Expect(w.repo().Spec.URL).To(Equal("https://git.example.com/a.git"))
	w.Expect(w.repo().Spec.RecurseSubmodules).To(BeFalse())
	w.Expect(w.secret().Data).To(HaveLen(2))
}

func TestASuspendedStackPollsNothing(t *testing.T) {
	w := newGitWorld(t)
	w.settle("one")
	w.edit(func(s *v1.Stack) { s.Spec.Suspend = true })
	w.mustReconcile()
	w.Expect(w.repo().Spec.Suspend).To(BeTrue())
	w.edit(func(s *v1.Stack) { s.Spec.Suspend = false })
	w.mustReconcile()
	w.Expect(w.repo().Spec.Suspend).To(BeFalse())
}

// inTheWay returns an object of another owner for each name that the Stack needs.
func inTheWay() map[string]client.Object {
	return map[string]client.Object{
		"GitRepository": &sourcev1.GitRepository{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "app"}, Spec: sourcev1.GitRepositorySpec{URL: "https://theirs"}},
		"Secret":        &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "app-git-auth"}, Data: map[string][]byte{"theirs": nil}},
	}
}

func TestAnObjectThatTheStackDoesNotOwnIsLeftAlone(t *testing.T) {
	for kind, object := range inTheWay() {
		t.Run(kind, func(t *testing.T) {
			w := newGitWorld(t, object)
			w.mustReconcile()
			w.Expect(w.message()).To(HavePrefix(kind + " default/" + object.GetName() + " already exists, and Stack"))
			w.Expect(strings.Contains(w.message(), "use it in spec.fluxSource")).To(Equal(kind == "GitRepository"), w.message())
			before := object.GetResourceVersion()
			w.Expect(w.Get(w.ctx, client.ObjectKeyFromObject(object), object)).To(Succeed())
			w.Expect(before).To(Or(BeEmpty(), Equal(object.GetResourceVersion())))
			w.edit(func(s *v1.Stack) {
				s.Spec.ProjectRepo, s.Spec.Branch, s.Spec.GitAuth = "", "", nil
				s.Spec.ProgramRef = &v1.ProgramReference{Name: "app"}
			})
			w.mustReconcile()
			w.Expect(w.Get(w.ctx, client.ObjectKeyFromObject(object), object)).To(Succeed())
		})
	}
}

func (w *gitWorld) expectNothingKept() {
	w.t.Helper()
	w.Expect(apierrors.IsNotFound(w.Get(w.ctx, key, &sourcev1.GitRepository{}))).To(BeTrue())
	w.Expect(apierrors.IsNotFound(w.Get(w.ctx, client.ObjectKey{Namespace: "default", Name: "app-git-auth"}, &corev1.Secret{}))).To(BeTrue())
}

func TestWhatWasKeptForARemovedProjectRepoIsDeleted(t *testing.T) {
	w := newGitWorld(t, &v1.Program{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "app", Generation: 1}})
	w.settle("one")
	w.edit(func(s *v1.Stack) {
		s.Spec.ProjectRepo, s.Spec.Branch, s.Spec.RepoDir, s.Spec.GitAuth = "", "", "", nil
		s.Spec.ProgramRef = &v1.ProgramReference{Name: "app"}
	})
	w.mustReconcile()
	w.expectNothingKept()
	w.Expect(w.stack().Status.GitRepository).To(BeEmpty())
}

func TestAPublicRepositoryNeedsNoSecret(t *testing.T) {
	w := newGitWorld(t)
	w.settle("one")
	w.edit(func(s *v1.Stack) { s.Spec.GitAuth = nil })
	w.mustReconcile()
	w.Expect(w.repo().Spec.SecretRef).To(BeNil())
	w.Expect(apierrors.IsNotFound(w.Get(w.ctx, client.ObjectKey{Namespace: "default", Name: "app-git-auth"}, &corev1.Secret{}))).To(BeTrue())
}

// A destroy that runs the program needs the source to the end.
func TestTheRepositoryStaysUntilTheStackIsDestroyed(t *testing.T) {
	w := newGitWorld(t)
	w.edit(func(s *v1.Stack) { s.Spec.RunProgram = true })
	w.settle("one")
	w.Expect(w.Delete(w.ctx, w.stack())).To(Succeed())
	w.mustReconcile()
	w.Expect(w.stack().Status.Run.Operation).To(Equal(v1.OperationDestroy))
	w.repo()
	w.runner.end(w.stack().Status.Run.ID, run.Succeeded, "")
	w.mustReconcile()
	w.mustReconcile()
	w.expectNothingKept()
}

func TestATokenInTheURLIsUsedAndNotShown(t *testing.T) {
	w := newGitWorld(t)
	w.edit(func(s *v1.Stack) {
		s.Spec.ProjectRepo, s.Spec.GitAuth = "https://"+gitToken+"@git.example.com/a.git", nil
	})
	w.mustReconcile()
	w.Expect(w.secret().Data).To(HaveKeyWithValue("username", []byte(gitToken)))
	repo := w.repo()
	w.Expect(repo.Spec.URL).To(Equal("https://git.example.com/a.git"))
	repo.Status.Conditions = []metav1.Condition{{Type: sourcev1.FetchFailedCondition, Status: metav1.ConditionTrue, Message: "no entry for " + gitToken}}
	w.Expect(w.Update(w.ctx, repo)).To(Succeed())
	w.mustReconcile()
	w.Expect(w.message()).To(ContainSubstring("no entry for ***"))
	w.Expect(w.events.lines).NotTo(ContainElement(ContainSubstring(gitToken)))
}

func TestAStackThatWritesItsOutputsOverCredentialsIsRefused(t *testing.T) {
	for _, name := range []string{"token", "app-git-auth"} {
		t.Run(name, func(t *testing.T) {
			w := newGitWorld(t)
			w.edit(func(s *v1.Stack) { s.Spec.WriteOutputsToSecret = &v1.OutputsSecret{Name: name} })
			w.mustReconcile()
			w.Expect(conditions.IsStalled(w.stack())).To(BeTrue())
			w.Expect(conditions.GetReason(w.stack(), meta.ReadyCondition)).To(Equal(v1.InvalidSpecReason))
			w.Expect(w.message()).To(ContainSubstring("spec.writeOutputsToSecret.name: "))
			w.expectNothingKept()
		})
	}
}
