// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/flux-pulumi/pulumi-controller/internal/cli/cluster"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/logs"
)

// logsView prints the logs of pods, and those that the controller has kept.
type logsView struct {
	*session
	api     client.WithWatch
	pods    kubernetes.Interface
	options corev1.PodLogOptions
	filter  logs.Filter
	out     lockedWriter
	warning sync.Mutex
}

func newLogsView(s *session, api client.WithWatch, options corev1.PodLogOptions, filter logs.Filter) (*logsView, error) {
	config, err := cluster.Config(s.flags)
	if err != nil {
		return nil, err
	}
	pods, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making a client of the cluster: %w", err)
	}
	return &logsView{session: s, api: api, pods: pods, options: options, filter: filter, out: lockedWriter{out: s.Out}}, nil
}

// print prints all logs that there are and that the user may read. Whoever has Stacks in a
// namespace often has no rights in that of the controller, and a run as a Job continues
// without a controller.
func (v *logsView) print(ctx context.Context, fluxNamespace string) error {
	controllers, err := controllerPods(ctx, v.api, fluxNamespace)
	if err != nil && !((apierrors.IsForbidden(err) || errors.Is(err, errNoController)) && v.showsRuns()) {
		return err
	}
	lacking := err
	runs, err := v.runPods(ctx)
	stacks := v.stacks(ctx)
	found := v.printKept(ctx, stacks, runs) + len(runs)
	if err != nil {
		v.warn("Cannot show the logs of runs as Jobs: %v", err)
	} else {
		v.warnOfNoLog(runs)
		found += v.warnOfNoPod(stacks, runs)
	}
	switch {
	case lacking == nil:
	case found > 0, v.options.Follow && apierrors.IsForbidden(lacking):
		v.warn("Cannot show the log of the controller: %v", lacking)
	case apierrors.IsForbidden(lacking):
		return fmt.Errorf("no run as a Job has a log here, and the log of the controller cannot be read: %w", lacking)
	default:
		return lacking
	}
	if v.options.Follow {
		return v.followAll(ctx, controllers)
	}
	var failures []error
	for _, pod := range controllers {
		failures = append(failures, v.forbiddenIsNoFailure(v.copy(ctx, pod, controllerBox)))
	}
	for _, pod := range runs {
		if hasLog(pod) {
			failures = append(failures, v.copy(ctx, pod, runContainer))
		}
	}
	return errors.Join(failures...)
}

// followAll prints the logs of the controller and of each run that there is or will be,
// concurrently.
func (v *logsView) followAll(ctx context.Context, controllers []corev1.Pod) error {
	var group sync.WaitGroup
	var mu sync.Mutex
	var failures []error
	begin := func(copy func() error) {
		group.Go(func() {
			if err := copy(); err != nil {
				mu.Lock()
				defer mu.Unlock()
				failures = append(failures, err)
			}
		})
	}
	for _, pod := range controllers {
		begin(func() error { return v.forbiddenIsNoFailure(v.copy(ctx, pod, controllerBox)) })
	}
	if v.showsRuns() {
		begin(func() error { return v.followRuns(ctx, begin) })
	}
	group.Wait()
	return errors.Join(failures...)
}

// followRuns prints the log of each pod of a run once it has one. Those of runs that ended
// before are as interesting as those of the controller.
func (v *logsView) followRuns(ctx context.Context, begin func(func() error)) error {
	started := map[string]bool{}
	tell := func(change watch.EventType, object client.Object) error {
		pod, ok := object.(*corev1.Pod)
		if !ok || change == watch.Deleted || started[string(pod.UID)] || !v.isOfStack(pod) || !hasLog(*pod) {
			return nil
		}
		started[string(pod.UID)] = true
		found := *pod.DeepCopy()
		begin(func() error {
			if err := v.copy(ctx, found, runContainer); err != nil {
				v.warn("%v", err) // its node may be gone, and the other logs continue
			}
			return nil
		})
		return nil
	}
	lost := func(err error) { v.warn("The watch of the pods of runs was interrupted: %v", err) }
	err := cluster.Follow(ctx, v.api, &corev1.PodList{}, cluster.Follower{Tell: tell, Lost: lost, Pause: v.PollInterval},
		client.InNamespace(v.filter.Namespace), client.HasLabels{runLabel})
	if apierrors.IsForbidden(err) {
		return nil // print has said so
	}
	return err
}

// copy prints the log of a container.
func (v *logsView) copy(ctx context.Context, pod corev1.Pod, container string) error {
	options := v.options
	options.Container = container
	stream, err := v.pods.CoreV1().Pods(pod.Namespace).GetLogs(pod.Name, &options).Stream(ctx)
	if err == nil {
		err = errors.Join(logs.Copy(&v.out, stream, v.filter), stream.Close())
	}
	switch {
	case err == nil, errors.Is(ctx.Err(), context.Canceled), ctx.Err() != nil && options.Follow:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("timed out while reading the log of pod %s: raise --timeout to see the rest", pod.Name)
	}
	return fmt.Errorf("getting the log of pod %s: %w", pod.Name, err)
}

// forbiddenIsNoFailure turns the error of a log of the controller that this user may not
// read into a warning, if there may be other logs to show.
func (v *logsView) forbiddenIsNoFailure(err error) error {
	if !apierrors.IsForbidden(err) || !v.showsRuns() {
		return err
	}
	v.warn("Cannot show the log of the controller: %v", err)
	return nil
}

// warn is for concurrent logs too.
func (v *logsView) warn(format string, args ...any) {
	v.warning.Lock()
	defer v.warning.Unlock()
	v.Warningf(format, args...)
}

// showsRuns reports whether lines about Stacks are wanted.
func (v *logsView) showsRuns() bool {
	return len(v.filter.Kinds) == 0 || slices.ContainsFunc(v.filter.Kinds, func(kind string) bool { return strings.EqualFold(kind, cluster.Stack().Kind) })
}

// lockedWriter keeps lines of concurrent logs from mixing.
type lockedWriter struct {
	mu  sync.Mutex
	out io.Writer
}

func (w *lockedWriter) Write(text []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.out.Write(text)
}
