// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

// idleInterval is far shorter than anyone would set it, so that a minute has
// many reconciles.
const idleInterval = 2 * time.Second

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

// watchIdle looks at the Stacks of the last round every few seconds, for as long
// as the options say.
func (b *bench) watchIdle(ctx context.Context, s sides) (idleSample, error) {
	ctx, cancel := context.WithTimeout(ctx, b.timeout+b.idle)
	defer cancel()
	if _, err := s.controller.changeAndAwait(ctx, settled, func() error { return s.controller.setInterval(ctx, idleInterval) }); err != nil {
		return idleSample{}, err
	}
	if _, err := s.recorder.take(); err != nil {
		return idleSample{}, err
	}
	versions, err := s.versions(ctx)
	if err != nil {
		return idleSample{}, err
	}
	before, err := s.look(ctx)
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
	after, err := s.look(ctx)
	if err != nil {
		return idleSample{}, err
	}
	idle := after.since(before)
	idle.window = window
	records, err := s.recorder.take()
	if err != nil {
		return idleSample{}, err
	}
	idle.processes = len(records)
	now, err := s.versions(ctx)
	idle.rewritten = differing(versions, now)
	return idle, err
}

// setInterval sets the interval of every Stack, which is a new generation of it
// that needs no run.
func (s *controllerSide) setInterval(ctx context.Context, interval time.Duration) error {
	for n := range s.stacks {
		stack := s.stack(n)
		before := stack.DeepCopy()
		stack.Spec.Interval = &metav1.Duration{Duration: interval}
		if err := s.system.Patch(ctx, stack, client.MergeFrom(before)); err != nil {
			return fmt.Errorf("setting the interval of Stack %s: %w", stack.Name, err)
		}
	}
	return nil
}

// idleLook is all that is compared before and after.
type idleLook struct {
	clocks     reading
	reconciles float64
	requests   map[string]float64
}

func (after idleLook) since(before idleLook) idleSample {
	return idleSample{
		reconciles: after.reconciles - before.reconciles,
		cpu:        after.clocks.since(before.clocks),
		requests:   grown(before.requests, after.requests),
	}
}

// versions tells which version each Stack is at.
func (s sides) versions(ctx context.Context) (map[string]string, error) {
	var stacks v1.StackList
	if err := s.controller.system.List(ctx, &stacks, client.InNamespace(s.controller.namespace)); err != nil {
		return nil, fmt.Errorf("listing Stacks: %w", err)
	}
	versions := map[string]string{}
	for _, stack := range stacks.Items {
		versions[stack.Name] = stack.ResourceVersion
	}
	return versions, nil
}

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

// look reads the metrics of the controller and of the API server, and the
// clocks. It asks the API server for nothing that is counted.
func (s sides) look(ctx context.Context) (idleLook, error) {
	var look idleLook
	own, err := scrape(ctx, http.DefaultClient, s.controller.system.MetricsURL())
	if err != nil {
		return look, err
	}
	if look.reconciles, err = reconciles(own); err != nil {
		return look, err
	}
	if look.requests, err = s.controller.requests(ctx); err != nil {
		return look, err
	}
	look.clocks, err = s.meter.read()
	return look, err
}

// requests counts what the API server was asked, see the function of this name.
func (s *controllerSide) requests(ctx context.Context) (map[string]float64, error) {
	config := s.system.ControlPlane.RESTConfig()
	api, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("making a client of the API server: %w", err)
	}
	text, err := scrape(ctx, api, config.Host+"/metrics")
	if err != nil {
		return nil, err
	}
	return requests(text)
}

// maxMetrics bounds what is read: the API server has about 2 MB of metrics.
const maxMetrics = 64 << 20

func scrape(ctx context.Context, client *http.Client, url string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, fmt.Errorf("reading metrics: %w", err)
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("reading metrics: %w", err)
	}
	defer func() { _ = response.Body.Close() }() // it is only read
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("reading metrics: %s answered %s", url, response.Status)
	}
	text, err := io.ReadAll(io.LimitReader(response.Body, maxMetrics))
	if err != nil {
		return nil, fmt.Errorf("reading metrics: %w", err)
	}
	return text, nil
}
