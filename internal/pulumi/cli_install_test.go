// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/pulumi/process"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// withLanguage installs the host of the lab language beside the lab provider.
func (l *lab) withLanguage() *lab {
	l.Helper()
	l.withProvider().installPlugin("language", "lab")
	return l
}

// written is a run of a program in the lab language, in a directory of its own.
func (l *lab) written(program string) (Directory, run.Run) {
	l.Helper()
	dir := Directory(l.TempDir())
	writeTree(l.T, dir.Workspace(), writtenFiles(program))
	return dir, l.updateWritten()
}

func writtenFiles(program string) map[string]string {
	return map[string]string{"Pulumi.yaml": "name: demo\nruntime: lab\n", "program.json": program}
}

func (l *lab) updateWritten() run.Run {
	r := l.update("")
	r.Program = run.Program{Artifact: &run.Artifact{}}
	r.Config = map[string]json.RawMessage{"lab:directory": jsonString(l.cloud)}
	return r
}

// givenWritten begins with the stack that an update of the program makes.
func (l *lab) givenWritten(program string) {
	l.Helper()
	l.givenRun(l.updateWritten(), writtenFiles(program))
}

// doWritten executes the run and checks that no process survives it.
func (l *lab) doWritten(ctx context.Context, dir Directory, r run.Run) run.Result {
	l.Helper()
	result := l.driver.Do(ctx, dir, r, func(line string) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.said = append(l.said, line)
	})
	alive, err := Alive(r.ID)
	l.Expect(err).NotTo(HaveOccurred())
	l.Expect(alive).To(BeZero(), "processes of the run live on")
	l.Logf("%s: %s: %+v %q", r.ID, result.Outcome, result.Changes, result.Message)
	return result
}

func TestTheDependenciesOfAProgramAreInstalledOnceForEachRun(t *testing.T) {
	t.Parallel()
	l := newLab(t).withLanguage()
	var mu sync.Mutex
	var reported []run.Progress
	l.reports.progress = func(progress run.Progress) {
		mu.Lock()
		defer mu.Unlock()
		reported = append(reported, progress)
	}
	dir, r := l.written(`{"things": ["a"]}`)
	result := l.doWritten(t.Context(), dir, r)
	l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	l.Expect(l.newCalls()).To(Equal([]string{"install", "stack init", "up"}))
	l.Expect(string(result.Outputs["installed"])).To(Equal("1"))
	l.Expect(l.things()).To(Equal(1))
	l.Expect(l.saidLines()).To(ContainElements(installing, HavePrefix("installed the dependencies of the program in ")))
	mu.Lock()
	l.Expect(reported[:3]).To(Equal([]run.Progress{{Waiting: installing}, {}, {Waiting: run.StartingProgram}}), "before the program is at work")
	l.Expect(reported[len(reported)-1].Waiting).To(BeEmpty(), "and no longer")
	mu.Unlock()

	dir, r = l.written(`{"things": ["a"]}`)
	r.Operation = run.Preview
	result = l.doWritten(t.Context(), dir, r)
	l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	l.Expect(l.newCalls()).To(Equal([]string{"install", "preview"}))

	dir, r = l.written(`{"things": ["a"]}`)
	r.Options = run.Options{Refresh: true, ExpectNoRefreshChanges: true, RunProgram: true}
	result = l.doWritten(t.Context(), dir, r)
	l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	l.Expect(l.newCalls()).To(Equal([]string{"install", "refresh", "up"}))

	dir, r = l.written(`{"things": ["a"]}`)
	r.Operation, r.Options.RunProgram = run.Destroy, true
	result = l.doWritten(t.Context(), dir, r)
	l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	l.Expect(l.newCalls()).To(Equal([]string{"install", "destroy", "stack rm"}))
	l.Expect(l.things()).To(BeZero())
}

