// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// triesLayers applies one of the examples with the Stacks network, cluster and app, the Stacks first, and waits for all of them.
func (t *tenant) triesLayers(folder string) []*v1.Stack {
	t.test.Helper()
	found := t.tries(folder+"/stacks.yaml", nil, func(s *v1.Stack) { s.Spec.Config["lab:directory"] = jsonText(t.place) })
	t.tries(folder+"/programs.yaml", nil)
	stacks := []*v1.Stack{found["network"], found["cluster"], found["app"]}
	for _, stack := range stacks {
		t.awaitReady(stack)
	}
	return stacks
}

// deletedTogether deletes Stacks that are in order, and expects them destroyed from the last to the first.
func (t *tenant) deletedTogether(stacks []*v1.Stack) {
	t.test.Helper()
	for _, stack := range stacks {
		t.delete(stack)
	}
	for _, stack := range stacks {
		t.awaitGone(stack)
	}
	t.Expect(t.things()).To(BeEmpty())
	journal := t.journal(t)
	var ends []string
	for _, line := range journal {
		switch line {
		case "delete done network", "delete done cluster", "delete done app":
			ends = append(ends, line)
		}
	}
	t.Expect(ends).To(Equal([]string{"delete done app", "delete done cluster", "delete done network"}))
}

func TestTheExampleDependenciesRunsInOrder(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	stacks := u.triesLayers("dependencies")
	u.Expect(u.journal(u)).To(Equal(inOrder("create", "network", "cluster", "app")))
	u.deletedTogether(stacks)
}

func TestTheExampleOutputsHandsOn(t *testing.T) {
	t.Parallel()
	u := newTenant(t, shared)
	stacks := u.triesLayers("outputs")
	u.Expect(u.things()).To(HaveKeyWithValue("app", "cluster at 10.0.0.0/16 with key-of-the-account"))

	program := &v1.Program{ObjectMeta: metav1.ObjectMeta{Name: "network", Namespace: u.namespace}}
	edit(u, program, func(p *v1.Program) {
		account := p.Program.Resources["account"].Properties
		account.Raw = bytes.Replace(account.Raw, []byte("key-of-the-account"), []byte("another-key"), 1)
	})
	u.Eventually(u.things).Should(HaveKeyWithValue("app", "cluster at 10.0.0.0/16 with another-key"))
	for _, stack := range stacks {
		u.awaitReady(stack)
	}
	u.deletedTogether(stacks)
}
