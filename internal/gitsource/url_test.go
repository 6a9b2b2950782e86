// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package gitsource

import (
	"errors"
	"net/url"
	"regexp"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/inputs"
)

func TestURLs(t *testing.T) {
	for text, want := range map[string]Remote{
		"https://github.com/pulumi/examples":     {URL: "https://github.com/pulumi/examples", Scheme: "https", Host: "github.com"},
		" HTTPS://git.example.com:8443/a.git\n":  {URL: "https://git.example.com:8443/a.git", Scheme: "https", Host: "git.example.com", Port: "8443"},
		"http://[::1]:3000/a":                    {URL: "http://[::1]:3000/a", Scheme: "http", Host: "::1", Port: "3000"},
		"https://me:s3cret@github.com/a/b":       {URL: "https://github.com/a/b", Scheme: "https", Host: "github.com", User: "me", Password: "s3cret"},
		"https://org@dev.azure.com/org/p/_git/r": {URL: "https://dev.azure.com/org/p/_git/r", Scheme: "https", Host: "dev.azure.com", User: "org"},
		"git@github.com:pulumi/examples.git":     {URL: "ssh://git@github.com/pulumi/examples.git", Scheme: "ssh", Host: "github.com"},
		"git@git.example.com:/srv/a.git":         {URL: "ssh://git@git.example.com/srv/a.git", Scheme: "ssh", Host: "git.example.com"},
		"me@[::1]:a.git":                         {URL: "ssh://me@[::1]/a.git", Scheme: "ssh", Host: "::1"},
		"ssh://git@git.example.com:2222/a.git":   {URL: "ssh://git@git.example.com:2222/a.git", Scheme: "ssh", Host: "git.example.com", Port: "2222"},
		"ssh://git.example.com/a.git":            {URL: "ssh://git.example.com/a.git", Scheme: "ssh", Host: "git.example.com"},
	} {
		t.Run(text, func(t *testing.T) {
			g := NewWithT(t)
			got, err := ParseURL(text)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(got).To(Equal(want))
		})
	}
}

func TestURLsThatAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		"":                                   "is not the URL of a git repository",
		"github.com/pulumi/examples":         "is not the URL of a git repository",
		"/srv/git/a.git":                     "is not the URL of a git repository",
		"git@github.com":                     "is not the URL of a git repository",
		"file:///srv/git/a.git":              "is a local path",
		"git://github.com/a/b":               `has the scheme "git"`,
		"https:///a/b":                       "has no host",
		"https://github.com":                 "has no repository path",
		"https://github.com/":                "has no repository path",
		"https://h/a?private_token=s3cret":   "must not have a query",
		"https://h/a#main":                   "must not have a query or a fragment",
		"ssh://git:s3cret@git.example.com/a": "must not have a password",
		"https://me:s3cret%zz@h/a":           "is not a valid URL",
		"https://h/a\x00s3cret":              "is not a valid URL",
	} {
		t.Run(text, func(t *testing.T) {
			g := NewWithT(t)
			_, err := ParseURL(text)
			var invalid *inputs.InvalidError
			g.Expect(errors.As(err, &invalid)).To(BeTrue(), "%v", err)
			g.Expect(err).To(MatchError(ContainSubstring("spec.projectRepo: " + want)))
			g.Expect(err.Error()).NotTo(ContainSubstring("s3cret"))
		})
	}
}

// FuzzParseURL: an accepted URL is valid for Flux's CRD, leads to the same host when
// parsed again, and shows no password.
func FuzzParseURL(f *testing.F) {
	for _, seed := range []string{
		"https://me:pass@github.com/a/b.git", "git@github.com:a/b", "ssh://git@h:22/a", "me@[::1]:a", "http://h:1/%2e", "x@y:z?#", "https://h/a b", "git@h:://",
	} {
		f.Add(seed)
	}
	pattern := regexp.MustCompile(`^(http|https|ssh)://.*$`)
	f.Fuzz(func(t *testing.T, text string) {
		r, err := ParseURL(text)
		if err != nil {
			return
		}
		u, err := url.Parse(r.URL)
		if err != nil {
			t.Fatalf("%q became %q, which is no URL: %v", text, r.URL, err)
		}
		if !pattern.MatchString(r.URL) || u.Scheme != r.Scheme || u.Hostname() != r.Host || u.Port() != r.Port || r.Host == "" {
			t.Fatalf("%q became %q, %+v", text, r.URL, r)
		}
		if _, ok := u.User.Password(); ok || u.RawQuery != "" || u.Fragment != "" || (u.User != nil && !r.IsSSH()) {
			t.Fatalf("%q became %q, which shows too much", text, r.URL)
		}
		again, err := ParseURL(r.URL)
		if err != nil || again.URL != r.URL {
			t.Fatalf("%q became %q, and that %q (%v)", text, r.URL, again.URL, err)
		}
	})
}

func TestNames(t *testing.T) {
	g := NewWithT(t)
	g.Expect(Name("app")).To(Equal("app"))
	g.Expect(SecretName("app")).To(Equal("app-git-auth"))
	long, other := strings.Repeat("a", 253), strings.Repeat("a", 252)+"b"
	g.Expect(len(Name(long))).To(BeNumerically("<=", maxName))
	g.Expect(Name(long)).NotTo(Equal(Name(other)))
	g.Expect(Name(long)).To(MatchRegexp(`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`))
	dotted := strings.Repeat("a", 138) + "." + strings.Repeat("b", 100)
	g.Expect(Name(dotted)).To(MatchRegexp(`^a+-[0-9a-f]{10}$`))
}
