// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
	"github.com/pulumi/pulumi/sdk/v3/go/common/workspace"

	"github.com/flux-pulumi/pulumi-controller/internal/grammar"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

const (
	vaultKey  = "hashivault://key"
	secureOld = "secretsprovider: hashivault://old\nencryptedkey: abc\nconfig:\n  demo:pw: {secure: v1:abc}\n"
)

// preparedStackFile is the Pulumi.dev.yaml written for a run.
func preparedStackFile(t *testing.T, brought string, change func(*run.Run)) (string, *prepared, error) {
	t.Helper()
	dir := testDirectory(t)
	files := map[string]string{"Pulumi.yaml": "name: demo\nruntime: yaml\nresources: {}\n"}
	if brought != "" {
		files["Pulumi.dev.yaml"] = brought
	}
	writeTree(t, dir.Workspace(), files)
	r := artifactRun("")
	r.Env = map[string]string{grammar.PassphraseVariable: "correct horse"}
	change(&r)
	p, err := (&Driver{Cache: t.TempDir()}).prepare(t.Context(), dir, r)
	text, readErr := os.ReadFile(filepath.Join(dir.Workspace(), "Pulumi.dev.yaml"))
	if err == nil && !os.IsNotExist(readErr) {
		NewWithT(t).Expect(readErr).NotTo(HaveOccurred())
	}
	return string(text), p, err
}

func TestTheSecretsProviderOfTheSpecIsInTheSettings(t *testing.T) {
	const cloud = "https://api.pulumi.com"
	for name, test := range map[string]struct {
		backend, brought, provider string
		want                       []string
		not                        []string
	}{
		"a key":                       {"", "", vaultKey, []string{"secretsprovider: hashivault://key"}, []string{"encryptionsalt", "encryptedkey"}},
		"a key in place of another":   {"", "secretsprovider: hashivault://old\nencryptedkey: abc\nconfig: {demo:a: b}\n", vaultKey, []string{"secretsprovider: hashivault://key", "demo:a"}, []string{"abc"}},
		"a key in place of a salt":    {"", "encryptionsalt: v1:abc\n", vaultKey, []string{"secretsprovider: hashivault://key"}, []string{"abc"}},
		"the key that is there":       {"", "secretsprovider: hashivault://key\nencryptedkey: abc\n", vaultKey, []string{"secretsprovider: hashivault://key", "encryptedkey: abc"}, nil},
		"a passphrase":                {"", "", "passphrase", []string{"secretsprovider: passphrase", "encryptionsalt: v1:"}, nil},
		"the default of a bucket":     {"", "", "default", []string{"secretsprovider: passphrase", "encryptionsalt: v1:"}, nil},
		"the default of Pulumi Cloud": {cloud, "encryptionsalt: v1:abc\n", "default", []string{"secretsprovider: default"}, []string{"abc"}},
		"the default that is there":   {cloud, "secretsprovider: default\nconfig:\n  demo:pw: {secure: abc}\n", "default", []string{"secretsprovider: default", "secure: abc"}, nil},
		"secrets with the same key": {"", "secretsprovider: hashivault://key\nencryptedkey: abc\nconfig:\n  demo:pw: {secure: v1:abc}\n", vaultKey,
			[]string{"secretsprovider: hashivault://key", "encryptedkey: abc", "v1:abc"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			text, p, err := preparedStackFile(t, test.brought, func(r *run.Run) {
				r.SecretsProvider = test.provider
				if test.backend != "" {
					r.Backend = test.backend
				}
			})
			g.Expect(err).NotTo(HaveOccurred())
			for _, want := range test.want {
				g.Expect(text).To(ContainSubstring(want))
			}
			for _, not := range test.not {
				g.Expect(text).NotTo(ContainSubstring(not))
			}
			g.Expect("secretsprovider: "+p.provider).To(Equal(test.want[0]), "what a new stack is made with")
		})
	}
}

func TestWhatOnlyTheOldProviderCanReadIsNotLost(t *testing.T) {
	g := NewWithT(t)
	for _, brought := range []string{secureOld, "encryptedkey: abc\nconfig:\n  demo:pw: {secure: v1:abc}\n"} {
		text, _, err := preparedStackFile(t, brought, func(r *run.Run) { r.SecretsProvider = vaultKey })
		g.Expect(err).To(MatchError(ContainSubstring("run pulumi stack change-secrets-provider where the program is kept, or remove spec.secretsProvider")))
		g.Expect(text).To(Equal(brought))
	}
	_, _, err := preparedStackFile(t, "", func(r *run.Run) { r.SecretsProvider, r.Env = "passphrase", nil })
	g.Expect(err).To(MatchError(And(HavePrefix("spec.secretsProvider is passphrase: "), ContainSubstring(grammar.PassphraseVariable))))
}

func TestTheDefaultOfPulumiCloudTakesThePlaceOfTheState(t *testing.T) {
	const kept, given = "PULUMI_FALLBACK_TO_STATE_SECRETS_MANAGER=true", "PULUMI_FALLBACK_TO_STATE_SECRETS_MANAGER=false"
	for _, test := range []struct {
		provider, backend string
		operation         run.Operation
		want              string
	}{
		{"default", "https://api.pulumi.com", run.Update, given},
		{"default", "https://api.pulumi.com", run.Destroy, kept},
		{"default", "s3://bucket", run.Update, kept},
		{"", "https://api.pulumi.com", run.Update, kept},
		{vaultKey, "https://api.pulumi.com", run.Update, kept},
	} {
		r := run.Run{Operation: test.operation, Backend: test.backend, SecretsProvider: test.provider}
		NewWithT(t).Expect((&Driver{}).environment("/run", r)).To(ContainElement(test.want), "%+v", test)
	}
}

func TestEnvironmentsAreAddedToThoseOfTheProgram(t *testing.T) {
	cloud := func(r *run.Run) { r.Backend, r.Environments = "https://api.pulumi.com", []string{"org/b", "c"} }
	for brought, want := range map[string][]string{
		"":                                  {"org/b", "c"},
		"environment: [a]\n":                {"a", "org/b", "c"},
		"environment:\n  imports: [a, d]\n": {"a", "d", "org/b", "c"},
	} {
		g := NewWithT(t)
		text, _, err := preparedStackFile(t, brought, cloud)
		g.Expect(err).NotTo(HaveOccurred())
		settings, err := parseStackFile(&workspace.Project{Name: "demo"}, "Pulumi.dev.yaml", []byte(text))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(settings.Environment.Imports()).To(Equal(want), brought)
	}
	g := NewWithT(t)
	text, _, err := preparedStackFile(t, "", func(r *run.Run) {
		cloud(r)
		r.Operation, r.Program, r.Project = run.Destroy, run.Program{}, run.Project{Name: "demo", Runtime: "yaml"}
	})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(text).To(ContainSubstring("org/b"), "a destroy may need their credentials")
	_, _, err = preparedStackFile(t, "", func(r *run.Run) { r.Environments = []string{"a"} })
	g.Expect(err).To(MatchError(ContainSubstring("spec.environment needs Pulumi Cloud")))
}
