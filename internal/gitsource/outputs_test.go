// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package gitsource

import (
	"errors"
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/inputs"
)

func TestOutputsAreNotWrittenOverCredentials(t *testing.T) {
	out := key("out", "x")
	elsewhere := key("out", "x")
	elsewhere.Secret.Namespace = "other"
	for name, tt := range map[string]struct {
		to     string
		source v1.GitSource
		want   string
	}{
		"another Secret":                      {to: "out", source: v1.GitSource{GitAuthSecret: "git"}},
		"a Secret of another namespace":       {to: "out", source: v1.GitSource{GitAuth: &v1.GitAuth{PersonalAccessToken: &elsewhere}}},
		"gitAuthSecret":                       {to: "out", source: v1.GitSource{GitAuthSecret: "out"}, want: "reads the credentials"},
		"accessToken":                         {to: "out", source: v1.GitSource{GitAuth: &v1.GitAuth{PersonalAccessToken: &out}}, want: "reads the credentials"},
		"basicAuth":                           {to: "out", source: v1.GitSource{GitAuth: &v1.GitAuth{BasicAuth: &v1.GitBasicAuth{UserName: literal("me"), Password: out}}}, want: "reads the credentials"},
		"sshAuth":                             {to: "out", source: v1.GitSource{GitAuth: &v1.GitAuth{SSHAuth: &v1.GitSSHAuth{SSHPrivateKey: literal("k"), KnownHosts: &out}}}, want: "reads the credentials"},
		"githubApp":                           {to: "out", source: v1.GitSource{GitAuth: &v1.GitAuth{GitHubApp: &v1.GitHubAppAuth{PrivateKey: out}}}, want: "reads the credentials"},
		"the Secret of the GitRepository":     {to: "app-git-auth", want: "keeps the credentials for spec.projectRepo in Secret app-git-auth"},
		"the Secret of another GitRepository": {to: "other-git-auth"},
		"no outputs wanted":                   {},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			stack := &v1.Stack{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "app"}}
			stack.Spec.GitSource = tt.source
			stack.Spec.ProjectRepo = "https://git.example.com/a"
			if tt.to != "" {
				stack.Spec.WriteOutputsToSecret = &v1.OutputsSecret{Name: tt.to}
			}
			err := CheckOutputs(stack)
			if tt.want == "" {
				g.Expect(err).NotTo(HaveOccurred())
				return
			}
			var invalid *inputs.InvalidError
			g.Expect(errors.As(err, &invalid)).To(BeTrue())
			g.Expect(invalid.Field).To(Equal("spec.writeOutputsToSecret.name"))
			g.Expect(err).To(MatchError(ContainSubstring(tt.want)))
		})
	}
}
