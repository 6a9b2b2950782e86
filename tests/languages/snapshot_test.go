// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package languages

import (
	"testing"

	. "github.com/onsi/gomega"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
	"github.com/flux-pulumi/pulumi-controller/tests/sources"
)

// The dependencies of a project are installed once in a namespace, for all its Stacks and commits, also with a token that
// was renewed meanwhile. Another namespace installs its own.
func TestDependenciesAreInstalledOnceForANamespace(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	needsNode(t)
	registry := newRegistry(t)
	program := files(t, "typescript", registry.publishSDK(t))
	program["Pulumi.prod.yaml"] = program["Pulumi.dev.yaml"]
	program["index.ts"] += "export const types = process.env.PULUMI_NODEJS_TRANSPILE_ONLY === \"true\" ? \"known\" : \"checked\";\n"
	p := newProject(t, program)
	named := func(name string) func(*v1.StackSpec) {
		return func(s *v1.StackSpec) { s.Stack, s.Config["app:value"] = name, value("one") }
	}
	token := p.withToken(registryToken)
	first, second := p.stack(token, named("dev")), p.stack(token, named("prod"))
	p.awaitReady(first)
	p.awaitReady(second)
	p.Expect(output(first, "types")).To(Equal(`"checked"`))
	installed := registry.Downloads.Load()
	p.Expect(installed).To(BeNumerically("~", registry.Offered(), 40), "some are of other platforms: two Stacks at once installed once")

	p.edit(first, func(s *v1.StackSpec) { s.Config["app:value"] = value("two") })
	p.awaitReady(first)
	p.Expect(output(first, "types")).To(Equal(`"known"`), "a source that has passed is not checked again")
	p.commit(sources.Files{"README.md": "the manifests are the same"})
	p.edit(first, func(s *v1.StackSpec) {
		delete(s.EnvRefs, "NPM_TOKEN") // as one that has expired
	})
	p.awaitReady(first)
	p.Expect(output(first, "types")).To(Equal(`"checked"`), "it is another source")
	p.Expect(registry.Downloads.Load()).To(Equal(installed), "nothing was installed again")

	other := newProject(t, program)
	stack := other.stack(other.withToken(registryToken), named("dev"))
	other.awaitReady(stack)
	p.Expect(registry.Downloads.Load()).To(BeNumerically(">", installed), "nothing is shared between namespaces")
}
