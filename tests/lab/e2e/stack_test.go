// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

// runTimeout bounds one run of the CLI.
const runTimeout = time.Minute

// stack is a Pulumi stack with its own file backend, home and cloud.
type stack struct {
	t     *testing.T
	dir   string
	cloud string
	cli   string
}

// buildPlugin builds the provider from this source, so that no older one is tested, and
// returns its path.
func buildPlugin(t *testing.T) string {
	t.Helper()
	plugin := filepath.Join(t.TempDir(), "pulumi-resource-lab")
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-o", plugin, "../cmd/pulumi-resource-lab")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	output, err := build.CombinedOutput()
	NewWithT(t).Expect(err).NotTo(HaveOccurred(), string(output))
	return plugin
}

// newStack installs the plugin and creates an empty stack. The plugin is in the home and
// not on PATH, where Pulumi would add a warning to every diagnostic.
func newStack(t *testing.T, plugin string) *stack {
	t.Helper()
	g := NewWithT(t)
	cli, err := filepath.Abs("../../../bin/pulumi")
	g.Expect(err).NotTo(HaveOccurred())
	for _, program := range []string{cli, cli + "-language-yaml"} {
		g.Expect(program).To(BeARegularFile(), "the Makefile builds this program before the tests")
	}
	dir := t.TempDir()
	s := &stack{t: t, dir: dir, cloud: filepath.Join(dir, "cloud"), cli: cli}
	installed := filepath.Join(dir, "home", "plugins", "resource-lab-v0.1.0")
	for _, path := range []string{installed, filepath.Join(dir, "state"), filepath.Join(dir, "project")} {
		g.Expect(os.MkdirAll(path, 0o700)).To(Succeed())
	}
	g.Expect(os.Symlink(plugin, filepath.Join(installed, "pulumi-resource-lab"))).To(Succeed())
	s.write("Pulumi.yaml", "name: lab\nruntime: yaml\n")
	s.program("")
	s.mustRun("stack", "init", "dev")
	s.mustRun("config", "set", "lab:directory", s.cloud)
	return s
}

// program sets the program to one thing named a, with further properties in YAML's flow
// style.
func (s *stack) program(properties string) {
	s.t.Helper()
	s.programNamed("a", properties)
}

func (s *stack) programNamed(name, properties string) {
	s.t.Helper()
	s.write("Main.yaml", "resources:\n  a:\n    type: lab:Thing\n    properties: {name: "+name+", "+properties+"}\n"+
		"outputs:\n  id: ${a.id}\n  value: ${a.value}\n")
}

func (s *stack) write(name, text string) {
	s.t.Helper()
	NewWithT(s.t).Expect(os.WriteFile(filepath.Join(s.dir, "project", name), []byte(text), 0o600)).To(Succeed())
}

func (s *stack) command(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(s.t.Context(), s.cli, append(args, "--non-interactive", "--color=never")...)
	cmd.Dir = filepath.Join(s.dir, "project")
	cmd.Env = []string{
		"PATH=/usr/bin:/bin",
		"HOME=" + s.dir,
		"PULUMI_HOME=" + filepath.Join(s.dir, "home"),
		"PULUMI_BACKEND_URL=file://" + filepath.Join(s.dir, "state"),
		"PULUMI_CONFIG_PASSPHRASE=",
		"PULUMI_SKIP_UPDATE_CHECK=true",
		"PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION=true",
	}
	return cmd
}

// finish waits for a started command and returns its exit code. It kills a command that
// hangs, and fails the test.
func (s *stack) finish(cmd *exec.Cmd) int {
	s.t.Helper()
	timer := time.AfterFunc(runTimeout, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	err := cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		NewWithT(s.t).Expect(err).NotTo(HaveOccurred())
	}
	return cmd.ProcessState.ExitCode()
}

func (s *stack) run(args ...string) (stdout, all string, code int) {
	s.t.Helper()
	cmd := s.command(args...)
	var out, diagnostics bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &diagnostics
	NewWithT(s.t).Expect(cmd.Start()).To(Succeed())
	code = s.finish(cmd)
	return out.String(), out.String() + diagnostics.String(), code
}

