// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// quietIntervals is how many intervals must pass without a trace.
const quietIntervals = 3

func TestNothingIsRunReadOrWrittenWhenNothingChanged(t *testing.T) {
	t.Parallel()
	u := newTenant(t, shared)
	u.publishFiles("v1", project("lab", twoThings("x", "y")))
	program := u.program(oneThing("one"))
	u.apply(program)
	u.awaitKnown(program)
	stacks := []*v1.Stack{
		u.stack(named("artifact"), fromArtifact), u.stack(named("p1"), fromProgram), u.stack(named("p2"), fromProgram),
		u.stack(named("p3"), fromProgram, destroyed),
	}
	for i, stack := range stacks {
		stack.Spec.Interval = &metav1.Duration{Duration: 2 * time.Second}
		stack.Spec.Config["lab:directory"] = jsonText(fmt.Sprintf("%s-%d", u.place, i))
		u.apply(stack)
	}
	for _, stack := range stacks {
		u.awaitReady(stack)
	}
	// They are sent beside what the Stacks are written with.
	u.Eventually(func() int { return len(u.eventVersions()) }).Should(Equal(len(stacks)))
	calls, downloads := u.pulumiCalls(), u.artifacts.downloads(u.artifactPath("v1"))
	events := u.eventVersions()
	var before []int
	for _, stack := range stacks {
		before = append(before, u.reconcilesOf(stack))
	}

	for i, stack := range stacks {
		u.Eventually(func() int { return u.reconcilesOf(stack) }).Should(BeNumerically(">=", before[i]+quietIntervals))
	}
	for _, stack := range stacks {
		now := &v1.Stack{}
		u.Expect(u.Get(u.ctx, keyOf(stack), now)).To(Succeed())
		u.Expect(now.ResourceVersion).To(Equal(stack.ResourceVersion), "Stack %s was written to", stack.Name)
	}
	u.Expect(u.pulumiCalls()).To(Equal(calls), "no process of Pulumi")
	u.Expect(u.artifacts.downloads(u.artifactPath("v1"))).To(Equal(downloads), "no download")
	u.Expect(u.eventVersions()).To(Equal(events), "no event")
}

// eventVersions are the resource versions of the events of the tenant, by name.
func (t *tenant) eventVersions() map[string]string {
	t.test.Helper()
	var events corev1.EventList
	t.Expect(t.List(t.ctx, &events, client.InNamespace(t.namespace))).To(Succeed())
	versions := map[string]string{}
	for _, event := range events.Items {
		versions[event.Name] = event.ResourceVersion
	}
	return versions
}

func TestAProgramIsAppliedAndItsEditsAreFollowed(t *testing.T) {
	t.Parallel()
	u := newTenant(t, shared)
	program := u.program(oneThing("one"))
	u.apply(program)
	stack := u.stack(fromProgram, destroyed)
	u.apply(stack)
	u.awaitReady(stack, programEdited(program))
	u.kept("app", "one")
	u.Expect(u.verbs()).To(Equal([]string{"stack init", "up"}), "a first update")
	u.Expect(stack.Status.Outputs).To(HaveKeyWithValue("value", jsonText("one")))
	u.Expect(stack.Status.LastUpdate.LastSuccessfulCommit).To(BeEmpty(), "a Program has no commits")

	edit(u, program, func(p *v1.Program) { u.setProgram(p, oneThing("two")) })
	u.awaitReady(stack, programEdited(program))
	u.kept("app", "two")
	u.Expect(u.verbs()[2:]).To(Equal([]string{"up"}), "a later one")

	u.delete(stack)
	u.awaitGone(stack)
	u.Expect(u.things()).To(BeEmpty())
	u.Expect(u.verbs()[3:]).To(Equal([]string{"destroy", "stack rm"}), "its end is noted between the two")
}

func TestSecretsCostAtMostOneProcessMore(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	const canary = "canary-on-a-command-line"
	u.apply(u.program(secretive))
	u.apply(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "app"}, StringData: map[string]string{
		"password": canary + "-1", "passphrase": canary + "-2", "token": canary + "-3",
	}})
	stack := u.stack(fromProgram, func(s *v1.Stack) {
		s.Spec.SecretsRef = map[string]v1.ResourceRef{"password": secretKey("app", "password")}
		s.Spec.EnvRefs = map[string]v1.ResourceRef{
			"PULUMI_CONFIG_PASSPHRASE": secretKey("app", "passphrase"), "TOKEN": secretKey("app", "token"),
		}
	})
	u.apply(stack)
	u.awaitReady(stack)
	u.Expect(len(u.pulumiCalls())).To(BeNumerically("<=", 3))
	u.Expect(strings.Join(u.pulumiCalls(), "\n")).NotTo(ContainSubstring(canary))
}

// verbs lists what Pulumi was called to do: the arguments before --stack that are not flags.
func (t *tenant) verbs() []string {
	t.test.Helper()
	var verbs []string
	for _, call := range t.pulumiCalls() {
		before, _, _ := strings.Cut(call, " --stack")
		var words []string
		for _, word := range strings.Fields(before) {
			if !strings.HasPrefix(word, "-") {
				words = append(words, word)
			}
		}
		verbs = append(verbs, strings.Join(words, " "))
	}
	return verbs
}
