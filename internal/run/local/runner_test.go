// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/pulumi"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/source"
)

// gate is a driver whose runs end when the test says so or when they are cancelled: the
// order of runs cannot be tested with runs of unknown length. Other tests use the real
// CLI.
type gate struct {
	mu      sync.Mutex
	started []string
	open    chan struct{}
}

func (d *gate) Do(ctx context.Context, dir pulumi.Directory, r run.Run, _ func(string)) run.Result {
	d.mu.Lock()
	d.started = append(d.started, r.ID)
	d.mu.Unlock()
	if err := os.WriteFile(filepath.Join(dir.Workspace(), "secret"), []byte("hunter2"), 0o600); err != nil {
		return run.Result{Outcome: run.WorkspaceFailed, Message: err.Error()}
	}
	select {
	case <-d.open:
		return run.Result{Outcome: run.Succeeded, Outputs: map[string]json.RawMessage{"o": json.RawMessage(`1`)}}
	case <-ctx.Done():
		return run.Result{Outcome: run.Cancelled, Message: context.Cause(ctx).Error()}
	}
}

func (d *gate) starts() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]string{}, d.started...)
}

type fetcherFunc func(dir string) error

func (f fetcherFunc) Fetch(_ context.Context, _ run.Artifact, dir string) error { return f(dir) }

type fixture struct {
	*WithT
	runner *Runner
	driver *gate
	dir    string
	ended  chan string
}

func newFixture(t *testing.T, edit ...func(*Options)) *fixture {
	t.Helper()
	f := &fixture{
		WithT: NewWithT(t), driver: &gate{open: make(chan struct{})},
		dir: filepath.Join(t.TempDir(), "work"), ended: make(chan string, 100),
	}
	f.SetDefaultEventuallyTimeout(5 * time.Minute) // on a busy machine
	options := Options{
		Dir: f.dir, Concurrent: 1, Driver: f.driver, Log: logr.Discard(),
		Fetcher: fetcherFunc(func(string) error { return nil }),
		Wake:    func(namespace, name string) { f.ended <- namespace + "/" + name },
	}
	for _, e := range edit {
		e(&options)
	}
	f.runner = New(options)
	t.Cleanup(func() { f.Expect(f.runner.Shutdown(context.Background())).To(Succeed()) })
	return f
}

func aRun(id, name string) run.Run {
	return run.Run{
		ID: id, Namespace: "ns", Name: name, Operation: run.Update, Timeout: time.Minute,
		Secrets: map[string]string{"pw": "hunter2"}, Masks: []string{"hunter2"},
		Program: run.Program{YAML: []byte("outputs: {}")},
	}
}

func (f *fixture) phase(id string) run.Phase {
	phase, _ := f.runner.Look(run.Ref{ID: id})
	return phase
}

func TestARunIsKnownFromItsStartToItsForgetting(t *testing.T) {
	f := newFixture(t)
	f.Expect(f.phase("1")).To(Equal(run.Unknown))
	f.Expect(f.runner.Reserve("ns", "a")).To(BeTrue())
	f.Expect(f.runner.Start(aRun("1", "a"))).To(Succeed())
	f.Expect(f.phase("1")).To(Equal(run.Running))
	f.Expect(f.runner.Forget(ref("1"))).To(MatchError(ContainSubstring("in flight")))

	f.Eventually(f.driver.starts).Should(Equal([]string{"1"}))
	close(f.driver.open)
	f.Eventually(f.ended).Should(Receive(Equal("ns/a")))

	phase, result := f.runner.Look(run.Ref{ID: "1"})
	f.Expect(phase).To(Equal(run.Ended))
	f.Expect(result.Outcome).To(Equal(run.Succeeded))
	entries, err := os.ReadDir(filepath.Join(f.dir, "1"))
	f.Expect(err).NotTo(HaveOccurred())
	f.Expect(entries).To(HaveLen(1), "only the result is kept")
	text, err := os.ReadFile(filepath.Join(f.dir, "1", resultFile))
	f.Expect(err).NotTo(HaveOccurred())
	f.Expect(string(text)).NotTo(ContainSubstring("hunter2"))

	f.Expect(f.runner.Forget(ref("1"))).To(Succeed())
	f.Expect(f.runner.Forget(ref("1"))).To(Succeed(), "forgetting twice")
	f.Expect(f.phase("1")).To(Equal(run.Unknown))
	f.Expect(filepath.Join(f.dir, "1")).NotTo(BeADirectory())
}

func TestTheNextControllerFindsAResult(t *testing.T) {
	f := newFixture(t)
	f.Expect(f.runner.Reserve("ns", "a")).To(BeTrue())
	f.Expect(f.runner.Start(aRun("1", "a"))).To(Succeed())
	close(f.driver.open)
	f.Eventually(f.ended).Should(Receive())

	next := newFixture(t, func(o *Options) { o.Dir = f.dir })
	phase, result := next.runner.Look(run.Ref{ID: "1"})
	next.Expect(phase).To(Equal(run.Ended))
	next.Expect(result.Outputs).To(HaveKey("o"))
}

