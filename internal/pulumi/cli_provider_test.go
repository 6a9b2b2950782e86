// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"encoding/json"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/grammar"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// providerOf is the type of the secrets provider named in the state.
func (l *lab) providerOf() string {
	l.Helper()
	var state struct {
		Checkpoint struct {
			Latest struct {
				Providers struct {
					Type string `json:"type"`
				} `json:"secrets_providers"`
			} `json:"latest"`
		} `json:"checkpoint"`
	}
	l.Expect(json.Unmarshal([]byte(l.state()), &state)).To(Succeed())
	return state.Checkpoint.Latest.Providers.Type
}

func TestAChangedSecretsProviderIsApplied(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	l := newLab(t)
	vault := transit(t)
	program := secretProgram + "  n: {\"fn::length\": \"${pw}\"}\n"
	update := func(provider string) {
		l.Helper()
		r := l.update(program)
		r.SecretsProvider = provider
		r.Secrets = map[string]string{"pw": "hunter2hunter2"}
		r.Env["VAULT_SERVER_URL"], r.Env["VAULT_SERVER_TOKEN"] = vault.URL, "t"
		dir, result := l.doIn(t.Context(), r)
		l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
		l.Expect(string(result.Outputs["o"])).To(Equal(`"[secret]"`))
		l.Expect(l.find("hunter2hunter2", string(dir), l.backend, filepath.Dir(l.calls))).To(BeEmpty())
	}
	update("passphrase")
	l.Expect(l.providerOf()).To(Equal("passphrase"))
	l.Expect(l.newCalls()).To(Equal([]string{"stack init", "up"}))

	update(vaultKey)
	l.Expect(l.providerOf()).To(Equal("cloud"))
	l.Expect(l.state()).To(ContainSubstring(vaultKey))
	l.Expect(l.newCalls()).To(Equal([]string{"config set", "up"}), "no process for the change")

	update("hashivault://other")
	l.Expect(l.state()).To(And(ContainSubstring("hashivault://other"), Not(ContainSubstring(vaultKey))))

	update("default")
	l.Expect(l.providerOf()).To(Equal("passphrase"))
	update(vaultKey)

	r := l.destroy()
	r.SecretsProvider = "passphrase"
	r.Env["VAULT_SERVER_URL"], r.Env["VAULT_SERVER_TOKEN"] = vault.URL, "t"
	l.Expect(l.do(t.Context(), r).Outcome).To(Equal(run.Succeeded), "with the provider of the state")
}

func TestAChangedSecretsProviderIsAppliedWhereNothingElseChanges(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	l := newLab(t)
	vault := transit(t)
	for _, provider := range []string{"", vaultKey, "passphrase"} {
		r := l.update("resources: {}\noutputs:\n  o: {\"fn::secret\": hunter2hunter2}\n")
		r.SecretsProvider = provider
		r.Env["VAULT_SERVER_URL"], r.Env["VAULT_SERVER_TOKEN"] = vault.URL, "t"
		result := l.do(t.Context(), r)
		l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
		l.Expect(l.state()).NotTo(ContainSubstring("hunter2hunter2"))
		want := "passphrase"
		if provider == vaultKey {
			want = "cloud"
		}
		l.Expect(l.providerOf()).To(Equal(want))
	}
	l.Expect(l.newCalls()).To(Equal([]string{"stack init", "up", "up", "up"}))
}

func TestAProviderThatCannotBeReadFailsAndLosesNothing(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	vault := transit(t)
	update := func(provider string, env map[string]string) run.Result {
		r := l.update(secretProgram)
		r.SecretsProvider, r.Env = provider, env
		r.Secrets = map[string]string{"pw": "hunter2hunter2"}
		return l.do(t.Context(), r)
	}
	keys := map[string]string{grammar.PassphraseVariable: "correct horse", "VAULT_SERVER_URL": vault.URL, "VAULT_SERVER_TOKEN": "t"}
	l.Expect(update("passphrase", keys).Outcome).To(Equal(run.Succeeded))
	before := l.state()
	result := update(vaultKey, map[string]string{"VAULT_SERVER_URL": vault.URL, "VAULT_SERVER_TOKEN": "t"})
	l.Expect(result.Outcome).To(Equal(run.Failed), "the state is read with the old one")
	l.Expect(result.Message).To(ContainSubstring(grammar.PassphraseVariable))
	l.Expect(l.state()).To(Equal(before))
	l.Expect(update(vaultKey, keys).Outcome).To(Equal(run.Succeeded))
	l.Expect(l.providerOf()).To(Equal("cloud"))
}

func TestAStackThatMustExistIsNotCreated(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	r := l.update(plainProgram)
	r.NoCreate = true
	result := l.do(t.Context(), r)
	l.Expect(result.Outcome).To(Equal(run.Failed))
	l.Expect(result.Message).To(And(ContainSubstring("is not in the backend"), ContainSubstring("remove spec.useLocalStackOnly")))
	l.Expect(l.newCalls()).To(Equal([]string{"up"}))

	l.Expect(l.do(t.Context(), l.update(plainProgram)).Outcome).To(Equal(run.Succeeded), "made where it may be")
	r = l.update(plainProgram)
	r.NoCreate, r.Exists = true, false
	l.Expect(l.do(t.Context(), r).Outcome).To(Equal(run.Succeeded), "it is there")
}

// A Program may start to declare a value secret that the Stack gives in plain text.
func TestSecretsAreEncryptedWithTheProviderThatTheStateAloneNames(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	l := newLab(t)
	vault := transit(t)
	program := secretProgram + "  n: {\"fn::length\": \"${pw}\"}\n"
	update := func(change func(*run.Run)) run.Result {
		r := l.update(program)
		r.Secrets = map[string]string{"pw": "hunter2hunter2"}
		r.Env = map[string]string{"VAULT_SERVER_URL": vault.URL, "VAULT_SERVER_TOKEN": "t"}
		change(&r)
		return l.do(t.Context(), r)
	}
	result := update(func(r *run.Run) { r.SecretsProvider = vaultKey })
	l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)

	result = update(func(r *run.Run) { r.Exists = true })
	l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	l.Expect(l.state()).To(ContainSubstring(vaultKey))

	result = update(func(r *run.Run) { r.Exists = false })
	l.Expect(result.Outcome).To(Equal(run.Failed), "of a stack that may be new it is not known")
	l.Expect(result.Message).To(ContainSubstring("set PULUMI_CONFIG_PASSPHRASE"))
}