func TestARecoveryInstallsOnlyWhereItRunsTheProgram(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	l := newLab(t).withLanguage()
	l.givenWritten(`{"things": ["a"]}`)
	dir, r := l.written(`{"things": ["a"]}`)
	r.Operation, r.Options.RunProgram = run.Recover, true
	result := l.doWritten(t.Context(), dir, r)
	l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	l.Expect(l.newCalls()).To(Equal([]string{"stack export"}), "there is nothing to be settled")

	dir, r = l.written(`{"install": {"fail": "no luck"}}`)
	r.Operation, r.Options.RunProgram = run.Recover, true
	r.Interrupted = []run.Interrupted{{ID: "gone-" + r.ID, Operation: run.Recover}}
	result = l.doWritten(t.Context(), dir, r)
	l.Expect(l.newCalls()).To(Equal([]string{"stack export", "install"}))
	l.Expect(result.Outcome).To(Equal(run.Failed))
	l.Expect(result.Message).To(HavePrefix(installing + ": no luck"))
	l.Expect(result.Interrupted).To(BeFalse(), "it has not started to settle anything")
}

func TestAFailedInstallationLeavesNothing(t *testing.T) {
	t.Parallel()
	const canary = "CANARYinstall77"
	for name, test := range map[string]struct {
		program, project string
		acquire          bool
		want             []string
		outcome          run.Outcome
		calls            []string
	}{
		"with the end of what was printed": {
			program: `{"install": {"stdout": ["reading"], "stderr": ["npm warn old", "npm error code E404", "npm error 404 Not Found - GET https://r.example/@no%2fsuch"], "fail": "exit status 1"}}`,
			want:    []string{installing + ": npm error 404 Not Found - GET https://r.example/@no%2fsuch\nnpm error code E404"},
			outcome: run.Failed, calls: []string{"install"},
		},
		"with what was printed on standard output": {
			program: `{"install": {"stdout": ["ERR_PNPM_NO_LOCKFILE  no lockfile"], "stderr": ["(node) deprecated"], "fail": "exit status 1"}}`,
			want:    []string{installing + ": ERR_PNPM_NO_LOCKFILE  no lockfile"}, outcome: run.Failed, calls: []string{"install"},
		},
		"with its secrets masked": {
			program: `{"install": {"stdout": ["$TOKEN"], "stderr": ["error for $TOKEN"], "fail": "denied"}}`,
			want:    []string{"denied:\nerror for ***"}, outcome: run.Failed, calls: []string{"install"},
		},
		"where the registry is out of reach": {
			program: `{"install": {"stderr": ["npm error code ENOTFOUND", "npm error network request to https://registry.example failed"], "fail": "exit status 1"}}`,
			want:    []string{"ENOTFOUND"}, outcome: run.RegistryUnavailable, calls: []string{"install"},
		},
		"of a language that is not there": {
			program: `{}`, project: "name: demo\nruntime: nodejs\n",
			want: []string{"no language plugin 'pulumi-language-nodejs' found", missingTool}, outcome: run.Failed, calls: []string{"install"},
		},
		"of pnpm, whose node_modules is broken": {
			program: `{"install": {"stderr": ["ERR_PNPM_ABORTED_REMOVE_MODULES_DIR_NO_TTY  Aborted removal of modules directory due to no TTY"], "fail": "exit status 1"}}`,
			want:    []string{"Aborted removal", brokenModules}, outcome: run.Failed, calls: []string{"install"},
		},
		"of packages that may not be downloaded": {
			program: `{}`, project: "name: demo\nruntime: lab\npackages: {random: random@4.16.0}\n",
			want: []string{"--acquire-plugins=false"}, outcome: run.Failed,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t).withLanguage()
			dir, r := l.written(test.program)
			if test.project != "" {
				writeTree(t, dir.Workspace(), map[string]string{"Pulumi.yaml": test.project})
			}
			r.Env["TOKEN"], r.Masks = canary, []string{canary}
			result := l.doWritten(t.Context(), dir, r)
			l.Expect(result.Outcome).To(Equal(test.outcome))
			for _, want := range test.want {
				l.Expect(result.Message).To(ContainSubstring(want))
			}
			l.Expect(result.Interrupted).To(BeFalse())
			l.Expect(result.Changes).To(BeZero())
			l.Expect(l.newCalls()).To(Equal(test.calls))
			l.Expect(os.ReadDir(l.backend)).To(HaveLen(1), "nothing but what was there")
			for _, line := range append(l.saidLines(), result.Message) {
				l.Expect(line).NotTo(ContainSubstring(canary))
			}
		})
	}
}

