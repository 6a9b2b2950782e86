// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package grammar

import (
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
		g.Expect(of("uid-1")).To(MatchRegexp(`^hidden://sha256-[0-9a-f]{16}$`), secret)
		g.Expect(of("uid-1")).NotTo(Equal(of("uid-2")), "who guesses it cannot know that")
	}
	NewWithT(t).Expect(BackendOf(run.Run{Backend: "./state", Masks: []string{"hunter2"}})).To(Equal("./state"), "no Secret names it")
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
	g.Expect(CheckBackend("file:///state#a")).To(MatchError(ContainSubstring("write a # in a path as %23")))
	g.Expect(CheckBackend("file:///state%23a?no_tmp_dir=false")).To(Succeed())
}

func TestADirectoryThatGoesWithTheRunIsNoBackend(t *testing.T) {
	for _, path := range []string{"", ".", "..", "./state", "../state", "state", "state/a", "~", "~/state", "localhost/state", "?prefix=/state", "#/state"} {
		NewWithT(t).Expect(CheckBackend("file://"+path)).To(MatchError(ContainSubstring("write file:///<directory>")), path)
	}
}
