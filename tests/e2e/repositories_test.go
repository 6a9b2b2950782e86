// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"strings"
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
	"github.com/flux-pulumi/pulumi-controller/tests/sources"
)

// gitPassword may be nowhere but in the Secrets of a test.
const gitPassword = "canary-of-the-git-password"

// repository creates a repository with a first commit, but no GitRepository.
func (t *tenant) repository(files sources.Files) (*sources.GitRepo, string) {
	t.test.Helper()
	repo, err := t.gitServer.NewRepo(t.ctx, t.namespace)
	t.Expect(err).NotTo(HaveOccurred())
	return repo, t.commitTo(repo, files)
}

func (t *tenant) commitTo(repo *sources.GitRepo, files sources.Files) string {
	t.test.Helper()
	commit, err := repo.Commit(t.ctx, files, "a commit")
	t.Expect(err).NotTo(HaveOccurred())
	return commit
}

// guarded puts a password in front of the git server.
func (t *tenant) guarded(user string) *sources.GuardedGit {
	t.test.Helper()
	guarded, err := sources.NewGuardedGit(t.gitServer, user, gitPassword)
	t.Expect(err).NotTo(HaveOccurred())
	t.test.Cleanup(func() { _ = guarded.Close() })
	return guarded
}

// onBranch makes a Stack take its program from the branch of a repository.
func onBranch(url string, auth *v1.GitAuth) func(*v1.Stack) {
	return func(s *v1.Stack) { s.Spec.ProjectRepo, s.Spec.Branch, s.Spec.GitAuth = url, sources.Branch, auth }
}

// keptRepository is the GitRepository that the controller keeps for a Stack named app.
func (t *tenant) keptRepository() *sourcev1.GitRepository {
	return &sourcev1.GitRepository{ObjectMeta: metav1.ObjectMeta{Namespace: t.namespace, Name: "app"}}
}

// gitSecret is a Secret with the password under the key.
func (t *tenant) gitSecret(key string) *corev1.Secret {
	t.test.Helper()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "git"}, StringData: map[string]string{key: gitPassword}}
	t.apply(secret)
	return secret
}

func refTo(name, key string) *v1.ResourceRef {
	ref := secretKey(name, key)
	return &ref
}

func TestABranchOfARepositoryIsAppliedAndFollowed(t *testing.T) {
	t.Parallel()
	u := newTenant(t, shared)
	// source-controller excludes images by default, and whatever a .sourceignore names.
	files := both(in("infra", project("lab", oneThing("one"))), sources.Files{".sourceignore": "/*\n", "infra/logo.png": "x"})
	repo, first := u.repository(files)
	stack := u.stack(onBranch(repo.URL(), nil), destroyed, func(s *v1.Stack) { s.Spec.RepoDir = "infra" })
	u.apply(stack)
	u.awaitReady(stack, atRevision(revisionOf(first)))
	u.showsThe("one", stack)
	u.Expect(stack.Status.GitRepository).To(Equal("app"))

	second := u.commitTo(repo, in("infra", project("lab", oneThing("two"))))
	request(u, stack)
	u.awaitReady(stack, atRevision(revisionOf(second)))
	u.showsThe("two", stack)

	edit(u, stack, func(s *v1.Stack) { s.Spec.Branch, s.Spec.Commit = "", first })
	u.awaitReady(stack, atRevision("sha1:"+first))
	u.showsThe("one", stack)
	u.Expect(stack.Status.LastUpdate.LastSuccessfulCommit).To(Equal(first))

	u.delete(stack)
	u.awaitGone(stack)
	u.awaitGone(u.keptRepository())
	u.Expect(u.things()).To(BeEmpty())
}

func TestAPrivateRepositoryIsReadWithAToken(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	repo, first := u.repository(project("lab", oneThing("one")))
	guarded := u.guarded("")
	secret := u.gitSecret("accessToken")
	stack := u.stack(onBranch(guarded.URLOf(repo), &v1.GitAuth{PersonalAccessToken: refTo("git", "accessToken")}))
	u.apply(stack)
	u.awaitReady(stack, atRevision(revisionOf(first)))

	guarded.SetPassword("another-password")
	second := u.commitTo(repo, project("lab", oneThing("two")))
	edit(u, secret, func(s *corev1.Secret) { s.Data["accessToken"] = []byte("another-password") })
	u.awaitReady(stack, atRevision(revisionOf(second)))
	u.showsThe("two", stack)
}

