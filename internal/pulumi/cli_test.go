// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/grammar"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/sandbox"
	"github.com/flux-pulumi/pulumi-controller/tests/process"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// lab is the real CLI with a backend, a plugin cache and a lab cloud of its own. A
// script between the driver and the CLI records each call.
type lab struct {
	*testing.T
	*WithT
	driver  *Driver
	backend string
	cloud   string
	calls   string
	runs    int
	reports *reports

	mu   sync.Mutex
	said []string
	// losesEvents says that the script keeps the CLI from writing its events.
	losesEvents bool
}

func newLab(t *testing.T) *lab {
	t.Helper()
	cli, err := process.FindBin("pulumi")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := process.FindBin("pulumi-language-yaml"); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	l := &lab{
		T: t, WithT: NewWithT(t),
		backend: filepath.Join(dir, "backend"), cloud: filepath.Join(dir, "cloud"), calls: filepath.Join(dir, "calls"),
		reports: &reports{},
		driver: &Driver{
			Bin: filepath.Join(dir, "bin"), Path: []string{"/usr/bin", "/bin"}, Cache: filepath.Join(dir, "cache"),
			NoPluginDownload: true, Grace: Grace{Settle: patience}, Sandbox: sandboxOfTests(t, cli),
		},
	}
	// A call ends before there is much garbage: see WritePulumi of tests/system.
	script := fmt.Sprintf("#!/bin/sh\necho \"$@\" >> %s\nGOGC=400 GOMEMLIMIT=512MiB exec %s \"$@\"\n", l.calls, cli)
	writeTree(t, dir, map[string]string{"bin/.keep": "", "backend/.keep": "", "calls": ""})
	writeProgram(t, filepath.Join(l.driver.Bin, "pulumi"), script)
	return l
}

// sandboxOfTests is the sandbox of the controller, with the files of the test and of the programs that
// make has built beside what programs may reach.
func sandboxOfTests(t *testing.T, cli string) *sandbox.Sandbox {
	t.Helper()
	kernel := sandbox.ThisKernel()
	if !kernel.Usable() {
		return nil
	}
	built, err := filepath.EvalSymlinks(cli)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	self, err := os.Executable()
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return sandbox.New(kernel, []string{filepath.Dir(cli), filepath.Dir(built), self}, []string{filepath.Dir(t.TempDir())}, nil)
}

// writeProgram writes a script, while no process is being started: until its exec, a
// new process would hold the file open for writing, and starting the script would fail
// with ETXTBSY.
func writeProgram(t *testing.T, path, script string) {
	t.Helper()
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	NewWithT(t).Expect(os.WriteFile(path, []byte(script), 0o700)).To(Succeed())
}

// withProvider installs the lab provider into the plugin cache.
func (l *lab) withProvider() *lab {
	l.Helper()
	l.installPlugin("resource", "lab")
	schema, err := labSchema()
	l.Expect(err).NotTo(HaveOccurred())
	writeTree(l.T, l.driver.sharedSchemas(), map[string]string{"lab-0.1.0.json": schema})
	return l
}

// labSchema is the schema of the lab provider. Runs would ask for it in each test.
var labSchema = sync.OnceValues(func() (string, error) {
	cli, err := process.FindBin("pulumi")
	if err != nil {
		return "", err
	}
	provider, err := process.FindBin("lab/pulumi-resource-lab")
	if err != nil {
		return "", err
	}
	home, err := os.MkdirTemp("", "schema")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(home) }() // of a test
	command := exec.Command(cli, "package", "get-schema", provider)
	command.Dir, command.Env = home, []string{"HOME=" + home, "PULUMI_HOME=" + home, "PULUMI_SKIP_UPDATE_CHECK=true"}
	schema, err := command.Output()
	return string(schema), err
})

// installPlugin installs a lab plugin of the kind into the plugin cache.
func (l *lab) installPlugin(kind, of string) {
	l.Helper()
	name := "pulumi-" + kind + "-" + of
	plugin, err := process.FindBin(filepath.Join("lab", name))
	l.Expect(err).NotTo(HaveOccurred())
	dir := filepath.Join(l.driver.Cache, "plugins", kind+"-"+of+"-v0.1.0")
	l.Expect(os.MkdirAll(dir, 0o700)).To(Succeed())
	l.Expect(os.Symlink(plugin, filepath.Join(dir, name))).To(Succeed())
}

