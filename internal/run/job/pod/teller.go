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
	// tellInterval is how often, at most, to report the progress.
	tellInterval = 10 * time.Second
	// tellWaiting is how long a run waits for the same before that is reported early, so
	// that the status names an installation within ten seconds. Short waits cost no write.
	tellWaiting = 3 * time.Second
	// tellUrgently is how soon after the last report to report a creation of unknown
	// outcome: the pod may not live to write the result.
	tellUrgently = 500 * time.Millisecond
)

// teller reports the progress of the run to the controller.
type teller struct {
	secret Secret
	log    logr.Logger
	// news is filled when there is something to report, early when the run has waited for
	// the same for some time, and urgent when the report must not wait.
	news, early, urgent chan struct{}
	done                chan struct{}
	end                 context.CancelFunc

	mu   sync.Mutex
	told exchange.Told
	// waits ends after tellWaiting, nil while the run waits for nothing.
	waits *time.Timer
	// writing is held during a write, so that a later report is not overwritten by an
	// earlier one.
	writing sync.Mutex
}

func newTeller(secret Secret, log logr.Logger) *teller {
	ctx, end := context.WithCancel(context.Background())
	t := &teller{
		secret: secret, log: log, end: end,
		news: make(chan struct{}, 1), early: make(chan struct{}, 1), urgent: make(chan struct{}, 1), done: make(chan struct{}),
	}
	go t.run(ctx)
	return t
}

// close reports nothing more: the result contains everything.
func (t *teller) close() {
	t.end()
	<-t.done
}

func (t *teller) progress(progress run.Progress) {
	t.mu.Lock()
	if progress.Waiting != t.told.Progress.Waiting {
		t.wait(progress.Waiting != "")
	}
	t.told.Progress = progress
	t.mu.Unlock()
	nudge(t.news)
}

// wait has the report made early if the run waits for long enough.
func (t *teller) wait(waits bool) {
	if t.waits != nil {
		t.waits.Stop()
		t.waits = nil
	}
	if waits {
		t.waits = time.AfterFunc(tellWaiting, func() { nudge(t.early) })
	}
}

func (t *teller) unknownCreates(urns []string) {
	t.mu.Lock()
	t.told.UnknownCreates = slices.Clone(urns)
	t.mu.Unlock()
	nudge(t.urgent)
}

// found reports it before it returns, and before the run goes on. If that fails, it is
// reported again unless it is refused.
func (t *teller) found(found run.Found) error {
	t.mu.Lock()
	t.told.Found = found
	t.mu.Unlock()
	err := t.tell(context.Background())
	t.tryAgain(err)
	return err
}

// tryAgain sees to another report after one that has failed, unless nothing is lost without
// it.
func (t *teller) tryAgain(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if urgent := len(t.told.UnknownCreates) > 0 || t.told.Found != (run.Found{}); err != nil && urgent && !isRefusal(err) {
		nudge(t.urgent)
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

func (t *teller) run(ctx context.Context) {
	defer close(t.done)
	wait := time.NewTimer(tellInterval) // most runs have ended by then, and cost no write
	defer wait.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.urgent:
			wait.Reset(tellUrgently)
			select {
			case <-ctx.Done():
				return
			case <-wait.C:
			}
		case <-t.early:
		case <-wait.C:
			select {
			case <-ctx.Done():
				return
			case <-t.news:
			case <-t.urgent:
			}
		}
		drain(t.news) // the report has them
		t.tryAgain(t.tell(ctx))
		wait.Reset(tellInterval)
	}
}

// tell writes the report.
func (t *teller) tell(ctx context.Context) error {
	t.writing.Lock()
	defer t.writing.Unlock()
	t.mu.Lock()
	data, err := exchange.EncodeTold(t.told)
	t.mu.Unlock()
	if err == nil {
		request, cancel := context.WithTimeout(ctx, requestTimeout)
		defer cancel()
		err = patchSecret(request, t.secret, map[string]any{exchange.ToldKey: data}, nil)
	}
	if err != nil && ctx.Err() == nil {
		t.log.V(1).Info("it cannot be told how far the run has come", "error", err.Error())
	}
	return err
}