func TestSlotsGoInTurn(t *testing.T) {
	f := newFixture(t)
	f.Expect(f.runner.Reserve("ns", "a")).To(BeTrue())
	f.Expect(f.runner.Start(aRun("1", "a"))).To(Succeed())
	f.Expect(f.runner.Reserve("ns", "b")).To(BeFalse())
	f.Expect(f.runner.Reserve("ns", "c")).To(BeFalse())
	inFlight, waiting := f.runner.Count()
	f.Expect([]int{inFlight, waiting}).To(Equal([]int{1, 2}))
	f.runner.Release("ns", "a")
	f.Expect(f.runner.Reserve("ns", "b")).To(BeFalse(), "a run in flight keeps its slot")
	f.runner.Postpone("ns", "a")
	f.Expect(f.runner.Reserve("ns", "b")).To(BeFalse(), "and does not postpone it")
	close(f.driver.open)
	f.Eventually(f.ended).Should(Receive(Equal("ns/a")))
	f.Eventually(f.ended).Should(Receive(Equal("ns/b")))
	f.Expect(f.runner.Reserve("ns", "c")).To(BeFalse(), "it is the turn of b")
	f.Expect(f.runner.Reserve("ns", "b")).To(BeTrue())
	f.runner.Postpone("ns", "b")
	f.Expect(f.runner.Reserve("ns", "c")).To(BeFalse(), "b is about to come back")
	f.runner.Release("ns", "b")
	f.Expect(f.ended).To(Receive(Equal("ns/c")))
	f.Expect(f.runner.Reserve("ns", "c")).To(BeTrue())
}

// A Stack that is deleted and recreated during its run has the same name.
func TestAStackWithARunInFlightGetsNoSlot(t *testing.T) {
	f := newFixture(t, func(o *Options) { o.Concurrent = 2 })
	f.Expect(f.runner.Reserve("ns", "a")).To(BeTrue())
	f.Expect(f.runner.Start(aRun("1", "a"))).To(Succeed())
	f.Expect(f.runner.Reserve("ns", "a")).To(BeFalse())
	f.Expect(f.runner.Reserve("ns", "b")).To(BeTrue(), "it does not stand in line either")
	close(f.driver.open)
	f.Eventually(f.ended).Should(Receive(Equal("ns/a")), "it is notified")
	f.Expect(f.runner.Reserve("ns", "a")).To(BeTrue())
}

func TestAStartIsRefused(t *testing.T) {
	f := newFixture(t, func(o *Options) { o.Concurrent = 2 })
	f.Expect(f.runner.Start(aRun("1", "a"))).To(MatchError(run.ErrRefused), "without a slot")
	f.Expect(f.runner.Reserve("ns", "a")).To(BeTrue())
	for _, id := range []string{"", ".", "..", "../x", "a/b", "/x"} {
		f.Expect(f.runner.Start(aRun(id, "a"))).To(MatchError(run.ErrRefused), "ID %q", id)
	}
	f.Expect(f.runner.Start(aRun("1", "a"))).To(Succeed())
	f.Expect(f.runner.Start(aRun("2", "a"))).To(MatchError(run.ErrRefused), "one run at a time for a Stack")
	f.Expect(f.runner.Reserve("ns", "b")).To(BeTrue())
	f.Expect(f.runner.Shutdown(t.Context())).To(Succeed())
	f.Expect(f.runner.Reserve("ns", "c")).To(BeFalse(), "there are no slots after the shutdown")
	f.Expect(f.runner.Start(aRun("3", "b"))).To(MatchError(run.ErrRefused), "after the shutdown")
}

func TestAShutdownStopsRunsAndKeepsTheirResults(t *testing.T) {
	f := newFixture(t)
	f.Expect(f.runner.Reserve("ns", "a")).To(BeTrue())
	f.Expect(f.runner.Start(aRun("1", "a"))).To(Succeed())
	f.Expect(f.runner.Shutdown(t.Context())).To(Succeed())
	phase, result := f.runner.Look(run.Ref{ID: "1"})
	f.Expect(phase).To(Equal(run.Ended))
	f.Expect(result.Outcome).To(Equal(run.Cancelled))
	f.Expect(result.Message).To(ContainSubstring("shutting down"))
	f.Expect(filepath.Join(f.dir, "1", resultFile)).To(BeARegularFile())
}

