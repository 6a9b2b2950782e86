// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package gitsource

import (
	"testing"
	"time"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

func TestSpec(t *testing.T) {
	const commit = "0123456789abcdef0123456789abcdef01234567"
	for name, c := range map[string]struct {
		branch, commit string
		interval       time.Duration
		want           sourcev1.GitRepositoryRef
		wantInterval   time.Duration
		wantTimeout    time.Duration
	}{
		"a branch":         {branch: "main", want: sourcev1.GitRepositoryRef{Branch: "main"}, wantInterval: 10 * time.Minute, wantTimeout: time.Minute},
		"a branch in full": {branch: "refs/heads/team/main", interval: time.Hour, want: sourcev1.GitRepositoryRef{Branch: "team/main"}, wantInterval: time.Hour, wantTimeout: time.Minute},
		"a tag":            {branch: "refs/tags/v1", want: sourcev1.GitRepositoryRef{Name: "refs/tags/v1"}, wantInterval: 10 * time.Minute, wantTimeout: time.Minute},
		"a commit":         {commit: commit, want: sourcev1.GitRepositoryRef{Commit: commit}, wantInterval: 24 * time.Hour, wantTimeout: 5 * time.Minute},
		"a commit, in capitals": {commit: "ABCDEF6789abcdef0123456789abcdef01234567", interval: 48 * time.Hour,
			want: sourcev1.GitRepositoryRef{Commit: "abcdef6789abcdef0123456789abcdef01234567"}, wantInterval: 48 * time.Hour, wantTimeout: 5 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			stack := &v1.Stack{ObjectMeta: metav1.ObjectMeta{Name: "app"}}
			stack.Spec.Branch, stack.Spec.Commit = c.branch, c.commit
			stack.Spec.Interval = &metav1.Duration{Duration: c.interval}
			spec := Spec(stack, Remote{URL: "https://h/a"}, Credentials{})
			g.Expect(*spec.Reference).To(Equal(c.want))
			g.Expect(spec.Interval.Duration).To(Equal(c.wantInterval))
			g.Expect(spec.Timeout.Duration).To(Equal(c.wantTimeout))
			g.Expect(spec.URL).To(Equal("https://h/a"))
			g.Expect(spec.SecretRef).To(BeNil())
			g.Expect(spec.Suspend).To(BeFalse())

			spec = Spec(stack, Remote{}, Credentials{Provider: "github", Data: map[string][]byte{}})
			g.Expect(spec.SecretRef.Name).To(Equal("app-git-auth"))
			g.Expect(spec.Provider).To(Equal("github"))
		})
	}
}

func TestSecretRefs(t *testing.T) {
	g := NewWithT(t)
	stack := &v1.Stack{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "app"}}
	stack.Spec.GitAuthSecret = "old"
	g.Expect(SecretRefs(stack)).To(BeEmpty())
	stack.Spec.ProjectRepo = "https://h/a"
	elsewhere := key("ssh", "id")
	elsewhere.Secret.Namespace = "other"
	stack.Spec.GitAuth = &v1.GitAuth{
		PersonalAccessToken: pointer(key("one", "a")),
		SSHAuth:             &v1.GitSSHAuth{SSHPrivateKey: elsewhere, Password: pointer(literal("x")), KnownHosts: pointer(key("hosts", "a"))},
		BasicAuth:           &v1.GitBasicAuth{UserName: key("one", "b"), Password: key("one", "c")},
		GitHubApp:           &v1.GitHubAppAuth{AppID: literal("1"), InstallationID: literal("2"), PrivateKey: key("app", "a")},
	}
	var want []types.NamespacedName
	for _, name := range []string{"app", "app-git-auth", "hosts", "old", "one"} {
		want = append(want, types.NamespacedName{Namespace: "team", Name: name})
	}
	g.Expect(SecretRefs(stack)).To(ConsistOf(append(want, types.NamespacedName{Namespace: "other", Name: "ssh"})))
}
