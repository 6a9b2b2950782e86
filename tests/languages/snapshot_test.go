// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package languages

import (
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
	"github.com/flux-pulumi/pulumi-controller/tests/sources"
)

// usesModules is the end of a program that says what it has in node_modules, and writes there with one value.
const usesModules = `
import * as fs from "fs";
export const types = process.env.PULUMI_NODEJS_TRANSPILE_ONLY === "true" ? "known" : "checked";
const own = fs.statSync("node_modules/typescript/package.json", { bigint: true });
export const copied = String(own.ino) + " " + String(own.ctimeNs);
const readme = "node_modules/typescript/README.md";
if (config.get("value") === "spoil") {
    fs.appendFileSync(readme, "spoilt");
}
export const spoilt = fs.readFileSync(readme, "utf8").endsWith("spoilt");
`

// The dependencies of a project are installed once in a namespace, for all its Stacks and commits, also with a token that
// was renewed meanwhile. Another namespace installs its own. A run gets what another one has left untouched.
func TestDependenciesAreInstalledOnceForANamespace(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	needsNode(t)
	registry := newRegistry(t)
	program := files(t, "typescript", registry.publishSDK(t))
	program["Pulumi.prod.yaml"] = program["Pulumi.dev.yaml"]
	program["index.ts"] += usesModules
	p := newProject(t, program)
	named := func(name string) func(*v1.StackSpec) {
		return func(s *v1.StackSpec) { s.Stack, s.Config["app:value"] = name, value("one") }
	}
	token := p.withToken(registryToken)
	first, second := p.stack(token, named("dev")), p.stack(token, named("prod"))
	p.awaitReady(first)
	p.awaitReady(second)
	p.Expect(output(first, "types")).To(Equal(`"checked"`))
	copies := []string{output(first, "copied"), output(second, "copied")}
	p.Expect(copies[0]).NotTo(Equal(copies[1]), "each run has a copy of its own")
	installed := registry.Downloads.Load()
	p.Expect(installed).To(BeNumerically("~", registry.Offered(), 40), "some are of other platforms: two Stacks at once installed once")

	p.edit(first, func(s *v1.StackSpec) { s.Config["app:value"] = value("two") })
	p.awaitReady(first)
	p.Expect(output(first, "types")).To(Equal(`"known"`), "a source that has passed is not checked again")
	p.Expect(copies).To(ContainElement(output(first, "copied")), "a copy that was left untouched is used again")
	p.commit(sources.Files{"README.md": "the manifests are the same"})
	p.edit(first, func(s *v1.StackSpec) {
		delete(s.EnvRefs, "NPM_TOKEN") // as one that has expired
	})
	p.awaitReady(first)
	p.Expect(copies).To(ContainElement(output(first, "copied")), "also by another commit")

	p.edit(first, func(s *v1.StackSpec) { s.Config["app:value"] = value("spoil") })
	p.awaitReady(first)
	p.Expect(output(first, "spoilt")).To(Equal("true"))
	spoilt := output(first, "copied")
	for _, text := range []string{"three", "four"} {
		p.edit(first, func(s *v1.StackSpec) { s.Config["app:value"] = value(text) })
		p.awaitReady(first)
		p.Expect(output(first, "spoilt")).To(Equal("false"), "what a program writes stays its own")
		p.Expect(output(first, "copied")).NotTo(Equal(spoilt))
	}
	p.commit(sources.Files{"index.ts": program["index.ts"] + "export const wrong: number = \"a text\";\n"})
	p.Eventually(func(g Gomega) {
		g.Expect(p.Get(t.Context(), keyOf(first), first)).To(Succeed())
		g.Expect(conditions.GetMessage(first, meta.ReadyCondition)).To(ContainSubstring("not assignable to type 'number'"), "another source is checked")
	}).Should(Succeed())
	p.Expect(registry.Downloads.Load()).To(Equal(installed), "nothing was installed again")

	other := newProject(t, program)
	stack := other.stack(other.withToken(registryToken), named("dev"))
	other.awaitReady(stack)
	p.Expect(registry.Downloads.Load()).To(BeNumerically(">", installed), "nothing is shared between namespaces")
}