func TestAnInstallationIsCancelledWithAllItsProcesses(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		cause   error
		outcome run.Outcome
		message string
	}{
		"by its timeout": {context.DeadlineExceeded, run.TimedOut, "the timeout has passed and the run was cancelled while " + installing +
			": nothing was changed. The registry may not answer, a script of a package may not end, or spec.timeout is too short. " +
			"The last line that was printed: downloading"},
		"by someone": {run.ErrCancelled, run.Cancelled, "cancelled: requested by a user while " + installing},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t).withLanguage()
			dir, r := l.written(`{"install": {"stderr": ["downloading"], "hang": true}}`)
			ctx, cancel := context.WithCancelCause(t.Context())
			results := make(chan run.Result, 1)
			go func() { results <- l.driver.Do(ctx, dir, r, func(string) {}) }()
			l.Eventually(filepath.Join(dir.Workspace(), "installing")).Should(BeAnExistingFile())
			// The engine prints the line after its language host has sent it.
			l.Eventually(func() string { return errorsOfCLI(l, r.ID) }).Should(ContainSubstring("downloading"))
			started := time.Now()
			cancel(test.cause)
			var result run.Result
			l.Eventually(results).Should(Receive(&result))
			t.Logf("it took %s", time.Since(started))
			l.Expect(result.Outcome).To(Equal(test.outcome))
			l.Expect(result.Message).To(HavePrefix(test.message))
			l.Expect(result.Interrupted).To(BeFalse())
			l.Expect(Alive(r.ID)).To(BeZero())
			l.Expect(l.newCalls()).To(Equal([]string{"install"}))
			l.Expect(os.ReadDir(l.backend)).To(HaveLen(1), "nothing but what was there")
		})
	}
}

// withCLI calls do with the process of the CLI.
func withCLI(l *lab, id string, do func(*os.Process)) {
	l.Helper()
	found, err := process.Marked(markOf(id))
	l.Expect(err).NotTo(HaveOccurred())
	defer process.Release(found)
	for _, process := range found {
		command, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(process.Pid), "cmdline"))
		if strings.Contains(string(command), "pulumi\x00--non-interactive") {
			do(process)
		}
	}
}

// errorsOfCLI is what the CLI has printed, which is in memory.
func errorsOfCLI(l *lab, id string) (text string) {
	l.Helper()
	withCLI(l, id, func(cli *os.Process) {
		printed, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(cli.Pid), "fd", "2")) // it may have ended
		text += string(printed)
	})
	return text
}

// A CLI that is killed during an installation, for example when out of memory, had
// nothing in flight.
func TestAnInstallationThatIsKilledIsNotRecoveredFrom(t *testing.T) {
	t.Parallel()
	l := newLab(t).withLanguage()
	dir, r := l.written(`{"install": {"hang": true}}`)
	results := make(chan run.Result, 1)
	go func() { results <- l.driver.Do(t.Context(), dir, r, func(string) {}) }()
	l.Eventually(filepath.Join(dir.Workspace(), "installing")).Should(BeAnExistingFile())
	withCLI(l, r.ID, func(cli *os.Process) { l.Expect(cli.Kill()).To(Succeed()) })
	var result run.Result
	l.Eventually(results).Should(Receive(&result))
	l.Expect(result.Outcome).To(Equal(run.Failed))
	l.Expect(result.Message).To(And(HavePrefix(installing), ContainSubstring("ended by a signal (killed)")))
	l.Expect(result.Interrupted).To(BeFalse())
	l.Expect(Alive(r.ID)).To(BeZero())
}

func TestAnInstallationThatHasNotStartedIsCancelled(t *testing.T) {
	t.Parallel()
	l := newLab(t).withLanguage()
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("the controller is shutting down"))
	dir, r := l.written(`{}`)
	result := l.doWritten(ctx, dir, r)
	l.Expect(result.Outcome).To(Equal(run.Cancelled))
	l.Expect(l.newCalls()).To(BeEmpty())
}
