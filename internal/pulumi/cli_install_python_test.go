// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/sandbox"
	"github.com/flux-pulumi/pulumi-controller/internal/snapshot"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
	"github.com/flux-pulumi/pulumi-controller/tests/sources"
)

// withPython installs the host for Python, or skips the test on a machine without what an installation takes.
func (l *lab) withPython() *lab {
	l.Helper()
	// Not what may be a script that finds the real one.
	text, err := exec.Command("python3", "-c", "import ensurepip, sys; print(sys.executable, sys.base_prefix, sep='\\n')").Output()
	if err != nil {
		l.Skipf("there is no python3 with venv and pip: %v", err)
	}
	executable, prefix, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
	l.driver.Path = append([]string{filepath.Dir(executable)}, l.driver.Path...)
	if l.driver.Sandbox != nil { // as --sandbox-read-paths, for a Python that is not the system's
		l.driver.Sandbox.Rules = append(l.driver.Sandbox.Rules, sandbox.Reads(prefix)...)
	}
	l.installPlugin("language", "python")
	return l
}

// wheel is a package of Python with one module and a command that both say the text.
func (l *lab) wheel(name, version, text string) string {
	l.Helper()
	wheel, err := sources.Wheel(name, version, fmt.Sprintf("TEXT = %q\n\ndef main():\n    print(TEXT)\n", text))
	l.Expect(err).NotTo(HaveOccurred())
	return wheel
}

// The package manager is the real one, and finds the packages in the source. Pulumi's package for Python is not there, so that
// the program makes no resources.
func TestTheDependenciesOfAProgramInPythonAreInstalledOnce(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	l := newLab(t).withPython()
	snapshots := t.TempDir()
	l.driver.Snapshots = snapshot.New(snapshots, 1<<30)
	source := map[string]string{
		"Pulumi.yaml":                            "name: demo\nruntime: {name: python, options: {toolchain: pip, virtualenv: venv}}\n",
		"requirements.txt":                       "naming==1.0.0\n",
		"wheels/naming-1.0.0-py3-none-any.whl":   l.wheel("naming", "1.0.0", "as installed"),
		"wheels/wheel-1000.0.0-py3-none-any.whl": l.wheel("wheel", "1000.0.0", "as the language host installs it"),
		// Later versions of Python have it no longer.
		"wheels/setuptools-1000.0.0-py3-none-any.whl": l.wheel("setuptools", "1000.0.0", "as the language host installs it"),
		"__main__.py": `import os, subprocess, sys, naming
command = os.path.join(os.path.dirname(sys.executable), "naming")
print("module:", naming.TEXT + ", command:", subprocess.check_output([command], text=True).strip())
print("in", naming.__file__)
`,
	}
	update := func(files map[string]string) []string {
		dir, r := l.sourced(files)
		r.Namespace = "apps"
		r.Env["PIP_NO_INDEX"], r.Env["PIP_FIND_LINKS"] = "1", "wheels"
		l.said = nil
		result := l.doWritten(t.Context(), dir, r)
		l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
		l.Expect(l.saidLines()).To(ContainElement(ContainSubstring("in "+filepath.Join(dir.Workspace(), "venv"))), "not in that of another run")
		return l.saidLines()
	}
	// Python looks for modules in the directory of the program first.
	another := maps.Clone(source)
	another["pip.py"] = `import glob
for dir in glob.glob("venv/lib/*/site-packages"):
    open(dir + "/naming.py", "w").write("TEXT = 'by pip.py'")
`
	said := update(another)
	l.Expect(said).To(ContainElement(ContainSubstring("module: as installed, command: as installed")))
	l.Expect(l.newCalls()).To(Equal([]string{"install", "stack init", "up"}))

	source["README.md"] = "the manifests are the same"
	said = update(source)
	l.Expect(said).To(ContainElement(ContainSubstring("module: as installed, command: as installed")))
	l.Expect(said).To(ContainElement(HavePrefix("copied the dependencies of the program from a snapshot in ")))
	l.Expect(l.newCalls()).To(Equal([]string{"up"}), "nothing is installed again")

	l.damageSnapshots(snapshots)
	said = update(source)
	l.Expect(said).To(ContainElements(snapshot.ErrCorrupt.Error(), ContainSubstring("module: as installed, command: as installed")))
	l.Expect(l.newCalls()).To(Equal([]string{"install", "up"}))
	replaced := said
	said = update(source)
	l.Expect(l.newCalls()).To(Equal([]string{"up"}), "it was replaced: %q, then %q", replaced, said)
}

// damageSnapshots changes a byte of each, as a failing disk does.
func (l *lab) damageSnapshots(dir string) {
	l.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*", "*.tar"))
	l.Expect(err).NotTo(HaveOccurred())
	l.Expect(files).NotTo(BeEmpty())
	for _, file := range files {
		text, err := os.ReadFile(file)
		l.Expect(err).NotTo(HaveOccurred())
		text[len(text)/2] ^= 1
		l.Expect(os.WriteFile(file, text, 0o600)).To(Succeed())
	}
}
