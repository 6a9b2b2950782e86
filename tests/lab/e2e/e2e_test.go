// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package e2e tests the lab provider with the real Pulumi CLI and YAML host. It has only
// tests.
package e2e

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
)

func TestLab(t *testing.T) {
	plugin := buildPlugin(t)
	for name, test := range map[string]func(*testing.T, *stack){
		"the life of a stack":                                theLifeOfAStack,
		"a new name replaces the thing":                      aNewNameReplacesTheThing,
		"a thing that is gone is made again":                 aThingThatIsGoneIsMadeAgain,
		"an operation that is to fail fails":                 failures,
		"a preview shows inputs that are wrong":              aPreviewShowsInputsThatAreWrong,
		"the first signal lets a create finish":              theFirstSignalLetsACreateFinish,
		"a provider killed before it answers leaves a thing": aProviderKilledBeforeItAnswersLeavesAThing,
		"the first signal ends a hang":                       theFirstSignalEndsAHang,
	} {
		t.Run(name, func(t *testing.T) { test(t, newStack(t, plugin)) })
	}
}

func theLifeOfAStack(t *testing.T, s *stack) {
	g := NewWithT(t)

	s.program(`value: one, secretValue: canary-1, tags: {colour: blue}`)
	s.mustRun("preview")
	g.Expect(s.cloud).NotTo(BeADirectory(), "a preview leaves no trace")

	s.mustRun("up", "--yes", "--skip-preview")
	first := s.onlyThing()
	g.Expect(s.file(first)).To(MatchJSON(`{"name":"a","value":"one","tags":{"colour":"blue"}}`))
	g.Expect(s.phases()).To(Equal([]string{"create begin a", "create done a"}))
	g.Expect(s.mustRun("stack", "output", "id")).To(Equal(first + "\n"))

	s.mustRun("up", "--yes", "--skip-preview")
	g.Expect(s.phases()).To(HaveLen(2), "nothing changed, nothing done")

	s.program(`value: two, secretValue: canary-1`)
	s.mustRun("up", "--yes", "--skip-preview")
	g.Expect(s.onlyThing()).To(Equal(first), "updated in place")
	g.Expect(s.file(first)).To(MatchJSON(`{"name":"a","value":"two"}`))
	g.Expect(s.phases()[2:]).To(Equal([]string{"update begin a", "update done a"}))

	g.Expect(os.WriteFile(s.path(first), []byte(`{"name":"a","value":"by hand"}`), 0o600)).To(Succeed())
	s.mustRun("refresh", "--yes", "--skip-preview")
	g.Expect(s.mustRun("stack", "export")).To(ContainSubstring(`"value": "by hand"`))
	g.Expect(s.phases()[4:]).To(Equal([]string{"read begin a", "read done a"}))
	s.mustRun("up", "--yes", "--skip-preview")
	g.Expect(s.file(first)).To(MatchJSON(`{"name":"a","value":"two"}`), "drift is undone")

	g.Expect(s.mustRun("stack", "export")).NotTo(ContainSubstring("canary"), "the secret stays one, also after a refresh")
	s.mustRun("destroy", "--yes", "--skip-preview", "--remove")
	g.Expect(s.things()).To(BeEmpty())
	g.Expect(s.phases()[8:]).To(Equal([]string{"delete begin a", "delete done a"}))
	g.Expect(s.mustRun("stack", "ls", "--json")).To(MatchJSON(`[]`))
}

func aNewNameReplacesTheThing(t *testing.T, s *stack) {
	g := NewWithT(t)
	s.program(`value: one`)
	s.mustRun("up", "--yes", "--skip-preview")
	first := s.onlyThing()

	s.programNamed("b", `value: one`)
	s.mustRun("up", "--yes", "--skip-preview")

	g.Expect(s.onlyThing()).To(And(HavePrefix("b-"), Not(Equal(first))))
	g.Expect(s.phases()[2:]).To(Equal([]string{"create begin b", "create done b", "delete begin a", "delete done a"}))
}

