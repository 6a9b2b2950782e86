// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"os"
	"testing"

	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
	"github.com/flux-pulumi/pulumi-controller/tests/sources"
)

func TestAProgramThatPulumiRefusesIsReportedAndHarmsNothing(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	u.publishFiles("good", project("lab", oneThing("one")))
	stack := u.stack(fromArtifact, func(s *v1.Stack) { s.Spec.Stack = "organization/lab/dev" })
	u.apply(stack)
	u.awaitReady(stack)
	for name, test := range map[string]struct {
		files sources.Files
		texts []string
	}{
		"a project file that is no YAML":         {sources.Files{"Pulumi.yaml": "name: lab\n\truntime: {"}, []string{"Pulumi.yaml"}},
		"a project file without a runtime":       {sources.Files{"Pulumi.yaml": "name: lab\n"}, []string{"Pulumi.yaml names no runtime"}},
		"a program that is not to be parsed":     {project("lab", "resources: [a, b]\n"), []string{"resources must be an object"}},
		"a reference to nothing":                 {project("lab", oneThing("${nothing.here}")), []string{"nothing"}},
		"a property that the type has not":       {project("lab", oneThing("two", "colour: red")), []string{"colour"}},
		"a type that the provider has not":       {project("lab", "resources: {a: {type: 'lab:index:Nothing'}}\n"), []string{"lab:index:Nothing"}},
		"a language host that is not there":      {sources.Files{"Pulumi.yaml": "name: lab\nruntime: nodejs\n"}, []string{"installing the dependencies of the program", "pulumi-language-nodejs", "the image that runs the program does not have it, or not for the user of the run"}},
		"a provider that is not there":           {project("lab", "resources: {a: {type: 'nowhere:index:Thing'}}\n"), []string{"nowhere", "provider plugin is not installed"}},
		"a project other than the stack's":       {project("other", oneThing("two")), []string{"other"}},
		"a thing that cannot be made as written": {project("lab", oneThing("two", "hang: sometimes")), []string{`"sometimes" is not an operation`}},
	} {
		t.Log(name)
		u.publishFiles(name, test.files)
		u.awaitAttempt(stack, name)
		u.awaitFailure(stack, v1.UpdateFailedReason, test.texts...)
		u.Expect(stack.Status.LastUpdate.State).To(Equal(v1.UpdateFailed))
		u.Expect(stack.Status.LastAppliedRevision).To(Equal("good"))
		u.kept("lab", "one")
	}
	u.publishFiles("mended", project("lab", oneThing("three")))
	u.awaitReady(stack, atRevision("mended"))
	u.kept("lab", "three")
}

func TestAProgramObjectThatDoesNotWorkIsReported(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	program := u.program(oneThing("${nothing.here}"))
	u.apply(program)
	stack := u.stack(fromProgram)
	u.apply(stack)
	u.awaitFailure(stack, v1.UpdateFailedReason, `"nothing"`)
	u.Expect(u.things()).To(BeEmpty())

	edit(u, program, func(p *v1.Program) { u.setProgram(p, oneThing("one")) })
	u.awaitReady(stack, programEdited(program))
	u.kept("app", "one")
}

func TestAnUpdateThatFailsHalfWayKeepsWhatItMade(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	source := u.git(project("lab", twoThings("x", "y", "failures: {create: the quota is used up}")))
	stack := u.stack(fromGit, destroyed)
	u.apply(stack)
	u.awaitFailure(stack, v1.UpdateFailedReason, "lab:index:Thing (c)", "the quota is used up")
	u.Expect(conditions.GetMessage(stack, "Ready")).NotTo(ContainSubstring("update failed"))
	u.Expect(u.things()).To(Equal(map[string]string{"b": "x"}))
	u.Expect(u.resourcesInState("lab", "dev")).To(Equal([]string{"b"}))
	u.Expect(stack.Status.Resources.Created).To(BeEquivalentTo(1))
	u.Expect(stack.Status.Failures).To(BeEquivalentTo(1))

	revision := source.commit(project("lab", twoThings("x", "y")))
	u.awaitReady(stack, atRevision(revision))
	u.Expect(u.things()).To(Equal(map[string]string{"b": "x", "c": "y"}))
	u.Expect(u.cloud.Created("b")).To(Equal(1), "it was not made again")
	u.Expect(stack.Status.Failures).To(BeZero())
}

// A failed run is retried after the retry interval, without a request.
func TestAFailedUpdateIsTriedAgain(t *testing.T) {
	t.Parallel()
	u := newTenant(t, shared)
	stack := u.stack(fromProgram, func(s *v1.Stack) {
		s.Spec.Backend += "-later"
		s.Spec.RetryInterval = seconds(2)
	})
	u.apply(u.program(oneThing("one")))
	u.apply(stack)
	u.awaitFailure(stack, v1.UpdateFailedReason, "the backend cannot be opened")

	u.Expect(os.Mkdir(u.backend+"-later", 0o755)).To(Succeed())
	u.awaitReady(stack)
	u.Expect(u.things()).To(Equal(map[string]string{"a": "one"}))
}