func TestWhatCannotBePreparedHasAnOutcome(t *testing.T) {
	for name, test := range map[string]struct {
		fetch   func(dir string) error
		artDir  string
		spoil   bool
		timeout time.Duration
		want    run.Outcome
		message string
	}{
		"an artifact that is gone": {
			fetch: func(string) error { return fmt.Errorf("hunter2: %w", source.ErrGone) },
			want:  run.ArtifactGone, message: "***: artifact gone",
		},
		"a disk that is full while it is unpacked": {
			fetch: func(string) error { return source.ErrWorkspace }, want: run.WorkspaceFailed, message: "workspace unusable",
		},
		"an artifact without the directory": {
			fetch: func(string) error { return nil }, artDir: "deploy",
			want: run.ArtifactFailed, message: `dir "deploy" is not in the artifact`,
		},
		"a server that takes longer than the run may": {
			fetch: func(string) error { return context.DeadlineExceeded }, timeout: time.Nanosecond,
			want: run.TimedOut, message: "deadline exceeded",
		},
		"a directory that cannot be made": {
			spoil: true, fetch: func(string) error { return errors.New("not reached") },
			want: run.WorkspaceFailed, message: "making the directory of the run",
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, func(o *Options) { o.Fetcher = fetcherFunc(test.fetch) })
			if test.spoil {
				f.Expect(os.WriteFile(f.dir, nil, 0o600)).To(Succeed())
			}
			r := aRun("1", "a")
			r.Program = run.Program{Artifact: &run.Artifact{Dir: test.artDir}}
			if test.timeout > 0 {
				r.Timeout = test.timeout
			}
			f.Expect(f.runner.Reserve("ns", "a")).To(BeTrue())
			f.Expect(f.runner.Start(r)).To(Succeed())
			f.Eventually(f.ended).Should(Receive())
			phase, result := f.runner.Look(run.Ref{ID: "1"})
			f.Expect(phase).To(Equal(run.Ended))
			f.Expect(result.Outcome).To(Equal(test.want), result.Message)
			f.Expect(result.Message).To(ContainSubstring(test.message))
			f.Expect(f.driver.starts()).To(BeEmpty())
			f.Expect(f.runner.Reserve("ns", "b")).To(BeTrue(), "the slot is free again")
		})
	}
}

func TestARunDoesNotUseADirectoryOfAnother(t *testing.T) {
	taken := errors.New("in use by another process")
	f := newFixture(t, func(o *Options) { o.Usable = func() error { return taken } })
	f.Expect(f.runner.Reserve("ns", "a")).To(BeTrue())
	f.Expect(f.runner.Start(aRun("1", "a"))).To(Succeed())
	f.Eventually(f.ended).Should(Receive(Equal("ns/a")))
	_, result := f.runner.Look(run.Ref{ID: "1"})
	f.Expect(result.Outcome).To(Equal(run.WorkspaceFailed))
	f.Expect(result.Message).To(ContainSubstring("in use by another process"))
	f.Expect(f.dir).NotTo(BeADirectory())
	f.Expect(f.driver.starts()).To(BeEmpty())
}

func TestASweepKeepsWhatIsAskedFor(t *testing.T) {
	f := newFixture(t)
	for _, id := range []string{"old", "wanted"} {
		f.Expect(os.MkdirAll(filepath.Join(f.dir, id, "workspace"), 0o700)).To(Succeed())
		for _, name := range []string{"events.jsonl", "pids", "backend", "stdout", resultFile} {
			f.Expect(os.WriteFile(filepath.Join(f.dir, id, name), nil, 0o600)).To(Succeed())
		}
	}
	f.Expect(f.runner.Reserve("ns", "a")).To(BeTrue())
	f.Expect(f.runner.Start(aRun("mine", "a"))).To(Succeed())
	f.Eventually(f.driver.starts).Should(HaveLen(1))
	f.Expect(f.runner.Sweep(func(id string) bool { return id == "wanted" })).To(Succeed())
	f.Expect(filepath.Join(f.dir, "old")).NotTo(BeADirectory())
	entries, err := os.ReadDir(filepath.Join(f.dir, "wanted"))
	f.Expect(err).NotTo(HaveOccurred())
	f.Expect(entries).To(HaveExactElements(HaveField("Name()", "backend"), HaveField("Name()", "events.jsonl"),
		HaveField("Name()", "pids"), HaveField("Name()", resultFile)), "what is needed, and not its bulk")
	f.Expect(filepath.Join(f.dir, "mine")).To(BeADirectory())
}

func TestADamagedResultIsNone(t *testing.T) {
	f := newFixture(t)
	f.Expect(os.MkdirAll(filepath.Join(f.dir, "1"), 0o700)).To(Succeed())
	f.Expect(os.WriteFile(filepath.Join(f.dir, "1", resultFile), []byte("{"), 0o600)).To(Succeed())
	f.Expect(f.phase("1")).To(Equal(run.Unknown))
}

// ref names a run of the tests.
func ref(id string) run.Ref { return run.Ref{ID: id, Namespace: "default", Name: "app"} }
