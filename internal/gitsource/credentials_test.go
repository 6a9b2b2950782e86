// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package gitsource

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/inputs"
)

// someSecrets implements Values with Secrets and literals.
type someSecrets map[string]map[string]string

func (s someSecrets) Value(_ context.Context, field string, ref v1.ResourceRef) (string, error) {
	if ref.Type == v1.ResourceRefLiteral {
		return ref.Literal.Value, nil
	}
	value, ok := s[ref.Secret.Name][ref.Secret.Key]
	if !ok {
		return "", &inputs.MissingError{Field: field, Kind: "Secret"}
	}
	return value, nil
}

func (s someSecrets) Data(_ context.Context, _, _, name string) (map[string][]byte, error) {
	data := map[string][]byte{}
	for key, value := range s[name] {
		data[key] = []byte(value)
	}
	return data, nil
}

func literal(value string) v1.ResourceRef {
	return v1.ResourceRef{Type: v1.ResourceRefLiteral, Literal: &v1.LiteralValue{Value: value}}
}

func key(secret, key string) v1.ResourceRef {
	return v1.ResourceRef{Type: v1.ResourceRefSecret, Secret: &v1.SecretKeyReference{Name: secret, Key: key}}
}

func pointer(ref v1.ResourceRef) *v1.ResourceRef { return &ref }

var secretsOfTests = someSecrets{
	"deploy":  {"id": "KEY", "pass": "PASS"},
	"hosts":   {"id": "KEY", "known_hosts": "git.example.com ssh-ed25519 AAAA"},
	"token":   {"accessToken": "TOKEN\n", "username": "me", "password": "pw"},
	"basic":   {"username": "me", "password": "pw"},
	"ssh":     {"sshPrivateKey": "KEY", "password": "PASS", "known_hosts": "h k v"},
	"sshOnly": {"sshPrivateKey": "KEY"},
	"empty":   {},
}

type auth struct {
	url    string
	source v1.GitSource
	want   map[string]string
	// provider, or part of the error.
	provider, err string
}

