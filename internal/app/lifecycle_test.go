// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// never is for what does not happen.
const never = 1000 * time.Hour

// world is fake parts of the process, which record when each of them starts and stops.
// There is one run in flight.
type world struct {
	// stopAfter is when the process is told to stop.
	stopAfter time.Duration
	// leaseLostAfter is when the manager stops by itself.
	leaseLostAfter time.Duration
	// runTakes is how long the run takes to stop, and writeTakes how long reconciles take
	// to write its result.
	runTakes, writeTakes time.Duration
	// reconcileTakes is how long the reconcile in flight takes, for which the manager waits.
	reconcileTakes time.Duration
	// directWrites is why nothing can be written directly.
	directWrites error
	// lockErr, assembleErr and sweepErr are why the process does not start.
	lockErr, assembleErr, sweepErr error

	mu    sync.Mutex
	start time.Time
	trace []string
	stop  sync.Once
	// ended is closed when the run has ended, and written when a reconcile has written its
	// result.
	ended, written chan struct{}
}

func (w *world) record(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.trace = append(w.trace, fmt.Sprintf("%s %s", time.Since(w.start), fmt.Sprintf(format, args...)))
}

type fakeLock struct{ *world }

func (l fakeLock) Take() error {
	l.record("lock the data directory")
	return l.lockErr
}

func (l fakeLock) Close() { l.record("unlock the data directory") }

type fakeManager struct{ *world }

func (m fakeManager) Start(ctx context.Context) error {
	m.record("take the lease, start reconciles")
	select {
	case <-ctx.Done():
		time.Sleep(m.reconcileTakes)
		m.record("reconciles have ended, give back the lease")
		return nil
	case <-time.After(m.leaseLostAfter):
		m.record("the lease is lost")
		return errors.New("leader election lost")
	}
}

type fakeRunner struct {
	run.Runner
	*world
}

func (r fakeRunner) Count() (inFlight, waiting int) { return 0, 0 }

