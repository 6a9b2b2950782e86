// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"testing"

	. "github.com/onsi/gomega"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// twoTiers is the body of a program with a thing that is deleted before it is replaced, and one that is retained.
func twoTiers(app, kept string) string {
	return fmt.Sprintf(`resources:
  app:
    type: lab:index:Thing
    properties: {%s}
    options: {deleteBeforeReplace: true}
  kept:
    type: lab:index:Thing
    properties: {name: %s}
    options: {retainOnDelete: true}
`, app, kept)
}

// Pulumi's own summary counts a replacement that failed after its deletion, and takes what is retained for deleted.
func TestTheNumbersAreThoseOfTheCloud(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	program := u.program(twoTiers("name: app", "first"))
	u.apply(program)
	stack := u.stack(fromProgram, destroyed)
	u.apply(stack)
	u.awaitReady(stack)
	u.Expect(*stack.Status.Resources).To(Equal(v1.ResourcesStatus{Total: 2, ResourceChanges: v1.ResourceChanges{Created: 2}}))

	edit(u, program, func(p *v1.Program) {
		u.setProgram(p, twoTiers("name: app-linux, failures: {create: dynamic tier is not available}", "first"))
	})
	u.awaitFailure(stack, v1.UpdateFailedReason, "dynamic tier is not available")
	u.Expect(u.things()).To(Equal(map[string]string{"first": ""}))
	u.Expect(*stack.Status.Resources).To(Equal(v1.ResourcesStatus{Total: 1, ResourceChanges: v1.ResourceChanges{Deleted: 1, Same: 1}}))
	u.Expect(stack.Status.History[0].Metadata).To(HaveKeyWithValue("changes", "1 deleted, 1 unchanged"))
	u.Eventually(func(g Gomega) { g.Expect(u.listed(g, stack)).To(HaveLen(1)) }).Should(Succeed())

	edit(u, program, func(p *v1.Program) { u.setProgram(p, twoTiers("name: app", "second")) })
	u.awaitReady(stack, programEdited(program))
	u.Expect(u.things()).To(Equal(map[string]string{"app": "", "first": "", "second": ""}))
	u.Expect(*stack.Status.Resources).To(Equal(v1.ResourcesStatus{Total: 2, ResourceChanges: v1.ResourceChanges{Created: 1, Replaced: 1, Retained: 1}}))
	u.awaitEvent(stack, "Normal", "ReconciliationSucceeded", "1 created, 1 replaced, 1 left in place (retainOnDelete) in ")
	u.Eventually(func(g Gomega) { g.Expect(u.listed(g, stack)).To(HaveLen(2)) }).Should(Succeed())

	u.delete(stack)
	u.awaitGone(stack)
	u.Expect(u.things()).To(Equal(map[string]string{"first": "", "second": ""}))
	u.awaitEvent(stack, "Normal", "ReconciliationSucceeded", "Destroy succeeded: 1 deleted, 1 left in place (retainOnDelete) in ")
}