func aThingThatIsGoneIsMadeAgain(t *testing.T, s *stack) {
	g := NewWithT(t)
	s.program(`value: one`)
	s.mustRun("up", "--yes", "--skip-preview")
	first := s.onlyThing()
	g.Expect(os.Remove(s.path(first))).To(Succeed())

	s.mustRun("up", "--yes", "--skip-preview", "--refresh")

	g.Expect(s.onlyThing()).NotTo(Equal(first))
}

func failures(t *testing.T, s *stack) {
	g := NewWithT(t)

	s.program(`failures: {create: quota is used up}`)
	g.Expect(s.mustFail("up", "--yes", "--skip-preview")).To(ContainSubstring("quota is used up"))
	g.Expect(s.things()).To(BeEmpty())
	g.Expect(s.phases()).To(Equal([]string{"create begin a", "create failed a"}))

	s.program(`secretValue: canary-2, echoInput: true, failures: {partialCreate: half made}`)
	g.Expect(s.mustFail("up", "--yes", "--skip-preview")).To(ContainSubstring("half made"))
	half := s.onlyThing()
	g.Expect(s.mustRun("stack", "export")).To(ContainSubstring(half), "the state knows the half made thing")

	s.program(`failures: {delete: it is in use}`)
	s.mustRun("up", "--yes", "--skip-preview")
	g.Expect(s.onlyThing()).To(Equal(half), "the half made thing is updated, not made again")
	g.Expect(s.mustFail("destroy", "--yes", "--skip-preview")).To(ContainSubstring("it is in use"))
	g.Expect(s.onlyThing()).To(Equal(half))
	g.Expect(s.journal()).NotTo(ContainSubstring("canary"))
}

func aPreviewShowsInputsThatAreWrong(t *testing.T, s *stack) {
	g := NewWithT(t)

	s.program(`delays: {create: soon}, hang: sometimes`)

	g.Expect(s.mustFail("preview")).To(And(ContainSubstring(`invalid duration "soon"`), ContainSubstring(`"sometimes" is not an operation`)))
	g.Expect(s.cloud).NotTo(BeADirectory())
}

func theFirstSignalLetsACreateFinish(t *testing.T, s *stack) {
	g := NewWithT(t)
	s.program(`delays: {create: 3s}`)

	output, code := s.interrupt("create begin a", "up", "--yes", "--skip-preview")

	g.Expect(code).To(Equal(1), output)
	g.Expect(s.phases()).To(Equal([]string{"create begin a", "create done a"}))
	g.Expect(s.mustRun("stack", "export")).To(And(ContainSubstring(s.onlyThing()), Not(ContainSubstring("pending_operations"))))
	g.Expect(filepath.Glob(filepath.Join(s.dir, "state", ".pulumi", "locks", "*", "*", "*", "*"))).To(BeEmpty())
}

func theFirstSignalEndsAHang(t *testing.T, s *stack) {
	g := NewWithT(t)
	s.program(`hang: create`)

	output, code := s.interrupt("create begin a", "up", "--yes", "--skip-preview")

	g.Expect(code).To(Equal(1), output)
	g.Expect(output).To(ContainSubstring("was hanging"))
	g.Expect(s.phases()).To(Equal([]string{"create begin a", "create cancelled a"}))
	g.Expect(s.things()).To(BeEmpty())
}

func aProviderKilledBeforeItAnswersLeavesAThing(t *testing.T, s *stack) {
	g := NewWithT(t)
	s.program(`delays: {afterCreate: 10m}`)

	output, code := s.killProvider("create done a", "up", "--yes", "--skip-preview")

	g.Expect(code).To(Equal(1), output)
	g.Expect(s.phases()).To(Equal([]string{"create begin a", "create done a"}))
	g.Expect(s.mustRun("stack", "export")).NotTo(ContainSubstring(s.onlyThing()), "in the cloud and not in the state")
}
