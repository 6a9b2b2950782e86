// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
	"github.com/pulumi/pulumi/sdk/v3/go/common/encoding"
	"github.com/pulumi/pulumi/sdk/v3/go/common/workspace"
)

// toolsDir is a directory with commands of these names, which do nothing.
func toolsDir(t *testing.T, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		writeProgram(t, filepath.Join(dir, name), "#!/bin/sh\n")
	}
	return dir
}

func needsIn(t *testing.T, project string) needs {
	t.Helper()
	read, err := workspace.LoadProjectBytes([]byte("name: demo\nruntime: "+project+"\n"), "Pulumi.yaml", encoding.YAML)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return needsOf(read)
}

func TestThePlanOfAnInstallation(t *testing.T) {
	t.Parallel()
	var (
		npm     = []string{"npm"}
		rebuild = []string{"npm", "rebuild", "--ignore-scripts"}
		list    = []string{"go", "list", "-deps", "-f", "{{if false}}{{end}}", "."}
	)
	for name, test := range map[string]struct {
		project string
		files   []string
		tools   []string
		want    installPlan
		wantErr string
	}{
		"npm":                                                 {project: "nodejs", files: []string{"package.json", "package-lock.json"}, tools: npm},
		"npm with node_modules":                               {project: "nodejs", files: []string{"package.json", "node_modules/a/package.json"}, tools: npm, want: installPlan{tool: rebuild, dir: "infra"}},
		"npm with node_modules above":                         {project: "nodejs\nmain: dist/index.js", files: []string{"package.json", "dist/index.js", "node_modules/a/package.json"}, tools: npm, want: installPlan{tool: rebuild, dir: "infra"}},
		"npm with node_modules of the workspace":              {project: "nodejs", files: []string{"package.json", "../package.json", "../node_modules/a/package.json"}, tools: npm, want: installPlan{tool: rebuild, dir: "."}},
		"node_modules without npm":                            {project: "nodejs", files: []string{"package.json", "node_modules/a/package.json"}},
		"yarn with node_modules":                              {project: "nodejs", files: []string{"package.json", "yarn.lock", "node_modules/a/package.json"}, tools: []string{"npm", "yarn"}},
		"bun as the runtime":                                  {project: "bun", files: []string{"package.json", "yarn.lock"}, tools: npm},
		"yarn that is missing":                                {project: "nodejs", files: []string{"package.json", "yarn.lock"}, tools: npm, wantErr: "infra/yarn.lock is in the source, but there is no yarn"},
		"pnpm that is missing":                                {project: "nodejs", files: []string{"package.json", "../pnpm-lock.yaml"}, tools: npm, wantErr: "pnpm-lock.yaml is in the source, but there is no pnpm"},
		"bun that is missing":                                 {project: "nodejs", files: []string{"package.json", "bun.lockb"}, tools: npm, wantErr: "use an image with bun"},
		"pnpm that is missing, with packages":                 {project: "nodejs\npackages: {random: random@4.16.0}", files: []string{"pnpm-lock.yaml"}, tools: npm, wantErr: "there is no pnpm"},
		"yarn that is missing, but npm has a lock file too":   {project: "nodejs", files: []string{"package.json", "yarn.lock", "package-lock.json"}, tools: npm},
		"yarn that is missing, but bun has a lock file too":   {project: "nodejs", files: []string{"package.json", "yarn.lock", "bun.lock"}, tools: []string{"npm", "bun"}},
		"yarn that is missing, but npm is named":              {project: "{name: nodejs, options: {packagemanager: npm}}", files: []string{"package.json", "yarn.lock"}, tools: npm},
		"no package.json, and the SDK in the source":          {project: "nodejs", files: []string{"index.js", "node_modules/@pulumi/pulumi/package.json"}, tools: npm, want: installPlan{nothing: true}},
		"no package.json, and no SDK either":                  {project: "nodejs", files: []string{"index.js"}, tools: npm},
		"Go":                                                  {project: "go", files: []string{"go.mod"}, tools: []string{"go"}, want: installPlan{tool: list, dir: "infra", suffices: true}},
		"Go in a directory":                                   {project: "go\nmain: cmd", files: []string{"go.mod", "cmd/main.go"}, tools: []string{"go"}, want: installPlan{tool: list, dir: "infra/cmd", suffices: true}},
		"Go with its modules in the source":                   {project: "go", files: []string{"go.mod", "vendor/modules.txt"}, tools: []string{"go"}, want: installPlan{tool: list, dir: "infra", suffices: true, only: true}},
		"Go in a workspace":                                   {project: "go", files: []string{"go.mod", "../go.work"}, tools: []string{"go"}, want: installPlan{tool: list, dir: "infra", suffices: true, only: true}},
		"Go without Go":                                       {project: "go", files: []string{"go.mod"}},
		"Go with packages":                                    {project: "go\npackages: {random: random@4.16.0}", files: []string{"go.mod"}, tools: []string{"go"}},
		"Go whose main leads out of the source":               {project: "go\nmain: ../../..", files: []string{"go.mod"}, tools: []string{"go"}, want: installPlan{tool: list, dir: "infra", suffices: true}},
		"Python":                                              {project: "python", files: []string{"requirements.txt"}},
		"Python with a virtual environment":                   {project: "{name: python, options: {virtualenv: venv}}", files: []string{"__main__.py"}},
		"Python with the packages of the image":               {project: "python", files: []string{"__main__.py"}, want: installPlan{nothing: true}},
		"Python with pip and the packages of the image":       {project: "{name: python, options: {toolchain: pip}}", files: []string{"../uv.lock"}, want: installPlan{nothing: true}},
		"Python with requirements that pip does not look for": {project: "python", files: []string{"../requirements.txt"}, want: installPlan{nothing: true}},
		"Python with uv":                                      {project: "python", files: []string{"../uv.lock"}},
		"Python with poetry":                                  {project: "{name: python, options: {toolchain: poetry}}", files: []string{"pyproject.toml"}},
		"another language":                                    {project: "java", files: []string{"pom.xml", "yarn.lock"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			files := map[string]string{"infra/Pulumi.yaml": ""}
			for _, file := range test.files {
				files[filepath.Join("infra", file)] = ""
			}
			dir := t.TempDir()
			writeTree(t, dir, files)
			root, err := os.OpenRoot(dir)
			g.Expect(err).NotTo(HaveOccurred())
			defer func() { _ = root.Close() }()
			n := needsIn(t, test.project)
			got, err := planInstall(n, survey(root, "infra", n.main, []string{toolsDir(t, test.tools...)}))
			if test.wantErr != "" {
				g.Expect(err).To(MatchError(ContainSubstring(test.wantErr)))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(got).To(Equal(test.want))
		})
	}
}
