// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"os"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/snapshot"
)

func TestWhichProgramsLoadTheSameFilesForEachStack(t *testing.T) {
	for name, tt := range map[string]struct {
		files map[string]string
		want  bool
	}{
		"imports alone": {map[string]string{"index.ts": "import * as pulumi from \"@pulumi/pulumi\";\nimport { a } from './a';\n", "a.ts": "export const a = 1;"}, true},
		"the methods of the configuration": {map[string]string{
			"index.ts": "const a = config.require(\"a\"), b = config\n    .require(\"b\"), c = config.requireSecret(\"c\"), d = requireObject(e), required = 1;"}, true},
		"text of other kinds":         {map[string]string{"index.ts": "", "README.md": "require(\"./a\")"}, true},
		"packages":                    {map[string]string{"index.ts": "", "app/node_modules/a/index.js": "require(stack)"}, true},
		"require":                     {map[string]string{"index.ts": "const a = require(`./${stack}`);"}, false},
		"require at the start":        {map[string]string{"index.ts": "require('./' + stack)"}, false},
		"require by another name":     {map[string]string{"index.ts": "const load = require;"}, false},
		"require of the module":       {map[string]string{"index.ts": "module.require(stack)"}, false},
		"a require that is made":      {map[string]string{"index.ts": "import { createRequire } from \"node:module\";"}, false},
		"an import that is called":    {map[string]string{"index.ts": "await import (stack);"}, false},
		"require in JavaScript":       {map[string]string{"index.ts": "import './a';", "lib/a.js": "require(stack)"}, false},
		"a package that loads files":  {map[string]string{"index.ts": "import all from \"require-all\";"}, false},
		"more than can be searched":   {map[string]string{"index.ts": strings.Repeat("x", maxSourceText/2), "a.ts": strings.Repeat("x", maxSourceText/2+1)}, false},
		"a link out of the workspace": {map[string]string{"index.ts": "", "a.ts": "->/etc/hostname"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			dir := t.TempDir()
			root, err := os.OpenRoot(dir)
			g.Expect(err).NotTo(HaveOccurred())
			defer func() { _ = root.Close() }()
			for file, text := range tt.files {
				if to, isLink := strings.CutPrefix(text, "->"); isLink {
					g.Expect(root.Symlink(to, file)).To(Succeed())
					continue
				}
				writeTree(t, dir, map[string]string{file: text})
			}
			g.Expect(loadsTheSameFiles(root)).To(Equal(tt.want))
		})
	}
}

func TestTheTypesOfAProgramAreCheckedOnceForAllStacksWithTheSameFiles(t *testing.T) {
	for text, isShared := range map[string]bool{"import './a';": true, "require(stack);": false} {
		t.Run(text, func(t *testing.T) {
			g := NewWithT(t)
			dir := t.TempDir()
			writeTree(t, dir, map[string]string{"index.ts": text})
			root, err := os.OpenRoot(dir)
			g.Expect(err).NotTo(HaveOccurred())
			defer func() { _ = root.Close() }()
			driver := &Driver{Snapshots: snapshot.New(t.TempDir(), 1<<20)}
			session := func(stack string, env ...string) *session {
				s := &session{driver: driver, env: env, run: run.Run{Operation: run.Update, Program: run.Program{Artifact: &run.Artifact{Digest: "a"}}},
					prepared: &prepared{stack: stack, needs: needs{runtime: "nodejs"}}}
				s.expectTypeCheck(root, snapshot.ID{})
				s.skipTypeCheck()
				return s
			}
			ignorant := session("dev", "TS_NODE_IGNORE_DIAGNOSTICS=2322")
			ignorant.noteTypeCheck(run.Succeeded)
			first := session("dev")
			g.Expect(first.env).To(BeEmpty(), "the settings of another run are not those of this one")
			first.noteTypeCheck(run.Succeeded)
			g.Expect(session("dev").env).To(ConsistOf(transpileOnly + "=true"))
			if isShared {
				g.Expect(session("prod").env).To(ConsistOf(transpileOnly + "=true"))
			} else {
				g.Expect(session("prod").env).To(BeEmpty())
			}
		})
	}
}