// update is an update of a Program in Pulumi YAML.
func (l *lab) update(program string) run.Run {
	l.runs++
	return run.Run{
		// Processes are found by it, so it must be unique on this machine.
		ID: fmt.Sprintf("%s-%d", filepath.Base(filepath.Dir(filepath.Dir(l.calls))), l.runs), Operation: run.Update,
		Stack: "dev", Backend: "file://" + l.backend,
		Project: run.Project{Name: "demo", Runtime: "yaml"},
		Program: run.Program{YAML: []byte(program)},
		Env: map[string]string{
			grammar.PassphraseVariable: "correct horse",
			// A provider in bin/, beside the CLI, would be found first.
			"PULUMI_IGNORE_AMBIENT_PLUGINS": "true",
		},
		Exists:   l.runs > 1,
		Reporter: l.reports,
	}
}

// reports is a Reporter that a test may listen to.
type reports struct {
	progress       func(run.Progress)
	unknownCreates func(urns []string)
	found          func(context.Context, run.Found) error
}

func (r *reports) Progress(progress run.Progress) {
	if r.progress != nil {
		r.progress(progress)
	}
}

func (r *reports) UnknownCreates(urns []string) {
	if r.unknownCreates != nil {
		r.unknownCreates(urns)
	}
}

func (r *reports) Found(ctx context.Context, found run.Found) error {
	if r.found == nil {
		return nil
	}
	return r.found(ctx, found)
}

func (l *lab) destroy() run.Run {
	r := l.update("")
	r.Operation, r.Program = run.Destroy, run.Program{}
	return r
}

// do executes a run in a directory of its own and checks that no process survives it.
func (l *lab) do(ctx context.Context, r run.Run) run.Result {
	l.Helper()
	_, result := l.doIn(ctx, r)
	return result
}

func (l *lab) doIn(ctx context.Context, r run.Run) (Directory, run.Result) {
	l.Helper()
	dir := Directory(l.TempDir())
	result := l.driver.Do(ctx, dir, r, func(line string) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.said = append(l.said, line)
	})
	if !l.losesEvents {
		l.Expect(l.saidLines()).NotTo(ContainElement(ContainSubstring("the events of Pulumi are incomplete")), "each call has a summary")
	}
	alive, err := Alive(r.ID)
	l.Expect(err).NotTo(HaveOccurred())
	l.Expect(alive).To(BeZero(), "processes of the run live on")
	l.Logf("%s: %s: %+v %q", r.ID, result.Outcome, result.Changes, result.Message)
	return dir, result
}

func (l *lab) saidLines() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string{}, l.said...)
}

// newCalls lists the CLI calls since the last newCalls, without flags.
func (l *lab) newCalls() []string {
	l.Helper()
	text, err := os.ReadFile(l.calls)
	l.Expect(err).NotTo(HaveOccurred())
	l.Expect(os.Truncate(l.calls, 0)).To(Succeed())
	var calls []string
	for line := range strings.Lines(string(text)) {
		var words []string
		for _, word := range strings.Fields(line) {
			if !strings.HasPrefix(word, "-") && len(words) < 2 && !strings.Contains(word, "/") {
				words = append(words, word)
			}
		}
		calls = append(calls, strings.Join(words, " "))
	}
	return calls
}

// find lists the files below the directories that contain the text.
func (l *lab) find(text string, dirs ...string) []string {
	l.Helper()
	var found []string
	for _, dir := range dirs {
		l.Expect(filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || !entry.Type().IsRegular() {
				return err
			}
			content, err := os.ReadFile(path)
			if strings.Contains(string(content), text) {
				found = append(found, path)
			}
			return err
		})).To(Succeed())
	}
	return found
}

// stackFile is the path of the state in the backend.
func (l *lab) stackFile() string {
	return filepath.Join(l.backend, ".pulumi", "stacks", "demo", "dev.json")
}

func (l *lab) state() string {
	l.Helper()
	text, err := os.ReadFile(l.stackFile())
	l.Expect(err).NotTo(HaveOccurred())
	return string(text)
}