func auths() map[string]auth {
	const https, ssh = "https://git.example.com/a", "ssh://git@git.example.com:2222/a"
	withAuth := func(a v1.GitAuth) v1.GitSource { return v1.GitSource{GitAuth: &a} }
	basic := &v1.GitBasicAuth{UserName: key("basic", "username"), Password: key("basic", "password")}
	app := &v1.GitHubAppAuth{AppID: literal("1"), InstallationID: literal("2"), PrivateKey: literal("APP\n")}
	return map[string]auth{
		"none":                        {url: https},
		"none, over ssh":              {url: ssh, err: "spec.gitAuth: is required"},
		"in the URL":                  {url: "https://me:pw@h/a", want: map[string]string{"username": "me", "password": "pw"}},
		"a password without a user":   {url: "https://:pw@h/a", want: map[string]string{"username": "git", "password": "pw"}},
		"a token in the URL":          {url: "https://TOKEN@h/a", want: map[string]string{"username": "TOKEN", "password": ""}},
		"a token and a colon":         {url: "https://TOKEN:@h/a", want: map[string]string{"username": "TOKEN", "password": ""}},
		"a token in the URL, encoded": {url: "https://TO%2FKEN@h/a", want: map[string]string{"username": "TO/KEN", "password": ""}},
		"the owner in the URL":        {url: "https://Org@dev.azure.com/org/p/_git/r"},
		"git in the URL":              {url: "https://git@h/a"},
		"a token":                     {url: https, source: withAuth(v1.GitAuth{PersonalAccessToken: pointer(key("token", "accessToken"))}), want: map[string]string{"username": "git", "password": "TOKEN"}},
		"a token and its user": {url: "https://x-token-auth@bitbucket.org/a/b", source: withAuth(v1.GitAuth{PersonalAccessToken: pointer(literal("TOKEN"))}),
			want: map[string]string{"username": "x-token-auth", "password": "TOKEN"}},
		"a token takes the place of what is in the URL": {url: "https://me:old@h/a", source: withAuth(v1.GitAuth{PersonalAccessToken: pointer(literal("TOKEN"))}),
			want: map[string]string{"username": "me", "password": "TOKEN"}},
		"basic": {url: https, source: withAuth(v1.GitAuth{BasicAuth: basic}), want: map[string]string{"username": "me", "password": "pw"}},
		"a token before basic": {url: https, source: withAuth(v1.GitAuth{BasicAuth: basic, PersonalAccessToken: pointer(literal("TOKEN"))}),
			want: map[string]string{"username": "git", "password": "TOKEN"}},
		"a key that does not fit, before basic": {url: https, source: withAuth(v1.GitAuth{BasicAuth: basic, SSHAuth: &v1.GitSSHAuth{SSHPrivateKey: literal("KEY")}}),
			want: map[string]string{"username": "me", "password": "pw"}},
		"a password without a name": {url: https, source: withAuth(v1.GitAuth{BasicAuth: &v1.GitBasicAuth{UserName: literal(""), Password: literal("TOKEN")}}),
			want: map[string]string{"username": "git", "password": "TOKEN"}},
		"a token that is empty": {url: https, source: withAuth(v1.GitAuth{PersonalAccessToken: pointer(literal("\n"))}), err: "spec.gitAuth.accessToken: the value is empty"},
		"a password that is empty": {url: https, source: withAuth(v1.GitAuth{BasicAuth: &v1.GitBasicAuth{UserName: literal("me"), Password: literal("")}}),
			err: "spec.gitAuth.basicAuth.password: the value is empty"},
		"a key that is empty":   {url: ssh, source: withAuth(v1.GitAuth{SSHAuth: &v1.GitSSHAuth{SSHPrivateKey: literal("")}}), err: "spec.gitAuth.sshAuth.sshPrivateKey: the value is empty"},
		"a key over https":      {url: https, source: withAuth(v1.GitAuth{SSHAuth: &v1.GitSSHAuth{SSHPrivateKey: literal("KEY")}}), err: "has an ssh key only"},
		"a token over ssh":      {url: ssh, source: withAuth(v1.GitAuth{PersonalAccessToken: pointer(literal("TOKEN"))}), err: "needs sshAuth"},
		"gitAuth with nothing":  {url: https, source: withAuth(v1.GitAuth{}), err: "has no credentials"},
		"a Secret that is gone": {url: https, source: withAuth(v1.GitAuth{PersonalAccessToken: pointer(key("gone", "x"))}), err: "spec.gitAuth.accessToken"},
		"a key of github.com":   {url: "git@github.com:a/b", source: withAuth(v1.GitAuth{SSHAuth: &v1.GitSSHAuth{SSHPrivateKey: key("deploy", "id"), Password: pointer(key("deploy", "pass"))}}), want: map[string]string{"identity": "KEY", "password": "PASS", "known_hosts": publishedHosts(Remote{Host: "github.com"})}},
		"a key of another host": {url: ssh, source: withAuth(v1.GitAuth{SSHAuth: &v1.GitSSHAuth{SSHPrivateKey: key("deploy", "id")}}), err: `"ssh-keyscan -p 2222 git.example.com" with the keys that the server's operator publishes, then put it into spec.gitAuth.sshAuth.knownHosts, or into the key known_hosts of Secret "deploy"`},
		"known_hosts beside it": {url: ssh, source: withAuth(v1.GitAuth{SSHAuth: &v1.GitSSHAuth{SSHPrivateKey: key("hosts", "id")}}), want: map[string]string{"identity": "KEY", "known_hosts": "git.example.com ssh-ed25519 AAAA"}},
		"knownHosts of its own": {url: ssh, source: withAuth(v1.GitAuth{SSHAuth: &v1.GitSSHAuth{SSHPrivateKey: key("hosts", "id"), KnownHosts: pointer(literal("mine"))}}), want: map[string]string{"identity": "KEY", "known_hosts": "mine"}},
		"an app of GitHub":      {url: "https://github.com/a/b", source: withAuth(v1.GitAuth{GitHubApp: app}), provider: "github", want: map[string]string{"githubAppID": "1", "githubAppInstallationID": "2", "githubAppPrivateKey": "APP"}},
		"an app of an enterprise": {url: "https://ghe.example.com:8443/a/b", source: withAuth(v1.GitAuth{GitHubApp: app}), provider: "github",
			want: map[string]string{"githubAppID": "1", "githubAppInstallationID": "2", "githubAppPrivateKey": "APP", "githubAppBaseURL": "https://ghe.example.com:8443/api/v3"}},
		"an app with data residency": {url: "https://octo.ghe.com/a/b", source: withAuth(v1.GitAuth{GitHubApp: app}), provider: "github",
			want: map[string]string{"githubAppID": "1", "githubAppInstallationID": "2", "githubAppPrivateKey": "APP", "githubAppBaseURL": "https://api.octo.ghe.com"}},
		"a Secret with a token":            {url: https, source: v1.GitSource{GitAuthSecret: "token"}, want: map[string]string{"username": "git", "password": "TOKEN"}},
		"a Secret with a user":             {url: https, source: v1.GitSource{GitAuthSecret: "basic"}, want: map[string]string{"username": "me", "password": "pw"}},
		"a Secret with a key":              {url: ssh, source: v1.GitSource{GitAuthSecret: "ssh"}, want: map[string]string{"identity": "KEY", "password": "PASS", "known_hosts": "h k v"}},
		"a Secret with a key and no hosts": {url: ssh, source: v1.GitSource{GitAuthSecret: "sshOnly"}, err: `into the key known_hosts of Secret "sshOnly"`},
		"a Secret without a key, over ssh": {url: ssh, source: v1.GitSource{GitAuthSecret: "token"}, err: "needs the key sshPrivateKey"},
		"an empty Secret":                  {url: https, source: v1.GitSource{GitAuthSecret: "empty"}, err: "needs the key accessToken, or username and password"},
		"gitAuth before gitAuthSecret":     {url: https, source: v1.GitSource{GitAuthSecret: "basic", GitAuth: &v1.GitAuth{PersonalAccessToken: pointer(literal("TOKEN"))}}, want: map[string]string{"username": "git", "password": "TOKEN"}},
	}
}

