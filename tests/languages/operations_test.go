// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package languages

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
	"github.com/flux-pulumi/pulumi-controller/tests/sources"
)

func TestAProgramInTypeScriptIsPreviewedAndRunsAtItsDestroy(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	needsNode(t)
	// Pulumi calls the hook only if the destroy runs the program.
	program := files(t, "typescript", sources.Files{"index.ts": `import * as fs from "fs";
import * as pulumi from "@pulumi/pulumi";
import { Thing } from "./thing";

const farewell = new pulumi.ResourceHook("farewell", () => fs.writeFileSync(new pulumi.Config().require("farewell"), "bye"));
export const value = new Thing("a", { name: "a", value: new pulumi.Config().get("value") ?? "one" }, { hooks: { beforeDelete: [farewell] } }).value;
`})
	p := newProject(t, program)
	farewell := p.place() + "-farewell"
	stack := p.stack(func(s *v1.StackSpec) { s.RunProgram, s.Config["app:farewell"] = true, value(farewell) })
	p.awaitReady(stack)
	p.previews(stack, func(s *v1.StackSpec) { s.Config["app:value"] = value("two") }, map[string]string{"a": "one"})
	p.Expect(farewell).NotTo(BeAnExistingFile())
	p.destroy(stack)
	p.Expect(farewell).To(BeARegularFile())
}

func TestAProgramInGoIsPreviewedAndRunsAtItsDestroy(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	p := newProject(t, goFiles(t, sources.Files{"main.go": `package main

import (
	"os"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi/config"
)

func main() {
	pulumi.Run(func(ctx *pulumi.Context) error {
		own := config.New(ctx, "")
		farewell, err := ctx.RegisterResourceHook("farewell", func(*pulumi.ResourceHookArgs) error {
			return os.WriteFile(own.Require("farewell"), []byte("bye"), 0o600)
		}, nil)
		if err != nil {
			return err
		}
		_, err = newThing(ctx, "a", thingArgs{value: own.Get("value")},
			pulumi.ResourceHooks(&pulumi.ResourceHookBinding{BeforeDelete: []*pulumi.ResourceHook{farewell}}))
		return err
	})
}
`}))
	farewell := p.place() + "-farewell"
	stack := p.stack(func(s *v1.StackSpec) {
		s.RunProgram, s.Config["app:value"], s.Config["app:farewell"] = true, value("one"), value(farewell)
	})
	p.awaitReady(stack)
	p.previews(stack, func(s *v1.StackSpec) { s.Config["app:value"] = value("two") }, map[string]string{"a": "one"})
	p.Expect(farewell).NotTo(BeAnExistingFile())
	p.destroy(stack)
	p.Expect(farewell).To(BeARegularFile())
}

// previews edits the Stack, and expects a preview that shows one update for each thing and makes none of
// them, before they are made.
func (p *project) previews(stack *v1.Stack, change func(*v1.StackSpec), things map[string]string) {
	p.test.Helper()
	p.edit(stack, func(s *v1.StackSpec) {
		s.Preview = true
		change(s)
	})
	p.Eventually(func(g Gomega) {
		g.Expect(p.Get(p.test.Context(), keyOf(stack), stack)).To(Succeed())
		g.Expect(stack.Status.LastUpdate.Type).To(Equal(v1.UpdateTypePreview))
		g.Expect(stack.Status.LastUpdate.State).To(Equal(v1.UpdateSucceeded), stack.Status.LastUpdate.Message)
		g.Expect(stack.Status.LastUpdate.Generation).To(Equal(stack.Generation))
	}).Should(Succeed())
	p.Expect(stack.Status.LastUpdate.Message).To(ContainSubstring(fmt.Sprintf(": %d to update", len(things))))
	p.Expect(p.things()).To(Equal(things))

	p.edit(stack, func(s *v1.StackSpec) { s.Preview = false }) // a Stack that only previews destroys nothing
	p.awaitReady(stack)
}

