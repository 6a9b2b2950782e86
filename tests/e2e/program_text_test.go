// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"strings"

	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/sources"
)

// oneThing is the body of a program with one thing, named a, and its value as an output. more are further properties
// of the thing, in the syntax of a YAML flow mapping.
func oneThing(value string, more ...string) string {
	properties := strings.Join(append([]string{"name: a", fmt.Sprintf("value: %q", value)}, more...), ", ")
	return fmt.Sprintf(`resources:
  a:
    type: lab:index:Thing
    properties: {%s}
outputs:
  value: ${a.value}
`, properties)
}

// twoThings is the body of a program with two things, named b and c. c is created after b. moreOfC are further
// properties of c.
func twoThings(b, c string, moreOfC ...string) string {
	properties := strings.Join(append([]string{"name: c", fmt.Sprintf("value: %q", c)}, moreOfC...), ", ")
	return fmt.Sprintf(`resources:
  b:
    type: lab:index:Thing
    properties: {name: b, value: %q}
  c:
    type: lab:index:Thing
    properties: {%s}
    options: {dependsOn: ["${b}"]}
`, b, properties)
}

// project returns the files of a program's directory in a source.
func project(name, body string) sources.Files {
	return sources.Files{"Pulumi.yaml": "name: " + name + "\nruntime: yaml\n" + body}
}

// in puts files into a directory.
func in(dir string, files sources.Files) sources.Files {
	moved := sources.Files{}
	for name, text := range files {
		moved[dir+"/"+name] = text
	}
	return moved
}

// both joins the files of two programs.
func both(a, b sources.Files) sources.Files {
	joined := sources.Files{}
	for _, files := range []sources.Files{a, b} {
		for name, text := range files {
			joined[name] = text
		}
	}
	return joined
}

// program describes a Program named app.
func (t *tenant) program(body string) *v1.Program {
	t.test.Helper()
	program := &v1.Program{ObjectMeta: metav1.ObjectMeta{Name: "app", Namespace: t.namespace, Labels: t.labels()}}
	t.setProgram(program, body)
	return program
}

// awaitKnown waits until the controller has seen the Program. It may see a Stack before a Program that is older, and then
// tells that it waits for the Program.
func (t *tenant) awaitKnown(program *v1.Program) {
	t.test.Helper()
	t.Eventually(func(g Gomega) {
		g.Expect(t.Get(t.ctx, keyOf(program), program)).To(Succeed())
		g.Expect(conditions.IsReady(program)).To(BeTrue())
	}).Should(Succeed())
}

// setProgram replaces the text of a Program.
func (t *tenant) setProgram(program *v1.Program, body string) {
	t.test.Helper()
	program.Program = v1.ProgramSpec{}
	t.Expect(yaml.UnmarshalStrict([]byte(body), &program.Program)).To(Succeed())
}

// fromProgram makes the Stack run the Program named app.
func fromProgram(s *v1.Stack) {
	s.Spec.ProgramRef = &v1.ProgramReference{Name: "app"}
}

// programEdited is met once the latest text of the Program is applied.
func programEdited(program *v1.Program) expectation {
	return func(g Gomega, stack *v1.Stack) {
		g.Expect(stack.Status.LastAppliedRevision).To(HavePrefix(fmt.Sprintf("%d@sha256:", program.Generation)))
	}
}