func TestAPrivateRepositoryIsReadWithATokenInItsURL(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	repo, first := u.repository(project("lab", oneThing("one")))
	guarded := u.guarded("")
	guarded.TakeToken()
	withToken := strings.Replace(guarded.URLOf(repo), "://", "://"+gitPassword+"@", 1)
	stack := u.stack(onBranch(withToken, nil))
	u.apply(stack)
	u.awaitReady(stack, atRevision(revisionOf(first)))
	u.showsThe("one", stack)
	kept := u.keptRepository()
	u.Expect(u.Get(u.ctx, client.ObjectKeyFromObject(kept), kept)).To(Succeed())
	u.Expect(kept.Spec.URL).To(Equal(guarded.URLOf(repo)))
	for _, event := range u.events(u, stack.Name) {
		u.Expect(event.Message).NotTo(ContainSubstring(gitPassword))
	}
}

func TestAWrongPasswordIsReportedAndNotShown(t *testing.T) {
	t.Parallel()
	u := newTenant(t, shared)
	repo, first := u.repository(project("lab", oneThing("one")))
	guarded := u.guarded("me")
	u.gitSecret("password")
	user := literal("someone")
	stack := u.stack(onBranch(guarded.URLOf(repo), &v1.GitAuth{BasicAuth: &v1.GitBasicAuth{UserName: user, Password: secretKey("git", "password")}}))
	u.apply(stack)
	u.awaitFailure(stack, meta.ArtifactFailedReason, "source 'GitRepository/"+u.namespace+"/app' cannot fetch", "authentication required")
	for _, event := range u.events(u, stack.Name) {
		u.Expect(event.Message).NotTo(ContainSubstring(gitPassword))
	}
	edit(u, stack, func(s *v1.Stack) { s.Spec.GitAuth.BasicAuth.UserName = literal("me") })
	u.awaitReady(stack, atRevision(revisionOf(first)))
}

func TestARepositoryIsReadOverSSH(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	repo, first := u.repository(project("lab", oneThing("one")))
	server, err := sources.NewSSHGit(u.gitServer, gitPassword)
	u.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _ = server.Close() })
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "git"}, StringData: map[string]string{
		"identity": server.PrivateKey(), "password": gitPassword,
	}}
	u.apply(secret)
	stack := u.stack(onBranch(server.URLOf(repo), &v1.GitAuth{SSHAuth: &v1.GitSSHAuth{
		SSHPrivateKey: secretKey("git", "identity"), Password: refTo("git", "password"),
	}}))
	u.apply(stack)
	u.awaitFailure(stack, v1.InputsFailedReason, "ssh-keyscan -p ", `key known_hosts of Secret "git"`)
	u.Expect(u.pulumiCalls()).To(BeEmpty())

	edit(u, secret, func(s *corev1.Secret) { s.Data["known_hosts"] = []byte(server.KnownHosts()) })
	u.awaitReady(stack, atRevision(revisionOf(first)))
	u.showsThe("one", stack)
}

func TestARepositoryIsReadByAnAppOfGitHub(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	repo, first := u.repository(project("lab", oneThing("one")))
	guarded := u.guarded("x-access-token")
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	u.Expect(err).NotTo(HaveOccurred())
	u.apply(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "app-key"}, Data: map[string][]byte{
		"key": pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(private)}),
	}})
	stack := u.stack(onBranch(guarded.URLOf(repo), &v1.GitAuth{GitHubApp: &v1.GitHubAppAuth{
		AppID: literal("1"), InstallationID: literal("2"), PrivateKey: secretKey("app-key", "key"),
	}}))
	u.apply(stack)
	u.awaitReady(stack, atRevision(revisionOf(first)))
	u.showsThe("one", stack)
}
