// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package languages

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/sandbox"
	"github.com/flux-pulumi/pulumi-controller/tests/cloud"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
	"github.com/flux-pulumi/pulumi-controller/tests/sources"
	"github.com/flux-pulumi/pulumi-controller/tests/toolchain"
)

// late is a process that no longer belongs to its run: it waits for the end of the run, and then reads the token.
const late = `n=0
while [ ! -e "$1/ended" ] && [ $n -lt 1200 ]; do sleep 0.1; n=$((n+1)); done
if said=$(cat "$2" 2>&1 >/dev/null); then said=done; else said="failed: $said"; fi
echo "outlived: $said" >"$1/late.new"
mv "$1/late.new" "$1/late"
`

// attackers are programs that try to leave the sandbox, each with what its language has for it.
func attackers(t *testing.T) map[string]func(*testing.T) sources.Files {
	text := func(name string) string {
		text, err := os.ReadFile(filepath.Join("testdata", "attacks", name))
		NewWithT(t).Expect(err).NotTo(HaveOccurred())
		return string(text)
	}
	all := map[string]func(*testing.T) sources.Files{
		"Go": func(t *testing.T) sources.Files { return goFiles(t, sources.Files{"main.go": text("main.go")}) },
		"YAML with a command": func(*testing.T) sources.Files {
			command := strings.ReplaceAll(strings.TrimSpace(text("attack.sh")), "$", "$$") // which begins a reference in YAML
			return sources.Files{"Pulumi.yaml": "name: app\nruntime: yaml\nresources:\n  attack:\n    type: command:local:Command\n    properties:\n" +
				"      create: |\n        " + strings.ReplaceAll(command, "\n", "\n        ") + "\n"}
		},
	}
	if _, err := toolchain.NodeModules(); err == nil {
		all["JavaScript"] = func(t *testing.T) sources.Files {
			return files(t, "javascript", sources.Files{"index.js": text("index.js")})
		}
	}
	if exec.Command("/usr/bin/python3", "-c", "import ensurepip, venv").Run() == nil {
		all["Python"] = func(*testing.T) sources.Files {
			return sources.Files{"Pulumi.yaml": "name: app\nruntime: python\n", "__main__.py": text("__main__.py")}
		}
	}
	return all
}

// TestAttacksByProgramsOfEachLanguage tries the same with and without the sandbox: what it keeps from a program would
// succeed otherwise. It restarts the controller, and so has it alone.
func TestAttacksByProgramsOfEachLanguage(t *testing.T) {
	short.Skip(t)
	if !sandbox.ThisKernel().Usable() {
		t.Skip(sandbox.ThisKernel().Missing())
	}
	g := NewWithT(t)
	restart := func(args ...string) {
		g.Expect(shared.Controller.Stop()).To(Succeed())
		g.Expect(shared.StartController(args...)).To(Succeed())
	}
	t.Cleanup(func() { restart() })
	index := newIndex(t, map[string]string{"wheel": "", "setuptools": ""})
	for _, mode := range []string{"required", "off"} {
		restart("--sandbox="+mode, "--acquire-plugins=true") // which must not open the plugins of others
		t.Run(mode, func(t *testing.T) {
			victim := startVictim(t)
			all := attackers(t)
			for _, language := range slices.Sorted(maps.Keys(all)) {
				t.Run(language, func(t *testing.T) {
					a := &attack{project: newProject(t, all[language](t)), victim: filepath.Join(victim, language)}
					a.run(index.URL + "/public/simple/")
					if mode == "off" {
						a.succeeds()
					} else {
						a.fails()
					}
				})
			}
		})
	}
}

// startVictim starts a run that lasts as long as the test, and returns its workspace.
func startVictim(t *testing.T) string {
	t.Helper()
	p := newProject(t, sources.Files{"Pulumi.yaml": "name: victim\nruntime: yaml\nresources:\n  a: {type: lab:index:Thing, properties: {name: a, hold: create}}\n"})
	stack := p.stack()
	t.Cleanup(func() { p.Expect(p.cloud.Release()).To(Succeed()) })
	p.Eventually(p.cloud.Journal).Should(ContainElement(And(HaveField("Op", cloud.Create), HaveField("Phase", cloud.Begin))))
	p.Expect(p.Get(t.Context(), keyOf(stack), stack)).To(Succeed())
	workspace := filepath.Join(p.DataDir(), "runs", stack.Status.Run.ID, "workspace")
	p.Expect(workspace).To(BeADirectory())
	return workspace
}

