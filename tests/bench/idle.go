// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"net/http"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

// lookInterval is how often the controller is asked whether it has looked at every
// Stack. Its answer is long, and so costs it more than a reconcile.
const lookInterval = 500 * time.Millisecond

// idleSample is what the controller did with Stacks in which nothing changed.
type idleSample struct {
	window     time.Duration
	reconciles float64
	cpu        cpuTimes
	// requests to the API server, see requests.
	requests map[string]float64
	// processes of Pulumi, and Stacks that were written.
	processes, rewritten int
}

// restart starts the controller, and waits until it has looked at each Stack. The
// meter has to follow, since it is another process.
func (b *bench) restart(ctx context.Context, s *sides) (idleSample, error) {
	ctx, cancel := context.WithTimeout(ctx, b.timeout)
	defer cancel()
	before, err := s.writings(ctx)
	if err != nil {
		return idleSample{}, err
	}
	b.say("starting the controller")
	began := time.Now()
	if err := s.controller.system.StartController(); err != nil {
		return idleSample{}, err
	}
	if s.meter, err = newMeter(s.controller.system.Controller.PID()); err != nil {
		return idleSample{}, err
	}
	if err := s.awaitLook(ctx); err != nil {
		return idleSample{}, err
	}
	window := time.Since(began)
	b.say("the controller has reconciled every Stack after %s", window.Round(time.Millisecond))
	work, err := s.work(ctx)
	if err != nil {
		return idleSample{}, err
	}
	// The process is new: all that it has used and done was since its start.
	idle := idleSample{window: window, reconciles: work.reconciles, cpu: cpuTimes{controller: work.clocks.controller}}
	return idle, s.addWritings(ctx, &idle, before)
}

// awaitLook waits until the controller has reconciled every Stack, by its metrics.
func (s sides) awaitLook(ctx context.Context) error {
	tick := time.NewTicker(lookInterval)
	defer tick.Stop()
	for {
		text, err := scrape(ctx, http.DefaultClient, s.controller.system.MetricsURL())
		if err != nil {
			return err
		}
		looked, err := lookedAt(text, s.controller.namespace)
		if err != nil {
			return err
		}
		if looked == s.controller.stacks {
			return nil
		}
		select {
		case <-tick.C:
		case <-s.controller.system.Controller.Done():
			return fmt.Errorf("the controller ended: %w", s.controller.system.Controller.Wait())
		case <-ctx.Done():
			return fmt.Errorf("waiting until the controller has looked at all Stacks, it has at %d of %d: %w", looked, s.controller.stacks, ctx.Err())
		}
	}
}

// watchIdle lets the controller be for as long as the options say.
func (b *bench) watchIdle(ctx context.Context, s sides) (idleSample, error) {
	ctx, cancel := context.WithTimeout(ctx, b.timeout+b.idle)
	defer cancel()
	writings, err := s.writings(ctx)
	if err != nil {
		return idleSample{}, err
	}
	before, err := s.work(ctx)
	if err != nil {
		return idleSample{}, err
	}
	began := time.Now()
	timer := time.NewTimer(b.idle)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.controller.system.Controller.Done():
		return idleSample{}, fmt.Errorf("the controller ended: %w", s.controller.system.Controller.Wait())
	case <-ctx.Done():
		return idleSample{}, ctx.Err()
	}
	window := time.Since(began)
	after, err := s.work(ctx)
	if err != nil {
		return idleSample{}, err
	}
	idle := idleSample{window: window, reconciles: after.reconciles - before.reconciles, cpu: after.clocks.since(before.clocks)}
	return idle, s.addWritings(ctx, &idle, writings)
}

// work is what the controller has done so far.
type work struct {
	clocks     reading
	reconciles float64
}

func (s sides) work(ctx context.Context) (work, error) {
	text, err := scrape(ctx, http.DefaultClient, s.controller.system.MetricsURL())
	if err != nil {
		return work{}, err
	}
	var done work
	if done.reconciles, err = reconciles(text); err != nil {
		return work{}, err
	}
	done.clocks, err = s.meter.read()
	return done, err
}

// writings is what a controller with nothing to do leaves as it is. That of an
// earlier moment is compared with, see addWritings.
type writings struct {
	// versions of the Stacks by name.
	versions map[string]string
	// requests that the API server has had.
	requests map[string]float64
}

// writings forgets the processes recorded so far.
func (s sides) writings(ctx context.Context) (now writings, err error) {
	if _, err := s.recorder.take(); err != nil {
		return now, err
	}
	if now.versions, err = s.versions(ctx); err != nil {
		return now, err
	}
	// Last, so that the list of Stacks is not among those of the controller.
	now.requests, err = s.controller.requests(ctx)
	return now, err
}

// addWritings fills in what was written, and run, since the moment before.
func (s sides) addWritings(ctx context.Context, idle *idleSample, before writings) error {
	requests, err := s.controller.requests(ctx)
	if err != nil {
		return err
	}
	idle.requests = grown(before.requests, requests)
	records, err := s.recorder.take()
	if err != nil {
		return err
	}
	idle.processes = len(records)
	versions, err := s.versions(ctx)
	idle.rewritten = differing(before.versions, versions)
	return err
}

// versions returns the resource version of each Stack. One answer with 20,000 Stacks would take
// longer than the API server allows.
func (s sides) versions(ctx context.Context) (map[string]string, error) {
	versions := map[string]string{}
	stacks := metav1.PartialObjectMetadataList{}
	stacks.SetGroupVersionKind(v1.GroupVersion.WithKind("StackList"))
	for {
		if err := s.controller.system.List(ctx, &stacks, client.InNamespace(s.controller.namespace),
			client.Limit(stacksPerPage), client.Continue(stacks.Continue)); err != nil {
			return nil, fmt.Errorf("listing Stacks: %w", err)
		}
		for _, stack := range stacks.Items {
			versions[stack.Name] = stack.ResourceVersion
		}
		if stacks.Continue == "" {
			return versions, nil
		}
	}
}

// stacksPerPage is what client-go asks for at a time by default.
const stacksPerPage = 500

// differing counts what is not the same before and after.
func differing(before, after map[string]string) int {
	n := 0
	for name, version := range after {
		if before[name] != version {
			n++
		}
	}
	return n
}
