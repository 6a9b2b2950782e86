// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package languages

import (
	"testing"

	. "github.com/onsi/gomega"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
	"github.com/flux-pulumi/pulumi-controller/tests/sources"
	"github.com/flux-pulumi/pulumi-controller/tests/toolchain"
)

// goFiles is the program of testdata/go with the requirements of tests/lab, which has the SDK: all of its modules are there.
func goFiles(t *testing.T, replaced ...sources.Files) sources.Files {
	t.Helper()
	module, err := toolchain.GoModule()
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return files(t, "go", append([]sources.Files{module}, replaced...)...)
}

func TestAProgramInGo(t *testing.T) {
	t.Parallel()
	lives(newProject(t, goFiles(t)))
}

// lives is the life of a Stack whose program makes the things of its settings, with their value and a password.
func lives(p *project) {
	p.test.Helper()
	stack := p.stack(func(s *v1.StackSpec) { s.Config["app:value"] = value("one") })
	p.awaitReady(stack)
	p.Expect(p.things()).To(Equal(map[string]string{"a": "one", "b": "one"}))
	p.Expect(stack.Status.Resources.Total).To(BeEquivalentTo(3), "two things and the component")
	p.Expect(output(stack, "values")).To(MatchJSON(`["one", "one"]`))
	p.Expect(output(stack, "sentence")).To(MatchJSON(`"[secret]"`))

	p.edit(stack, func(s *v1.StackSpec) { s.Config["app:value"] = value("two") })
	p.awaitReady(stack)
	p.Expect(p.things()).To(Equal(map[string]string{"a": "two", "b": "two"}))
	p.shownNowhere(canary)
	p.destroy(stack)
}

// The modules of a workspace need no requirement of each other, and no version that is published.
func TestAProgramInAWorkspaceOfGo(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	all := sources.Files{
		// In a workspace, go looks into each module whose path begins that of a package, and nothing has downloaded these two.
		"go.work": "go 1.26.0\n\nuse (\n\t./app\n\t./naming\n)\n\n" +
			"replace (\n\tgithub.com/hashicorp/hcl => ./hcl\n\tgoogle.golang.org/genproto => ./genproto\n)\n",
		"hcl/go.mod":       "module github.com/hashicorp/hcl\n",
		"genproto/go.mod":  "module google.golang.org/genproto\n",
		"naming/go.mod":    "module example.com/naming\n\ngo 1.26.0\n",
		"naming/naming.go": "// Package naming names things.\npackage naming\n\n// Value is that of a thing.\nconst Value = \"of the workspace\"\n",
	}
	for name, content := range goFiles(t, sources.Files{"main.go": `package main

import (
	"example.com/naming"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

func main() {
	pulumi.Run(func(ctx *pulumi.Context) error {
		_, err := newThing(ctx, "a", thingArgs{value: naming.Value})
		return err
	})
}
`}) {
		all["app/"+name] = content
	}
	p := newProject(t, all)
	p.awaitReady(p.stack(in("app")))
	p.Expect(p.things()).To(Equal(map[string]string{"a": "of the workspace"}))
}

// Without the sums of its modules, go adds them: the module cache has them.
func TestTheSumsOfAProgramInGoAreMissing(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	p := newProject(t, goFiles(t, sources.Files{"go.sum": ""}))
	stack := p.stack(func(s *v1.StackSpec) {
		s.EnvRefs["GOFLAGS"], s.EnvRefs["GOSUMDB"] = literal("-mod=mod"), literal("off")
	})
	p.awaitWarning(stack, "go.sum of the source did not fit the program")
	p.Expect(p.things()).To(HaveLen(2))

	p.edit(stack, func(s *v1.StackSpec) { s.EnvRefs["CI"] = literal("true") })
	p.awaitFailure(stack, "go.sum of the source does not fit the program, and CI is set")
}
