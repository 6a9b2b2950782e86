// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package languages

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/tests/short"
	"github.com/flux-pulumi/pulumi-controller/tests/sources"
)

// The recordings in internal/pulumi have more mistakes, each with its message: these are real once.
func TestMistakesInTypeScript(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	needsNode(t)
	p := newProject(t, files(t, "typescript", sources.Files{"index.ts": `import { Thing } from "./thing";
export const value = new Thing("a", { name: 1 }).value;
`}))
	stack := p.stack()
	p.awaitFailure(stack, "index.ts:2:", "error TS2322: Type 'number' is not assignable to type 'Input<string>'")
	p.Expect(p.things()).To(BeEmpty())

	p.commit(sources.Files{"index.ts": `import { Thing } from "./thing";
new Thing("a", { name: "a" });
function broken(): never {
    throw new Error("out of luck");
}
broken();
`})
	p.awaitFailure(stack, "Error: out of luck", "index.ts:4")

	p.commit(sources.Files{"index.ts": `import { nowhere } from "nowhere";
export const value = nowhere;
`})
	p.awaitFailure(stack, "index.ts:1:", "Cannot find module 'nowhere'")

	p.commit(sources.Files{
		"index.ts":         "import { Thing } from \"./thing\";\nexport const value = new Thing(\"a\", { name: \"a\" }).value;\n",
		"package.json":     `{"name": "app", "main": "index.ts", "dependencies": {"sdk": "file:sdk"}}`,
		"sdk/package.json": `{"name": "sdk", "version": "2.0.0", "pulumi": {"resource": true, "name": "lab"}}`,
	})
	p.awaitFailure(stack, "lab", "v2.0.0")
}

func TestMistakesInGo(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	program := func(body string) sources.Files {
		return sources.Files{"main.go": `package main

import "github.com/pulumi/pulumi/sdk/v3/go/pulumi"

func main() {
	pulumi.Run(func(ctx *pulumi.Context) error {
		` + body + `
	})
}
`}
	}
	p := newProject(t, goFiles(t, program("return nowhere")))
	stack := p.stack()
	p.awaitFailure(stack, "main.go:7:10: undefined: nowhere")

	p.commit(program(`_, err := newThing(ctx, "a", thingArgs{value: ctx.Stack()})
		if err == nil {
			panic("out of luck")
		}
		return err`))
	p.awaitFailure(stack, "panic: out of luck", "main.go:9")

	p.commit(sources.Files{"main.go": "package main\n\nimport _ \"example.com/nowhere\"\n\nfunc main() {}\n"})
	p.awaitFailure(stack, "example.com/nowhere")
}
