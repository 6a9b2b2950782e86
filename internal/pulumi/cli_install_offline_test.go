// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// sourced is a run of a program whose source has these files.
func (l *lab) sourced(files map[string]string) (Directory, run.Run) {
	l.Helper()
	dir, r := l.written(`{}`)
	writeTree(l.T, dir.Workspace(), files)
	return dir, r
}

// withTool puts a command of this machine on the PATH of runs, or skips the test.
func (l *lab) withTool(name string) {
	l.Helper()
	file, err := exec.LookPath(name)
	if err != nil {
		l.Skipf("there is no %s: %v", name, err)
	}
	l.driver.Path = append([]string{filepath.Dir(file)}, l.driver.Path...)
}

// There is no language host for Go here: the run fails when the program is to be started.
func TestAProgramInGoIsInstalledAsGoBuildNeedsIt(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	const (
		program  = "package main\n\nimport _ \"example.invalid/shared\"\n\nfunc main() {}\n"
		module   = "module example.invalid/program\n\ngo 1.24\n\nrequire example.invalid/shared v1.0.0\n"
		replaced = module + "\nreplace example.invalid/shared => ../shared\n"
		vendored = "# example.invalid/shared v1.0.0\n## explicit; go 1.24\nexample.invalid/shared\n"
	)
	for name, test := range map[string]struct {
		files map[string]string
		calls []string
		want  string
	}{
		"its modules are in the source": {
			files: map[string]string{"go.mod": module, "vendor/modules.txt": vendored, "vendor/example.invalid/shared/a.go": "package shared\n"},
			calls: []string{"up", "stack export"}, want: "no language plugin",
		},
		"its modules in the source are not those of go.mod": {
			files: map[string]string{"go.mod": module, "vendor/modules.txt": "# example.invalid/shared v0.9.0\n## explicit\n", "vendor/example.invalid/shared/a.go": "package shared\n"},
			want:  installing + ": go ended with exit code 1:\ngo: inconsistent vendoring",
		},
		"it is in a workspace": {
			files: map[string]string{"go.mod": module, "go.work": "go 1.24\n\nuse (\n\t.\n\t./shared\n)\n", "shared/go.mod": "module example.invalid/shared\n\ngo 1.24\n", "shared/a.go": "package shared\n"},
			calls: []string{"up", "stack export"}, want: "no language plugin",
		},
		"go.mod lacks a module": {
			files: map[string]string{"go.mod": strings.Split(module, "\nrequire")[0]},
			calls: []string{"install"}, want: installing + ": load language plugin go: no language plugin",
		},
		"a module is out of reach": {
			files: map[string]string{"go.mod": module},
			calls: []string{"install"}, want: installing + ": load language plugin go: no language plugin",
		},
		"a replacement is not in the source": {
			files: map[string]string{"go.mod": replaced},
			calls: []string{"install"}, want: installing + ": load language plugin go: no language plugin",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t).withStack()
			l.withTool("go")
			dir, r := l.sourced(test.files)
			writeTree(t, dir.Workspace(), map[string]string{"Pulumi.yaml": "name: demo\nruntime: go\n", "main.go": program})
			r.Env["GOPROXY"], r.Env["GOTOOLCHAIN"] = "off", "local"
			result := l.doWritten(t.Context(), dir, r)
			l.Expect(result.Outcome).To(Equal(run.Failed))
			l.Expect(result.Message).To(ContainSubstring(test.want))
			l.Expect(l.newCalls()).To(Equal(test.calls))
		})
	}
}

func TestAPrebuiltProgramInGoNeedsGo(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.driver.Path = []string{toolsDir(t)}
	dir, r := l.sourced(map[string]string{"Pulumi.yaml": "name: demo\nruntime: {name: go, options: {binary: bin/program}}\n"})
	result := l.doWritten(t.Context(), dir, r)
	l.Expect(result.Outcome).To(Equal(run.Failed))
	l.Expect(result.Message).To(ContainSubstring(errNoGo.Error()))
	l.Expect(l.newCalls()).To(BeEmpty(), "nor is a stack created")
}

// offline are settings with which npm finds no registry.
var offline = []string{"npm_config_registry=http://127.0.0.1:9/", "npm_config_fetch_retries=0", "npm_config_audit=false"}

// The artifact of a source has no links. There is no language host for Node.js here: what it
// calls is called after the run.
func TestNpmNeedsNoRegistryForANodeModulesOfTheSource(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	l := newLab(t)
	l.withTool("npm")
	const locked = `{"version": "1.0.0", "resolved": "http://127.0.0.1:9/tool.tgz", "integrity": "sha512-AAAA", "bin": {"tool": "cli.js"}}`
	files := map[string]string{
		"Pulumi.yaml":  "name: demo\nruntime: nodejs\nmain: dist/index.js\n",
		"package.json": `{"name": "demo", "version": "1.0.0", "dependencies": {"tool": "^1.0.0"}}`,
		"package-lock.json": `{"name": "demo", "version": "1.0.0", "lockfileVersion": 3, "requires": true, "packages": {` +
			`"": {"name": "demo", "version": "1.0.0", "dependencies": {"tool": "^1.0.0"}}, "node_modules/tool": ` + locked + `}}`,
		"node_modules/.package-lock.json": `{"name": "demo", "version": "1.0.0", "lockfileVersion": 3, "requires": true, "packages": {` +
			`"node_modules/tool": ` + locked + `}}`,
		"node_modules/tool/package.json": `{"name": "tool", "version": "1.0.0", "bin": "cli.js"}`,
		"node_modules/tool/cli.js":       "#!/usr/bin/env node\n",
		"dist/index.js":                  "",
	}
	install := func(dir string) error {
		npm := exec.Command("npm", "install", "--loglevel=error")
		npm.Dir, npm.Env = dir, append(os.Environ(), append(offline, "HOME="+t.TempDir())...)
		output, err := npm.CombinedOutput()
		t.Logf("npm install: %v: %s", err, output)
		return err
	}
	bare := t.TempDir()
	writeTree(t, bare, files)
	l.Expect(install(bare)).NotTo(Succeed(), "npm has no need any more of its links")

	dir, r := l.sourced(files)
	for _, setting := range offline {
		name, value, _ := strings.Cut(setting, "=")
		r.Env[name] = value
	}
	result := l.doWritten(t.Context(), dir, r)
	l.Expect(result.Message).To(HavePrefix(installing + ": load language plugin nodejs: no language plugin"))
	l.Expect(l.newCalls()).To(Equal([]string{"install"}))
	l.Expect(install(filepath.Join(dir.Workspace(), "dist"))).To(Succeed())
}