func (l *lab) locks() []string {
	l.Helper()
	locks, err := filepath.Glob(filepath.Join(l.backend, ".pulumi", "locks", "organization", "demo", "dev", "*.json"))
	l.Expect(err).NotTo(HaveOccurred())
	return locks
}

func (l *lab) things() int {
	l.Helper()
	things, err := filepath.Glob(filepath.Join(l.cloud, "things", "*.json"))
	l.Expect(err).NotTo(HaveOccurred())
	return len(things)
}

// thing is a program with one lab:index:Thing per argument.
func (l *lab) thing(properties ...string) string {
	text := "resources:\n  prov:\n    type: pulumi:providers:lab\n    defaultProvider: true\n" +
		"    properties: {directory: " + l.cloud + "}\n"
	for i, p := range properties {
		name := string(rune('a' + i))
		text += fmt.Sprintf("  %s:\n    type: lab:index:Thing\n    properties:\n      name: %s\n      %s\n", name, name, p)
		if i > 0 {
			text += "    options: {dependsOn: [\"${a}\"]}\n"
		}
	}
	return text
}

const plainProgram = "resources: {}\noutputs:\n  o: hello\n  s: {\"fn::secret\": abc}\n  n: {a: 1, b: [true]}\n"

func TestUpdatesAndDestroy(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	first := time.Now()
	result := l.do(t.Context(), l.update(plainProgram))
	t.Logf("first update: %s", time.Since(first))
	l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	l.Expect(l.newCalls()).To(Equal([]string{"stack init", "up"}))
	l.Expect(result.Project).To(Equal(run.Project{Name: "demo", Runtime: "yaml"}))
	l.Expect(result.Changes).To(Equal(run.Changes{}))
	l.Expect(result.Outputs).To(Equal(map[string]json.RawMessage{
		"o": json.RawMessage(`"hello"`), "s": json.RawMessage(`"[secret]"`), "n": json.RawMessage(`{"a":1,"b":[true]}`),
	}))
	l.Expect(result.Plain).To(BeNil(), "nobody wants them")
	l.Expect(result.EndedAt).To(BeTemporally(">", result.StartedAt))

	later := time.Now()
	result = l.do(t.Context(), l.update(plainProgram))
	t.Logf("later update: %s", time.Since(later))
	l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	l.Expect(l.newCalls()).To(Equal([]string{"up"}))

	again := l.update(plainProgram)
	again.Exists = false
	l.Expect(l.do(t.Context(), again).Outcome).To(Equal(run.Succeeded), "a stack that exists after all")
	l.Expect(l.newCalls()).To(Equal([]string{"stack init", "up"}))

	result = l.do(t.Context(), l.destroy())
	l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	l.Expect(l.newCalls()).To(Equal([]string{"stack export", "destroy", "stack rm"}))
	l.Expect(l.stackFile()).NotTo(BeAnExistingFile())

	result = l.do(t.Context(), l.destroy())
	l.Expect(result.Outcome).To(Equal(run.Succeeded), "destroying what is not there")
	l.Expect(result.Changes).To(Equal(run.Changes{}))
	l.Expect(l.newCalls()).To(Equal([]string{"destroy"}))

	result = l.do(t.Context(), l.update(plainProgram))
	l.Expect(result.Outcome).To(Equal(run.Succeeded), "a stack that someone removed: %s", result.Message)
	l.Expect(l.newCalls()).To(Equal([]string{"up", "stack init", "up"}))
}

func TestAnotherStackIsNotTakenForTheOneThatWasUpdated(t *testing.T) {
	t.Parallel()
	l := newLab(t).withProvider()
	program := l.thing("value: x")
	l.given(program)
	known := run.Project{Name: "demo", Runtime: "yaml"}

	elsewhere := l.update(program)
	elsewhere.Known, elsewhere.Backend = known, "file://"+t.TempDir()
	result := l.do(t.Context(), elsewhere)
	l.Expect(result.Outcome).To(Equal(run.Failed))
	l.Expect(result.Message).To(ContainSubstring("is no longer in the backend"))

	renamed := l.update(program)
	renamed.Known, renamed.Project.Name = known, "other"
	result = l.do(t.Context(), renamed)
	l.Expect(result.Outcome).To(Equal(run.Failed))
	l.Expect(result.Message).To(ContainSubstring(`the project was "demo"`))
	l.Expect(result.Project).To(BeZero(), "the project that is known stays the one that is known")

	l.Expect(l.things()).To(Equal(1), "nothing is made a second time")
}