// attack is one program.
type attack struct {
	*project
	// victim is a directory in the workspace of another run, with a secret.
	victim string
	// tried is what the program says of each attempt.
	tried map[string]string
}

const secretOfARun = "of another run\n"

// planted is what the program tries to write beside a plugin.
func (a *attack) planted() string {
	return filepath.Join(a.DataDir(), "plugins", "resource-lab-v0.1.0", a.namespace)
}

// run has the program try everything, and then the process that it leaves.
func (a *attack) run(index string) {
	a.test.Helper()
	a.Expect(os.MkdirAll(a.place(), 0o755)).To(Succeed())
	a.Expect(os.MkdirAll(a.victim, 0o755)).To(Succeed())
	a.Expect(os.WriteFile(filepath.Join(a.victim, "secret"), []byte(secretOfARun), 0o600)).To(Succeed())
	stack := a.stack(func(s *v1.StackSpec) {
		for name, text := range map[string]string{
			"RESULTS": a.place(), "TOKEN": a.ControlPlane.KubeconfigPath(), "PID": strconv.Itoa(a.Controller.PID()),
			"VICTIM": a.victim, "DATA": a.planted(), "LATE": late,
			"PIP_INDEX_URL": index, "PIP_DISABLE_PIP_VERSION_CHECK": "1",
		} {
			s.EnvRefs[name] = literal(text)
		}
		s.DestroyOnFinalize = false
	})
	a.awaitReady(stack)
	a.Expect(os.WriteFile(filepath.Join(a.place(), "ended"), nil, 0o600)).To(Succeed())
	a.Eventually(filepath.Join(a.place(), "late")).Should(BeARegularFile())
	a.tried = map[string]string{}
	for _, name := range []string{"results", "late"} {
		text, err := os.ReadFile(filepath.Join(a.place(), name))
		a.Expect(err).NotTo(HaveOccurred())
		for line := range strings.Lines(string(text)) {
			attempt, result, _ := strings.Cut(strings.TrimSpace(line), ": ")
			a.tried[attempt] = result
		}
	}
	a.Expect(a.tried).To(And(HaveKeyWithValue("own file", "done"), HaveKeyWithValue("own move", "done")), "what each program may do")
}

// attempts are the attacks of each program, in its own words.
func attempts() []string {
	return []string{"token", "environment", "root", "attach", "read a run", "list a run", "symbolic link", "hard link",
		"write a run", "create in a run", "move in", "move out", "data", "outlived"}
}

// fails expects that each attempt was denied, and that nothing has happened.
func (a *attack) fails() {
	a.test.Helper()
	const denied = `^failed: (.|\n)*(?i:permission denied|operation not permitted|cross-device link)`
	for _, attempt := range attempts() {
		a.Expect(a.tried).To(HaveKeyWithValue(attempt, MatchRegexp(denied)))
	}
	a.Expect(os.ReadFile(filepath.Join(a.victim, "secret"))).To(BeEquivalentTo(secretOfARun))
	a.Expect(os.ReadDir(a.victim)).To(HaveLen(1))
	a.Expect(a.planted()).NotTo(BeAnExistingFile())
}

// succeeds expects that the sandbox alone was what kept the program from it. Whether a process may attach to another
// one of its user is also a setting of the kernel.
func (a *attack) succeeds() {
	a.test.Helper()
	for _, attempt := range attempts() {
		var result types.GomegaMatcher = Equal("done")
		if scope, err := os.ReadFile("/proc/sys/kernel/yama/ptrace_scope"); err == nil && string(scope) != "0\n" && (attempt == "attach" || attempt == "root") {
			result = Not(BeEmpty())
		}
		a.Expect(a.tried).To(HaveKeyWithValue(attempt, result))
	}
	a.Expect(filepath.Join(a.victim, "moved")).To(BeARegularFile())
	a.Expect(filepath.Join(a.victim, "secret")).NotTo(BeAnExistingFile())
	a.Expect(a.planted()).To(BeARegularFile())
	a.Expect(os.Remove(a.planted())).To(Succeed())
}
