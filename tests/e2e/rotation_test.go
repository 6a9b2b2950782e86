// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

const newPassphrase = "passphrase-after-that"

// fromSecret takes the passphrase from a Secret, which can be rotated.
func fromSecret(s *v1.Stack) {
	s.Spec.EnvRefs["PULUMI_CONFIG_PASSPHRASE"] = secretKey("app", "passphrase")
}

// passphraseSecret creates the Secret with the passphrase.
func (t *tenant) passphraseSecret() *corev1.Secret {
	t.test.Helper()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "app", Namespace: t.namespace}, StringData: map[string]string{"passphrase": passphrase}}
	t.apply(secret)
	return secret
}

// rotated does what docs/guides/secrets.md says between the suspension and the resumption of the Stack.
func (t *tenant) rotated(stack *v1.Stack, secret *corev1.Secret, between func()) {
	t.test.Helper()
	commands := t.pageOf("spec/v1/stacks.md").fenced("Suspending and resuming", "sh")
	t.Expect(commands).To(HaveLen(2))
	t.types(strings.Replace(commands[0], " stack greeting-dev ", " stack "+stack.Name+" ", 1))
	t.Expect(t.Get(t.ctx, keyOf(stack), stack)).To(Succeed())
	t.Expect(stack.Spec.Suspend).To(BeTrue())
	between()
	edit(t, secret, func(s *corev1.Secret) { s.Data["passphrase"] = []byte(newPassphrase) })
	t.types(strings.Replace(commands[1], " stack greeting-dev ", " stack "+stack.Name+" ", 1))
}

// changePassphrase types the command of docs/guides/secrets.md, and answers its question.
func (b *barePulumi) changePassphrase() {
	b.t.test.Helper()
	command := b.t.pageOf("guides/secrets.md").command("What encrypts the state", "pulumi stack change-secrets-provider ", "<stack>", "dev")
	b.run(newPassphrase+"\n", strings.Fields(command)[1:]...)
}

func TestThePassphraseOfASourceIsRotated(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	const body = "config: {password: {type: string, secret: true}}\nresources: {a: {type: 'lab:index:Thing', properties: {name: a, value: \"${password}\"}}}\n"
	bare := u.barePulumi(project("app", body))
	bare.run("", "stack", "init", "dev")
	bare.run("", "config", "set", "--secret", "password", "hush-one", "--stack", "dev")
	u.Expect(bare.files()["Pulumi.dev.yaml"]).To(And(ContainSubstring("encryptionsalt: "), ContainSubstring("secure: ")))
	source := u.git(bare.files())
	secret, stack := u.passphraseSecret(), u.stack(fromGit, fromSecret, destroyed)
	u.apply(stack)
	u.awaitReady(stack)
	u.Expect(u.things()).To(Equal(map[string]string{"a": "hush-one"}))

	revision := ""
	u.rotated(stack, secret, func() {
		bare.changePassphrase()
		bare.passphrase = newPassphrase
		bare.run("", "config", "set", "--secret", "password", "hush-two", "--stack", "dev")
		source.commit(bare.files())
		revision = u.awaitArtifact(source.object, stack.Status.LastAppliedRevision)
	})
	u.awaitReady(stack, atRevision(revision))
	u.Expect(u.things()).To(Equal(map[string]string{"a": "hush-two"}), "the state and the file are of the new passphrase")
	u.Expect(stack.Status.History).To(HaveEach(HaveField("LastReconciledStatus", "ReconciliationSucceeded")), "no run has failed")
}

func TestThePassphraseOfAProgramIsRotated(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	program := u.program(oneThing("one"))
	u.apply(program)
	secret, stack := u.passphraseSecret(), u.stack(fromProgram, fromSecret, destroyed)
	u.apply(stack)
	u.awaitReady(stack)

	u.rotated(stack, secret, func() {
		bare := u.barePulumi(project(stack.Status.ProjectInfo.Name, ""))
		bare.changePassphrase()
	})
	u.awaitReady(stack)
	edit(u, program, func(p *v1.Program) { u.setProgram(p, oneThing("two")) })
	u.Eventually(u.things).Should(Equal(map[string]string{"a": "two"}), "it can read the state")
}