func TestResourcesAreCountedAndLogged(t *testing.T) {
	t.Parallel()
	l := newLab(t).withProvider().withStack()
	result := l.do(t.Context(), l.update(l.thing("value: x", "value: x", "value: x")))
	l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	l.Expect(result.Changes).To(Equal(run.Changes{Created: 4}), "three things and the provider")
	l.Expect(l.saidLines()).To(ContainElements("lab:index:Thing (a): create started", "lab:index:Thing (a): create done"))
	l.Expect(filepath.Join(l.driver.Cache, "plugins", "resource-lab-v0.1.0.lastused")).To(BeAnExistingFile(),
		"the plugin was not taken from the shared cache")

	program := strings.Replace(l.thing("value: x", "value: y"), "name: a", "name: z", 1)
	result = l.do(t.Context(), l.update(program))
	l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	l.Expect(result.Changes).To(Equal(run.Changes{Replaced: 1, Updated: 1, Deleted: 1, Same: 1}))

	result = l.do(t.Context(), l.destroy())
	l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	l.Expect(result.Changes).To(Equal(run.Changes{Deleted: 3}))
	l.Expect(l.things()).To(BeZero())
}

func TestFailures(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		program     func(*lab) string
		edit        func(*lab, *run.Run)
		want        string
		wantOutcome run.Outcome // default: Failed
		wantChanges run.Changes
		notBegun    bool
		variant     bool // of what another one shows
	}{
		"a program that does not parse": {
			variant: true,
			program: func(*lab) string { return "outputs: [" }, want: "yaml: line",
		},
		"a program that names what is not there": {
			program: func(*lab) string { return "outputs: {o: \"${nothing}\"}" }, want: "nothing",
		},
		"a provider that is not installed": {
			program: func(*lab) string { return "resources: {a: {type: \"nosuch:index:Thing\"}}" },
			want:    "the provider plugin is not installed",
		},
		"a language host that is not installed": {
			variant: true,
			program: func(*lab) string { return plainProgram },
			edit:    func(_ *lab, r *run.Run) { r.Project.Runtime = "cobol" },
			want:    "no language plugin 'pulumi-language-cobol' found",
		},
		"a resource that fails after another was made": {
			program:     func(l *lab) string { return l.thing("value: x", "failures: {create: \"quota exceeded\"}") },
			want:        "lab:index:Thing (b): quota exceeded",
			wantChanges: run.Changes{Created: 2},
		},
		"a provider that puts a secret into its error": {
			program: func(l *lab) string {
				return l.thing("secretValue: hunter2\n      echoInput: true\n      failures: {create: \"denied\"}")
			},
			edit:        func(_ *lab, r *run.Run) { r.Masks = []string{"hunter2"} },
			want:        `lab:index:Thing (a): denied (input was "***")`,
			wantChanges: run.Changes{Created: 1},
		},
		"no passphrase": {
			program: func(*lab) string { return plainProgram },
			edit:    func(_ *lab, r *run.Run) { delete(r.Env, grammar.PassphraseVariable) },
			want:    "give PULUMI_CONFIG_PASSPHRASE among the environment variables of the run",
		},
		"a backend that cannot be opened": {
			variant: true,
			program: func(*lab) string { return plainProgram },
			edit:    func(_ *lab, r *run.Run) { r.Backend = "file:///nowhere/at/all" },
			want:    "the backend cannot be opened",
		},
		"a backend that does not answer": {
			program: func(*lab) string { return plainProgram },
			edit: func(_ *lab, r *run.Run) {
				r.Backend, r.Env["PULUMI_ACCESS_TOKEN"] = "http://127.0.0.1:1", "x"
			},
			want: "nothing answers at that address", wantOutcome: run.BackendUnavailable,
		},
		"a stack name that Pulumi refuses": {
			program: func(*lab) string { return plainProgram },
			edit:    func(_ *lab, r *run.Run) { r.Stack = "d ev" },
			want:    "a stack name may only contain", notBegun: true,
		},
		"an organization on a backend without accounts": {
			program: func(*lab) string { return plainProgram },
			edit:    func(_ *lab, r *run.Run) { r.Stack = "acme/dev" },
			want:    "the organization must be 'organization'", notBegun: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if test.variant {
				short.Skip(t)
			}
			t.Parallel()
			l := newLab(t).withProvider().withStack()
			r := l.update(test.program(l))
			if test.edit != nil {
				test.edit(l, &r)
			}
			result := l.do(t.Context(), r)
			l.Expect(result.Outcome).To(Equal(cmp.Or(test.wantOutcome, run.Failed)))
			l.Expect(result.Message).To(ContainSubstring(test.want))
			l.Expect(result.Changes).To(Equal(test.wantChanges))
			l.Expect(l.locks()).To(BeEmpty())
			if test.notBegun {
				l.Expect(l.newCalls()).To(BeEmpty())
			}
			for _, line := range append(l.saidLines(), result.Message) {
				l.Expect(line).NotTo(ContainSubstring("hunter2"))
			}
		})
	}
}

