// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/grammar"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

const secretProgram = "resources: {}\nconfig:\n  pw: {type: string, secret: true}\noutputs:\n  o: {\"fn::toBase64\": \"${pw}\"}\n"

func TestSecretConfigIsNeverInTheClear(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	for _, secret := range []string{"hunter2hunter2", "hunter2hunter2", "changed4changed4"} {
		r := l.update(secretProgram)
		r.Secrets = map[string]string{"pw": secret}
		dir, result := l.doIn(t.Context(), r)
		l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
		l.Expect(string(result.Outputs["o"])).To(Equal(`"[secret]"`))
		l.Expect(l.find(secret, string(dir), l.backend, l.driver.Cache, filepath.Dir(l.calls))).To(BeEmpty())
		l.Expect(l.state()).To(ContainSubstring("ciphertext"))
	}
	l.Expect(l.newCalls()).To(Equal([]string{"stack init", "up", "up", "up"}), "encrypting costs no process")

	// The passphrase alone is enough to read the state: no salt is kept from the runs.
	l.Expect(l.do(t.Context(), l.destroy()).Outcome).To(Equal(run.Succeeded))
}

func TestAWrongPassphraseIsNamed(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	r := l.update(secretProgram)
	r.Secrets = map[string]string{"pw": "hunter2hunter2"}
	l.givenRun(r, nil)
	before := l.state()

	for name, edit := range map[string]func(*run.Run){
		"with secret config": func(r *run.Run) { r.Secrets = map[string]string{"pw": "hunter2hunter2"} },
		"without":            func(r *run.Run) { r.Program.YAML = []byte(plainProgram) },
	} {
		r := l.update(secretProgram)
		r.Env[grammar.PassphraseVariable] = "wrong"
		edit(&r)
		result := l.do(t.Context(), r)
		l.Expect(result.Outcome).To(Equal(run.Failed), name)
		l.Expect(result.Message).To(ContainSubstring("incorrect passphrase"), name)
		l.Expect(l.state()).To(Equal(before), name)
		l.Expect(l.locks()).To(BeEmpty(), name)
	}
}
