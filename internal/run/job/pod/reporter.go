// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pod

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/go-logr/logr"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/run/job/exchange"
)

const (
	// reportInterval is how often, at most, to report the progress.
	reportInterval = 10 * time.Second
	// reportWaitingAfter is how long a run waits for the same before that is reported early, so
	// that the status names an installation within ten seconds. Short waits cost no write.
	reportWaitingAfter = 3 * time.Second
	// reportUrgentAfter is how soon after the last report to report a creation of unknown
	// outcome: the pod may not live to write the result.
	reportUrgentAfter = 500 * time.Millisecond
)

// reporter reports the progress of the run to the controller.
type reporter struct {
	secret Secret
	log    logr.Logger
	// news is filled when there is something to report, early when the run has waited for
	// the same for some time, and urgent when the report must not wait.
	news, early, urgent chan struct{}
	done                chan struct{}
	end                 context.CancelFunc

	mu     sync.Mutex
	report exchange.ProgressReport
	// waits ends after reportWaitingAfter, nil while the run waits for nothing.
	waits *time.Timer
	// writing is held during a write, so that a later report is not overwritten by an
	// earlier one.
	writing sync.Mutex
}

func newReporter(secret Secret, log logr.Logger) *reporter {
	ctx, end := context.WithCancel(context.Background())
	r := &reporter{
		secret: secret, log: log, end: end,
		news: make(chan struct{}, 1), early: make(chan struct{}, 1), urgent: make(chan struct{}, 1), done: make(chan struct{}),
	}
	go r.run(ctx)
	return r
}

// close reports nothing more: the result contains everything.
func (r *reporter) close() {
	r.end()
	<-r.done
}

// Progress implements run.Reporter.
func (r *reporter) Progress(progress run.Progress) {
	r.mu.Lock()
	if progress.Waiting != r.report.Progress.Waiting {
		r.wait(progress.Waiting != "")
	}
	r.report.Progress = progress
	r.mu.Unlock()
	nudge(r.news)
}

// wait has the report made early if the run waits for long enough.
func (r *reporter) wait(waits bool) {
	if r.waits != nil {
		r.waits.Stop()
		r.waits = nil
	}
	if waits {
		r.waits = time.AfterFunc(reportWaitingAfter, func() { nudge(r.early) })
	}
}

// UnknownCreates implements run.Reporter.
func (r *reporter) UnknownCreates(urns []string) {
	r.mu.Lock()
	r.report.UnknownCreates = slices.Clone(urns)
	r.mu.Unlock()
	nudge(r.urgent)
}

// Found implements run.Reporter. It reports before it returns. If that fails, it is
// reported again unless it is refused.
func (r *reporter) Found(_ context.Context, found run.Found) error {
	r.mu.Lock()
	r.report.Found = found
	r.mu.Unlock()
	err := r.send(context.Background())
	r.tryAgain(err)
	return err
}

// tryAgain sees to another report after one that has failed, unless nothing is lost without
// it.
func (r *reporter) tryAgain(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if urgent := len(r.report.UnknownCreates) > 0 || r.report.Found != (run.Found{}); err != nil && urgent && !isRefusal(err) {
		nudge(r.urgent)
	}
}

// nudge fills a channel unless it is full.
func nudge(to chan struct{}) {
	select {
	case to <- struct{}{}:
	default:
	}
}

func drain(from chan struct{}) {
	select {
	case <-from:
	default:
	}
}

func (r *reporter) run(ctx context.Context) {
	defer close(r.done)
	wait := time.NewTimer(reportInterval) // most runs have ended by then, and cost no write
	defer wait.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.urgent:
			wait.Reset(reportUrgentAfter)
			select {
			case <-ctx.Done():
				return
			case <-wait.C:
			}
		case <-r.early:
		case <-wait.C:
			select {
			case <-ctx.Done():
				return
			case <-r.news:
			case <-r.urgent:
			}
		}
		drain(r.news) // the report has them
		r.tryAgain(r.send(ctx))
		wait.Reset(reportInterval)
	}
}

// send writes the report.
func (r *reporter) send(ctx context.Context) error {
	r.writing.Lock()
	defer r.writing.Unlock()
	r.mu.Lock()
	data, err := exchange.EncodeProgress(r.report)
	r.mu.Unlock()
	if err == nil {
		request, cancel := context.WithTimeout(ctx, requestTimeout)
		defer cancel()
		err = patchSecret(request, r.secret, map[string]any{exchange.ProgressKey: data}, nil)
	}
	if err != nil && ctx.Err() == nil {
		r.log.V(1).Info("failed to report the progress of the run", "error", err.Error())
	}
	return err
}