// A later version may know operations that change nothing, so that they must not be taken for an update.
func TestAnOperationOfALaterVersionStartsNothing(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	later := l.update(plainProgram)
	later.Operation = "of-a-later-version"
	result := l.do(t.Context(), later)
	l.Expect(result.Outcome).To(Equal(run.Failed))
	l.Expect(result.Message).To(ContainSubstring(`does not know the operation "of-a-later-version"`))
	l.Expect(result.Interrupted).To(BeFalse())
	l.Expect(result.Operation).To(Equal(later.Operation))
	l.Expect(l.newCalls()).To(BeEmpty())
}

func TestALockIsReportedWithItsHolder(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.given(plainProgram)
	writeTree(t, l.backend, map[string]string{
		".pulumi/locks/organization/demo/dev/0.json": `{"pid":7,"username":"bob","hostname":"elsewhere","timestamp":"2026-01-02T03:04:05Z"}`,
	})
	for _, r := range []run.Run{l.update(plainProgram), l.destroy()} {
		result := l.do(t.Context(), r)
		l.Expect(result.Outcome).To(Equal(run.Locked), result.Message)
		l.Expect(result.Message).To(ContainSubstring("created by bob@elsewhere (pid 7) at 2026-01-02T03:04:05Z"))
		l.Expect(l.locks()).To(HaveLen(1), "a foreign lock is never broken")
	}
}

func TestADestroyNeedsOnlyTheState(t *testing.T) {
	t.Parallel()
	l := newLab(t).withProvider()
	l.given(l.thing("secretValue: hunter2"))
	l.Expect(l.things()).To(Equal(1))
	r := l.destroy()
	// The language has no host here, and the project is named only by the stack name.
	r.Stack, r.Project = "organization/demo/dev", run.Project{Runtime: "cobol"}
	result := l.do(t.Context(), r)
	l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	l.Expect(l.newCalls()).To(Equal([]string{"stack export", "destroy", "stack rm"}), "nothing is installed")
	l.Expect(l.things()).To(BeZero())
}

func TestAProgramOfAnArtifact(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	r := l.update("")
	r.Program = run.Program{Artifact: &run.Artifact{Dir: "deploy"}}
	r.Config = map[string]json.RawMessage{"greeting": json.RawMessage(`"hi"`), "list": json.RawMessage(`["a","b"]`)}
	dir := Directory(t.TempDir())
	writeTree(t, dir.Workspace(), map[string]string{
		"deploy/Pulumi.yaml": "name: shop\nruntime: yaml\nbackend: {url: file:///nowhere}\n",
		"deploy/Main.yaml": "config:\n  greeting: {type: string}\n  kept: {type: string}\n  list: {type: array, items: {type: string}}\n" +
			"outputs: {o: \"${greeting} ${kept} ${list[1]}\"}\n",
		"deploy/Pulumi.dev.yaml": "config: {greeting: lost, kept: kept}\n",
	})
	result := l.driver.Do(t.Context(), dir, r, func(string) {})
	l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	l.Expect(result.Project.Name).To(Equal("shop"))
	l.Expect(string(result.Outputs["o"])).To(Equal(`"hi kept b"`))
}
