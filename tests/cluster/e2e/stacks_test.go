// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"strings"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/sources"
)

// things is a program with one thing in the cloud, whose changes take as long, and as much memory, as configured.
const things = `configuration:
  value: {type: String}
  delay: {type: String, default: 0s}
  ballast: {type: String, default: 0Mi}
resources:
  thing:
    type: lab:index:Thing
    properties: {name: "NAME", value: "${value}", delays: {create: "${delay}", update: "${delay}"}, ballast: {update: "${ballast}"}}
outputs:
  value: ${thing.value}
`

// program applies a Program with that thing.
func (w *world) program(name string) {
	w.test.Helper()
	w.apply("apiVersion: pulumi.com/v1\nkind: Program\nmetadata: {name: " + name + ", namespace: " + w.tenant + "}\nprogram:\n" + indent(programOf(name)))
}

func programOf(name string) string { return strings.ReplaceAll(things, "NAME", name) }

// stack returns the manifest of a Stack of that program.
func (w *world) stack(name, source, value, delay string) string {
	return `apiVersion: pulumi.com/v1
kind: Stack
metadata: {name: ` + name + `, namespace: ` + w.tenant + `}
spec:
  stack: production
  backend: ` + w.backend() + `
` + source + `
  destroyOnFinalize: true
  interval: 1h
  retryInterval: 5s
  config: {"lab:directory": /cloud, value: "` + value + `", delay: "` + delay + `"}
` + w.workspace + `  envRefs:
` + w.variables()
}

// bringUpStacks creates a Stack of each kind of source, and an Alert for them.
func (w *world) bringUpStacks() {
	w.namespace(w.tenant)
	w.apply(`apiVersion: notification.toolkit.fluxcd.io/v1beta3
kind: Provider
metadata: {name: hook, namespace: ` + w.tenant + `}
spec: {type: generic, address: "` + w.hook.url + `"}
---
apiVersion: notification.toolkit.fluxcd.io/v1beta3
kind: Alert
metadata: {name: hook, namespace: ` + w.tenant + `}
spec:
  providerRef: {name: hook}
  eventSources: [{kind: Stack, name: '*'}]
`)
	w.program("inline")
	w.apply(w.stack("inline", "  programRef: {name: inline}", "one", "0s"))

	repo, err := w.git.NewRepo(w.ctx, w.tenant)
	w.Expect(err).NotTo(HaveOccurred())
	_, err = repo.Commit(w.ctx, sources.Files{"program/Pulumi.yaml": "name: program\nruntime: yaml\n" + programOf("fromgit")}, "first")
	w.Expect(err).NotTo(HaveOccurred())
	w.apply(`apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: program, namespace: ` + w.tenant + `}
spec: {interval: 1h, url: "` + repo.URL() + `", ref: {branch: ` + sources.Branch + `}}
`)
	w.apply(w.stack("fromgit", "  fluxSource: {sourceRef: {kind: GitRepository, name: program}, dir: program}", "two", "0s"))

	w.awaitValue("inline", "one")
	w.awaitValue("fromgit", "two")
	for _, name := range []string{"inline", "fromgit"} {
		w.Eventually(w.hook.received).Should(ContainElement(HavePrefix("Stack/" + name + " ReconciliationSucceeded: Update succeeded: 1 created")))
		w.madeOnce(name)
	}
}

func indent(text string) string {
	return "  " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n  ") + "\n"
}

func (w *world) stackNow(g Gomega, name string) *v1.Stack {
	var stack v1.Stack
	g.Expect(w.Get(w.ctx, types.NamespacedName{Namespace: w.tenant, Name: name}, &stack)).To(Succeed())
	return &stack
}

// awaitValue waits until the Stack is Ready with the output.
func (w *world) awaitValue(name, value string) {
	w.test.Helper()
	w.Eventually(func(g Gomega) {
		stack := w.stackNow(g, name)
		g.Expect(stack.Status.ObservedGeneration).To(Equal(stack.Generation))
		g.Expect(conditions.IsReady(stack)).To(BeTrue(), "%s: %s", name, conditions.GetMessage(stack, meta.ReadyCondition))
		g.Expect(stack.Status.Run).To(BeNil())
		g.Expect(string(stack.Status.Outputs["value"].Raw)).To(Equal(fmt.Sprintf("%q", value)))
	}).Should(Succeed())
}

// madeOnce expects that the cloud has one thing of the name, and never had another.
func (w *world) madeOnce(name string) {
	w.test.Helper()
	in := w.cloud()
	w.Expect(in.Created(name)).To(Equal(1), "how often %s was made", name)
	all, err := in.Things()
	w.Expect(err).NotTo(HaveOccurred())
	found := 0
	for _, thing := range all {
		if thing.Name == name {
			found++
		}
	}
	w.Expect(found).To(Equal(1), "how many there are of %s", name)
}

// destroyStacks deletes all Stacks and expects an empty cloud.
func (w *world) destroyStacks() {
	w.kubectl("--namespace", w.tenant, "delete", "stacks", "--all", "--timeout="+patience.String())
	w.Expect(w.cloud().Things()).To(BeEmpty())
	w.kubectl("delete", "namespace", w.tenant, "--timeout="+patience.String())
}
