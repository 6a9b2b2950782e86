// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package grammar

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

func TestPublicBackend(t *testing.T) {
	for backend, want := range map[string]string{
		"https://api.pulumi.com":                             "https://api.pulumi.com",
		"https://api.pulumi.com/":                            "https://api.pulumi.com",
		"file:///state/prod/":                                "file:///state/prod",
		"file:///state/a@b":                                  "file:///state/a@b",
		"file://~/state":                                     "file://~/state",
		"s3://key:secret@bucket/prod?region=x&awssdk=v2#f":   "s3://bucket/prod",
		"postgres://bob:hunter2@db:5432/pulumi?sslmode=none": "postgres://db:5432/pulumi",
		"postgres://bob:hunter/2@db/pulumi":                  "postgres://",
		"postgres://bob:hunter%2@db/pulumi":                  "postgres://",
		"azblob://container?storage_account=a":               "azblob://container",
		"hunter2%zz":                                         "hidden://",
		"hunter2://%zz":                                      "hidden://",
		"":                                                   "",
	} {
		NewWithT(t).Expect(PublicBackend(backend)).To(Equal(want), backend)
	}
}

func TestNothingOfABackendThatIsSecretIsShown(t *testing.T) {
	for _, secret := range []string{
		"pul-0123456789abcdef0123456789abcdef01234567",
		"azblob:my-container",
		"hunter2%zz",
		"user:hunter2@db.example.com/state",
		"user:hunter2@db.example.com/state?sslmode=none",
		"hunter2://db.example.com/state",
	} {
		g := NewWithT(t)
		of := func(key string) string {
			return BackendOf(run.Run{Backend: secret, BackendKey: key, Masks: []string{secret}})
		}
		g.Expect(of("uid-1")).To(MatchRegexp(`^hidden://sha256-[0-9a-f]{16}-[0-9a-f]{8}$`), secret)
		g.Expect(of("uid-1")).NotTo(Equal(of("uid-2")), "who guesses it cannot know that")
	}
	NewWithT(t).Expect(BackendOf(run.Run{Backend: "./state", Masks: []string{"hunter2"}})).To(Equal("./state"), "no Secret names it")
}

func TestWhetherABackendIsAnother(t *testing.T) {
	secret := func(backend, key string) run.Run {
		return run.Run{Backend: backend, BackendKey: key, Masks: []string{backend}}
	}
	for name, test := range map[string]struct {
		run   run.Run
		found string
		other bool
	}{
		"the same":                    {run.Run{Backend: "s3://a?region=x"}, "s3://a", false},
		"another":                     {run.Run{Backend: "s3://a"}, "s3://b", true},
		"the same of a Secret":        {secret("s3://a", "1"), BackendOf(secret("s3://a", "1")), false},
		"another of the same Secret":  {secret("s3://a", "1"), BackendOf(secret("s3://b", "1")), true},
		"of a Secret made again":      {secret("s3://a", "2"), BackendOf(secret("s3://a", "1")), false},
		"of a Secret before":          {run.Run{Backend: "s3://a"}, BackendOf(secret("s3://a", "1")), true},
		"of a Secret now":             {secret("s3://a", "1"), "s3://a", false},
		"another, of a Secret now":    {secret("s3://a", "1"), "s3://b", true},
		"as earlier builds wrote it":  {secret("s3://a", "1"), strings.TrimSuffix(BackendOf(secret("s3://a", "1")), "-"+signOf("1")), false},
		"another, from earlier":       {secret("s3://a", "1"), "s3://sha256-0123456789abcdef", false},
		"a bucket with such a name":   {run.Run{Backend: "s3://sha256-a"}, "s3://sha256-a", false},
		"a bucket like a digest":      {secret("s3://a", "1"), "s3://sha256", true},
		"the scheme of another alone": {run.Run{Backend: "s3://a"}, "s3:", true},
	} {
		g := NewWithT(t)
		g.Expect(IsOtherBackend(test.run, test.found)).To(Equal(test.other), name)
	}
}

func TestABackendThatIsNoURLIsRefusedWithoutBeingShown(t *testing.T) {
	g := NewWithT(t)
	for _, backend := range []string{"postgres://u:hunter2%zz@db/x", "file:///state/100%", "s3://bucket/a b\x7f", "hunter2", "ftp://hunter2"} {
		g.Expect(CheckBackend(backend)).To(MatchError(And(ContainSubstring("URL"), Not(ContainSubstring("hunter2")))), backend)
	}
	for _, backend := range []string{"https://api.pulumi.com", "file:///", "file:///state/100%25", "s3://bucket?region=x", "postgres://u:hunter2%25@db/x"} {
		g.Expect(CheckBackend(backend)).To(Succeed(), backend)
	}
}

func TestADirectoryWithAFragmentIsNoBackend(t *testing.T) {
	g := NewWithT(t)
	g.Expect(CheckBackend("file:///state#a")).To(MatchError(ContainSubstring("encode a # in a path as %23")))
	g.Expect(CheckBackend("file:///state%23a?no_tmp_dir=false")).To(Succeed())
}

func TestADirectoryThatGoesWithTheRunIsNoBackend(t *testing.T) {
	for _, path := range []string{"", ".", "..", "./state", "../state", "state", "state/a", "~", "~/state", "localhost/state", "?prefix=/state", "#/state"} {
		NewWithT(t).Expect(CheckBackend("file://"+path)).To(MatchError(ContainSubstring("use file:///<directory>")), path)
	}
}