// The code of the provider is in the state. A destroy does not run the program, but the code needs what the program has
// installed.
func TestADynamicProvider(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	needsNode(t)
	registry := newRegistry(t)
	registry.publish(t, "naming", "1.0.0", `exports.nameOf = (name) => name + ".txt";`)
	p := newProject(t, files(t, "typescript", sources.Files{
		".npmrc":       registry.NPMRC(),
		"package.json": `{"name": "app", "main": "index.ts", "dependencies": {"naming": "^1.0.0"}}`,
		"index.ts": `import * as pulumi from "@pulumi/pulumi";
const naming = require("naming");

interface NoteInputs {
    directory: string;
    text: string;
}

const notes: pulumi.dynamic.ResourceProvider<NoteInputs, NoteInputs> = {
    async create(inputs) {
        require("fs").writeFileSync(inputs.directory + "/" + naming.nameOf("note"), inputs.text);
        return { id: "note", outs: inputs };
    },
    async update(_id, _olds, news) {
        require("fs").writeFileSync(news.directory + "/" + naming.nameOf("note"), news.text);
        return { outs: news };
    },
    async delete(_id, props) {
        require("fs").rmSync(props.directory + "/" + naming.nameOf("note"));
    },
};

class Note extends pulumi.dynamic.Resource {
    public readonly text!: pulumi.Output<string>;
    constructor(name: string, args: pulumi.Inputs) {
        super(notes, name, args);
    }
}

const config = new pulumi.Config();
export const text = new Note("note", { directory: config.require("directory"), text: config.require("text") }).text;
`,
	}))
	stack := p.stack(p.withToken(registryToken), func(s *v1.StackSpec) {
		s.Config["app:directory"], s.Config["app:text"] = value(p.place()), value("one")
	})
	p.Expect(os.MkdirAll(p.place(), 0o755)).To(Succeed())
	note := filepath.Join(p.place(), "note.txt")
	p.awaitReady(stack)
	p.Expect(os.ReadFile(note)).To(BeEquivalentTo("one"))
	p.Expect(output(stack, "text")).To(MatchJSON(`"one"`))

	p.edit(stack, func(s *v1.StackSpec) { s.Config["app:text"] = value("two") })
	p.awaitReady(stack)
	p.Expect(os.ReadFile(note)).To(BeEquivalentTo("two"))
	p.destroy(stack)
	p.Expect(note).NotTo(BeAnExistingFile())
}

// A program in TypeScript reads the outputs of one in Go, and one in Go reads those of that.
func TestStackReferencesBetweenLanguages(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	needsNode(t)
	all := sources.Files{}
	add := func(dir string, program sources.Files) {
		for file, content := range program {
			all[dir+"/"+file] = content
		}
	}
	add("first", goFiles(t))
	add("second", files(t, "typescript", sources.Files{"Pulumi.yaml": "name: second\nruntime: nodejs\n", "Pulumi.dev.yaml": "", "index.ts": `
import * as pulumi from "@pulumi/pulumi";
import { Thing } from "./thing";

const first = new pulumi.StackReference("organization/app/dev");
export const value = new Thing("c", { name: "c", value: first.requireOutput("values").apply((values) => values[0]) }).value;
export const sentence = first.requireOutput("sentence");
`}))
	add("third", goFiles(t, sources.Files{"Pulumi.yaml": "name: third\nruntime: go\n", "main.go": `
package main

import "github.com/pulumi/pulumi/sdk/v3/go/pulumi"

func main() {
	pulumi.Run(func(ctx *pulumi.Context) error {
		second, err := pulumi.NewStackReference(ctx, "organization/second/dev", nil)
		if err != nil {
			return err
		}
		ctx.Export("value", second.GetOutput(pulumi.String("value")))
		ctx.Export("sentence", second.GetOutput(pulumi.String("sentence")))
		return nil
	})
}
`}))
	p := newProject(t, all)
	first := p.stack(in("first"), func(s *v1.StackSpec) { s.Config["app:value"] = value("of the first") })
	p.awaitReady(first)
	var read *v1.Stack
	for _, name := range []string{"second", "third"} {
		read = p.stack(in(name), func(s *v1.StackSpec) {
			s.SecretsRef = nil
			s.Stack = "organization/" + name + "/dev"
		})
		p.awaitReady(read)
		p.Expect(output(read, "value")).To(MatchJSON(`"of the first"`))
		p.Expect(output(read, "sentence")).To(MatchJSON(`"[secret]"`))
	}
	p.shownNowhere(canary)
}
