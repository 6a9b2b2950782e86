// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// protectedStack is a Stack that is being deleted, with a resource that may not be.
func (t *tenant) protectedStack() (*v1.Program, *v1.Stack) {
	t.test.Helper()
	program := t.program(strings.Replace(oneThing("one"), "    type: ", "    options: {protect: true}\n    type: ", 1))
	t.apply(program)
	stack := t.stack(fromProgram, destroyed)
	t.apply(stack)
	t.awaitReady(stack)
	t.delete(stack)
	t.awaitNotReady(stack, v1.DestroyFailedReason, []string{"protect"})
	return program, stack
}

func TestWhatIsProtectedIsDestroyedAsThePageSays(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	t.Run("in the state", func(t *testing.T) {
		t.Parallel()
		u := newTenant(t, shared)
		_, stack := u.protectedStack()
		project := stack.Status.ProjectInfo.Name
		blocks := u.pageOf("guides/troubleshooting.md").fenced("DestroyFailed", "sh")
		u.Expect(blocks).NotTo(BeEmpty())
		command, _, _ := strings.Cut(blocks[0], "\n")
		u.Expect(command).To(HavePrefix("pulumi state unprotect "))
		words := strings.Fields(strings.NewReplacer("production::network::aws:ec2/vpc:Vpc::main", "dev::"+project+"::lab:index:Thing::a",
			"organization/network/production", "organization/"+project+"/dev").Replace(command))
		u.barePulumi(nil).run("", words[1:]...) // in an empty directory
		request(u, stack)
		u.awaitGone(stack)
		u.Expect(u.things()).To(BeEmpty())
	})
	t.Run("or in the program, if the destroy runs it", func(t *testing.T) {
		t.Parallel()
		u := newTenant(t, shared)
		program, stack := u.protectedStack()
		edit(u, program, func(p *v1.Program) { u.setProgram(p, oneThing("one")) })
		edit(u, stack, func(s *v1.Stack) { s.Spec.RunProgram = true })
		u.awaitGone(stack)
		u.Expect(u.things()).To(BeEmpty())
	})
}