func (s *stack) mustRun(args ...string) string {
	s.t.Helper()
	stdout, all, code := s.run(args...)
	NewWithT(s.t).Expect(code).To(BeZero(), "pulumi %v:\n%s", args, all)
	return stdout
}

func (s *stack) mustFail(args ...string) string {
	s.t.Helper()
	_, all, code := s.run(args...)
	NewWithT(s.t).Expect(code).To(BeNumerically(">", 0), "pulumi %v:\n%s", args, all)
	return all
}

// interrupt sends the CLI one SIGINT when the journal shows the phase.
func (s *stack) interrupt(phase string, args ...string) (output string, code int) {
	s.t.Helper()
	return s.disturb(phase, func(cmd *exec.Cmd) error { return cmd.Process.Signal(syscall.SIGINT) }, args...)
}

// killProvider kills the provider, by the pid in the journal, when the journal shows the phase.
func (s *stack) killProvider(phase string, args ...string) (output string, code int) {
	s.t.Helper()
	return s.disturb(phase, func(*exec.Cmd) error { return syscall.Kill(s.entries()[0].PID, syscall.SIGKILL) }, args...)
}

func (s *stack) disturb(phase string, act func(*exec.Cmd) error, args ...string) (output string, code int) {
	s.t.Helper()
	g := NewWithT(s.t)
	cmd := s.command(args...)
	var both bytes.Buffer
	cmd.Stdout, cmd.Stderr = &both, &both
	g.Expect(cmd.Start()).To(Succeed())
	g.Eventually(s.phases, "4m", "20ms").Should(ContainElement(phase))
	g.Expect(act(cmd)).To(Succeed())
	code = s.finish(cmd)
	return both.String(), code
}

func (s *stack) things() []string {
	s.t.Helper()
	paths, err := filepath.Glob(filepath.Join(s.cloud, "things", "*.json"))
	NewWithT(s.t).Expect(err).NotTo(HaveOccurred())
	var ids []string
	for _, path := range paths {
		ids = append(ids, strings.TrimSuffix(filepath.Base(path), ".json"))
	}
	return ids
}

func (s *stack) onlyThing() string {
	s.t.Helper()
	ids := s.things()
	NewWithT(s.t).Expect(ids).To(HaveLen(1))
	return ids[0]
}

func (s *stack) path(id string) string { return filepath.Join(s.cloud, "things", id+".json") }

func (s *stack) file(id string) string {
	s.t.Helper()
	text, err := os.ReadFile(s.path(id))
	NewWithT(s.t).Expect(err).NotTo(HaveOccurred())
	return string(text)
}

// journal returns the text of the journal, empty before the first operation.
func (s *stack) journal() string {
	s.t.Helper()
	text, err := os.ReadFile(filepath.Join(s.cloud, "journal.jsonl"))
	if !errors.Is(err, os.ErrNotExist) {
		NewWithT(s.t).Expect(err).NotTo(HaveOccurred())
	}
	return string(text)
}

// phases returns the journal as "op phase name".
func (s *stack) phases() []string {
	s.t.Helper()
	var phases []string
	for _, entry := range s.entries() {
		phases = append(phases, entry.Op+" "+entry.Phase+" "+entry.Name)
	}
	return phases
}

// entry is one line of the journal. It is declared again here, because a test that used
// the writer's own type would not notice a renamed field.
type entry struct {
	Time                     time.Time
	PID                      int
	Op, Phase, ID, Name, URN string
}

// entries returns the complete lines of the journal, and checks what every line must
// have.
func (s *stack) entries() []entry {
	s.t.Helper()
	g := NewWithT(s.t)
	var entries []entry
	for line := range strings.Lines(s.journal()) {
		if !strings.HasSuffix(line, "\n") {
			break // still being written
		}
		var e entry
		g.Expect(json.Unmarshal([]byte(line), &e)).To(Succeed(), line)
		g.Expect(e.URN).To(Equal("urn:pulumi:dev::lab::lab:index:Thing::a"))
		g.Expect(e.ID).To(HavePrefix(e.Name + "-"))
		g.Expect(e.PID).To(BeNumerically(">", 1))
		g.Expect(e.Time).To(BeTemporally("~", time.Now(), 5*time.Minute))
		entries = append(entries, e)
	}
	return entries
}
