// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/cluster"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/logs"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/ui/view"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

const (
	// maxFollowedLines bounds how much of a log is read that was there before the page.
	maxFollowedLines = 20_000
	// followAgain is how long it takes until a log is looked for again that is not there, or has ended.
	followAgain = 2 * time.Second
)

// followedRuns are the runs in flight that are on the screen. However many views show a run, its log is followed once.
type followedRuns struct {
	mu   sync.Mutex
	runs map[string]*followedRun
}

// followedRun is what the log of a run has said so far.
type followedRun struct {
	steps  *view.Steps
	unread string
	shown  map[*func()]struct{}
	stop   context.CancelFunc
}

// Follow implements ui.Commands.
func (p *pageCommands) Follow(ctx context.Context, stack *v1.Stack, changed func()) {
	id, f := stack.Status.Run.ID, &p.followed
	f.mu.Lock()
	of := f.runs[id]
	if of == nil {
		reading, stop := context.WithCancel(context.WithoutCancel(ctx)) // for all that show the run
		of = &followedRun{steps: &view.Steps{}, shown: map[*func()]struct{}{}, stop: stop}
		if f.runs == nil {
			f.runs = map[string]*followedRun{}
		}
		f.runs[id] = of
		go p.readRun(reading, stack.DeepCopy(), of)
	}
	of.shown[&changed] = struct{}{}
	f.mu.Unlock()

	<-ctx.Done()
	f.mu.Lock()
	defer f.mu.Unlock()
	if delete(of.shown, &changed); len(of.shown) == 0 {
		of.stop()
		delete(f.runs, id)
	}
}

// Progress implements ui.Commands.
func (p *pageCommands) Progress(stack *v1.Stack) any {
	if of := p.progress(stack); of != nil {
		return of
	}
	return nil
}

// progress returns what the run in flight has done, nil if it is not followed.
func (p *pageCommands) progress(stack *v1.Stack) *view.Progress {
	if stack.Status.Run == nil {
		return nil
	}
	id, f := stack.Status.Run.ID, &p.followed
	f.mu.Lock()
	defer f.mu.Unlock()
	of := f.runs[id]
	if of == nil {
		return nil
	}
	return new(view.ProgressOf(id, of.steps, of.unread))
}

// readRun follows the log of a run until ctx ends. Its pod may not be there yet, and its node or the API server be away.
func (p *pageCommands) readRun(ctx context.Context, stack *v1.Stack, of *followedRun) {
	for {
		steps := &view.Steps{}
		err := p.copyRun(ctx, stack, func(line run.LogLine) {
			p.followed.mu.Lock()
			defer p.followed.mu.Unlock()
			if steps.Add(line) {
				of.steps = steps
				of.say("")
			}
		})
		if ctx.Err() != nil {
			return
		}
		p.followed.mu.Lock()
		if err == nil {
			of.say("")
		} else {
			of.say(fmt.Sprintf("The steps of the run cannot be read: %v", cluster.Explain(err)))
		}
		p.followed.mu.Unlock()
		select {
		case <-ctx.Done():
			return
		case <-time.After(followAgain):
		}
	}
}

// say notes why the steps cannot be read, and that there is more to show. The lock is held.
func (f *followedRun) say(unread string) {
	f.unread = unread
	for changed := range f.shown {
		(*changed)()
	}
}

// copyRun passes on the lines of the run in flight until its log ends.
func (p *pageCommands) copyRun(ctx context.Context, stack *v1.Stack, add func(run.LogLine)) error {
	config, err := cluster.Config(p.session.flags)
	if err != nil {
		return err
	}
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("making a client of the cluster: %w", err)
	}
	record := stack.Status.Run
	lines := int64(maxFollowedLines)
	options := corev1.PodLogOptions{Follow: true, TailLines: &lines, SinceTime: &record.StartedAt, Container: controllerBox}
	pods, err := p.podsOfRun(ctx, stack)
	if record.Job != "" {
		options.Container = runContainer
	}
	if err != nil {
		return err
	}
	failures := make([]error, len(pods))
	var group sync.WaitGroup
	for i, pod := range pods {
		group.Go(func() {
			stream, err := clients.CoreV1().Pods(pod.Namespace).GetLogs(pod.Name, &options).Stream(ctx)
			if err != nil {
				failures[i] = err
				return
			}
			failures[i] = errors.Join(logs.OfRun(stream, record.ID, add), stream.Close())
		})
	}
	group.Wait()
	return errors.Join(failures...)
}

// podsOfRun returns the pods that may have the log of the run in flight: its own if it is a Job, else that of the controller
// that holds it, or all of the controller's if none has its name.
func (p *pageCommands) podsOfRun(ctx context.Context, stack *v1.Stack) ([]corev1.Pod, error) {
	record := stack.Status.Run
	if record.Job != "" {
		pods := &corev1.PodList{}
		if err := p.api.List(ctx, pods, client.InNamespace(stack.Namespace), client.MatchingLabels{runLabel: record.ID}); err != nil {
			return nil, fmt.Errorf("listing the pods of the run: %w", err)
		}
		return slices.DeleteFunc(pods.Items, func(pod corev1.Pod) bool { return !hasLog(pod) }), nil
	}
	pods, err := controllerPods(ctx, p.api, p.fluxNamespace)
	if err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(pods, func(pod corev1.Pod) bool { return pod.Name == record.Holder.Host }); i >= 0 {
		return pods[i : i+1], nil
	}
	return pods, nil
}