func TestCredentials(t *testing.T) {
	for name, c := range auths() {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			remote, err := ParseURL(c.url)
			g.Expect(err).NotTo(HaveOccurred())
			got, err := Resolve(context.Background(), secretsOfTests, c.source, remote)
			if c.err != "" {
				g.Expect(err).To(MatchError(ContainSubstring(c.err)))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(got.Provider).To(Equal(c.provider))
			text := map[string]string{}
			for key, value := range got.Data {
				text[key] = string(value)
			}
			if c.want == nil {
				c.want = map[string]string{}
			}
			g.Expect(text).To(Equal(c.want))
		})
	}
}

// Whether a host is known may change without an edit of the spec.
func TestAnUnknownHostIsNoFaultOfTheSpec(t *testing.T) {
	g := NewWithT(t)
	_, err := Resolve(context.Background(), secretsOfTests, v1.GitSource{GitAuthSecret: "sshOnly"}, Remote{Scheme: "ssh", Host: "h"})
	var unusable *inputs.UnusableError
	g.Expect(errors.As(err, &unusable)).To(BeTrue())
}

// The fingerprints are those that the three hosts publish beside their keys.
func TestPublishedKeys(t *testing.T) {
	want := map[string][]string{
		"github.com": {"+DiY3wvvV6TuJJhbpZisF/zLDA0zPMSvHdkr4UvCOqU", "p2QAMXNIC1TJYWeIOttrVc98/R1BUFWu3/LiyKgUfQM",
			"uNiVztksCsDhcc0u9e8BujQXVUpKZIDTMczCvj3tD2s"},
		"gitlab.com": {"eUXGGm1YGsMAS7vkcx6JOJdOGHPem5gQp4taiCfCLB8", "HbW3g8zUjNSksFbqTiUWPWg2Bq1x8xdGUrliXFzSnUw",
			"ROQFvPThGrW4RuWLoL9tq9I9zJ42fK4XywyRtbOz/EQ"},
		"bitbucket.org": {"ybgmFkzwOSotHTHLJgHO0QN8L0xErw6vd0VhFA9m3SM", "FC73VB6C4OQLSCrjEayhMp9UMxS97caD/Yyi2bhW/J0",
			"46OSHA1Rmj8E8ERTC6xkNcmGOw9oFxYr0WF6zWW8l1E"},
	}
	g := NewWithT(t)
	g.Expect(publishedKeys()).To(HaveLen(len(want)))
	for host, fingerprints := range want {
		var got []string
		for _, line := range publishedKeys()[host] {
			_, encoded, _ := strings.Cut(line, " ")
			blob, err := base64.StdEncoding.DecodeString(encoded)
			g.Expect(err).NotTo(HaveOccurred())
			sum := sha256.Sum256(blob)
			got = append(got, base64.RawStdEncoding.EncodeToString(sum[:]))
		}
		g.Expect(got).To(ConsistOf(fingerprints), host)
	}
	g.Expect(publishedHosts(Remote{Host: "GitHub.com"})).To(HavePrefix("github.com ssh-ed25519 "))
	g.Expect(publishedHosts(Remote{Host: "ssh.github.com", Port: "443"})).To(HavePrefix("[ssh.github.com]:443 ssh-ed25519 "))
	g.Expect(publishedHosts(Remote{Host: "evil-github.com"})).To(BeEmpty())
}

func TestCredentialsAreMasked(t *testing.T) {
	g := NewWithT(t)
	c := sshKey("-----BEGIN KEY-----\nabcdefghijklmnop\nqrstuvwxyz012345\n-----END KEY-----\n", "s3cret", "")
	g.Expect(c.Mask("cannot use abcdefghijklmnop with s3cret")).To(Equal("cannot use *** with ***"))
	g.Expect(userAndPassword("token", "").Mask("token is refused")).To(Equal("*** is refused"))
	g.Expect(userAndPassword("me", "s3cret").Mask("me and s3cret are refused")).To(Equal("me and *** are refused"))
	g.Expect(userAndPassword("me", "p@ss word").Mask("https://me:p%40ss%20word@host is refused")).To(Equal("https://me:***@host is refused"))
	g.Expect(userAndPassword("me", "a").Mask("a man was refused: a")).To(Equal("*** man was refused: ***"), "only as a word")
}