// Shutdown can be called again, like that of a real runner.
func (r fakeRunner) Shutdown(ctx context.Context) error {
	r.stop.Do(func() {
		r.record("stop the run")
		time.AfterFunc(r.runTakes, func() {
			r.record("the run has ended")
			close(r.ended)
		})
		time.AfterFunc(r.runTakes+r.writeTakes, func() {
			r.record("a reconcile has written its result")
			close(r.written)
		})
	})
	select {
	case <-r.ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (r fakeRunner) AwaitForgotten(ctx context.Context) {
	select {
	case <-r.written:
	case <-ctx.Done():
	}
}

func (r fakeRunner) InFlight() []run.Ref {
	if isClosed(r.ended) {
		return nil
	}
	return []run.Ref{{ID: "in flight"}}
}

func (r fakeRunner) Ended() []run.Ref {
	if !isClosed(r.ended) || isClosed(r.written) {
		return nil
	}
	return []run.Ref{{ID: "ended"}}
}

func isClosed(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

type fakeStacks struct{ *world }

func (s fakeStacks) WriteAll(ctx context.Context, runs []run.Ref) error {
	var ids []string
	for _, ref := range runs {
		ids = append(ids, ref.ID)
	}
	s.record("write directly: %v", ids)
	if s.directWrites != nil && len(runs) > 0 {
		<-ctx.Done()
		s.record("give up: %v", s.directWrites)
		return s.directWrites
	}
	return ctx.Err()
}

type fakeEvents struct{ *world }

func (e fakeEvents) Close(ctx context.Context) error {
	deadline, _ := ctx.Deadline()
	e.record("send the events, for %s", time.Until(deadline))
	return nil
}

func (w *world) lifecycle() lifecycle {
	return lifecycle{
		data: fakeLock{w}, shutdown: 10 * time.Minute,
		assemble: func(context.Context) (*parts, error) {
			w.record("make the parts")
			return &parts{
				sweep: func(context.Context) error {
					w.record("sweep the data directory")
					return w.sweepErr
				},
				manager: fakeManager{w}, runner: fakeRunner{world: w}, stacks: fakeStacks{w}, events: fakeEvents{w},
			}, w.assembleErr
		},
	}
}

// started is the trace of every process that starts.
func started(then ...string) []string {
	return append([]string{
		"0s lock the data directory", "0s make the parts", "0s sweep the data directory", "0s take the lease, start reconciles",
	}, then...)
}

func TestPartsStartAndStopInOrder(t *testing.T) {
	away := errors.New("connection refused")
	for name, test := range map[string]struct {
		world *world
		want  []string
		err   string
	}{
		"a run in flight is stopped and its result written before the lease is given back": {
			&world{stopAfter: time.Hour, leaseLostAfter: never, runTakes: time.Minute, writeTakes: time.Second, reconcileTakes: time.Second},
			started(
				"1h0m0s stop the run",
				"1h1m0s the run has ended",
				"1h1m1s a reconcile has written its result",
				"1h1m2s reconciles have ended, give back the lease",
				"1h1m2s write directly: []",
				"1h1m2s send the events, for 5s",
				"1h1m2s unlock the data directory",
			), "",
		},
		"a result that reconciles cannot write does not keep the lease, and is written directly": {
			&world{stopAfter: time.Hour, leaseLostAfter: never, runTakes: time.Minute, writeTakes: never},
			started(
				"1h0m0s stop the run",
				"1h1m0s the run has ended",
				"1h1m30s reconciles have ended, give back the lease",
				"1h1m30s write directly: [ended]",
				"1h1m30s send the events, for 5s",
				"1h1m30s unlock the data directory",
			), "",
		},
		"direct writes have what is left of the time": {
			&world{stopAfter: time.Hour, leaseLostAfter: never, runTakes: time.Minute, writeTakes: never, directWrites: away},
			started(
				"1h0m0s stop the run",
				"1h1m0s the run has ended",
				"1h1m30s reconciles have ended, give back the lease",
				"1h1m30s write directly: [ended]",
				"1h10m0s give up: connection refused",
				"1h10m0s send the events, for 5s",
				"1h10m0s unlock the data directory",
			), "connection refused",
		},
		"a run that does not stop in time is left to the next process": {
			&world{stopAfter: time.Hour, leaseLostAfter: never, runTakes: never, reconcileTakes: 30 * time.Second, directWrites: away},
			started(
				"1h0m0s stop the run",
				"1h10m30s reconciles have ended, give back the lease",
				"1h10m30s write directly: [in flight]",
				"1h10m35s give up: connection refused",
				"1h10m35s send the events, for 5s",
				"1h10m35s unlock the data directory",
			), "deadline exceeded",
		},
		"after the loss of the lease results are written directly": {
			&world{stopAfter: never, leaseLostAfter: time.Hour, runTakes: time.Minute, writeTakes: never},
			started(
				"1h0m0s the lease is lost",
				"1h0m0s stop the run",
				"1h1m0s the run has ended",
				"1h1m0s write directly: [ended]",
				"1h1m0s send the events, for 5s",
				"1h1m0s unlock the data directory",
			), "leader election lost",
		},
		"the lease is lost while the run is being stopped": {
			&world{stopAfter: time.Hour, leaseLostAfter: time.Hour + time.Second, runTakes: time.Minute, writeTakes: never},
			started(
				"1h0m0s stop the run",
				"1h0m1s the lease is lost",
				"1h1m0s the run has ended",
				"1h1m0s write directly: [ended]",
				"1h1m0s send the events, for 5s",
				"1h1m0s unlock the data directory",
			), "leader election lost",
		},
		"a data directory that another process has": {
			&world{lockErr: errInUse},
			[]string{"0s lock the data directory", "0s unlock the data directory"}, errInUse.Error(),
		},
		"a data directory that cannot be written only keeps runs from starting": {
			&world{lockErr: away, leaseLostAfter: time.Hour, stopAfter: never, writeTakes: never},
			started(
				"1h0m0s the lease is lost",
				"1h0m0s stop the run",
				"1h0m0s the run has ended",
				"1h0m0s write directly: [ended]",
				"1h0m0s send the events, for 5s",
				"1h0m0s unlock the data directory",
			), "leader election lost",
		},
		"a part that cannot be made": {
			&world{assembleErr: away},
			[]string{"0s lock the data directory", "0s make the parts", "0s unlock the data directory"}, "connection refused",
		},
		"a sweep without the runs of Stacks": {
			&world{sweepErr: away},
			[]string{
				"0s lock the data directory", "0s make the parts", "0s sweep the data directory",
				"0s send the events, for 5s", "0s unlock the data directory",
			}, "connection refused",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				w := test.world
				w.start, w.ended, w.written = time.Now(), make(chan struct{}), make(chan struct{})
				ctx, stop := context.WithTimeout(t.Context(), w.stopAfter)
				defer stop()
				err := w.lifecycle().run(ctx)
				if test.err == "" {
					g.Expect(err).NotTo(HaveOccurred())
				} else {
					g.Expect(err).To(MatchError(ContainSubstring(test.err)))
				}
				g.Expect(w.trace).To(Equal(test.want))
				longest := Config{GracefulShutdown: 10 * time.Minute}.LongestShutdown()
				g.Expect(time.Since(w.start)).To(BeNumerically("<=", time.Hour+longest))
			})
		})
	}
}
