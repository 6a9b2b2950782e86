// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/cluster"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/logs"
	"github.com/flux-pulumi/pulumi-controller/internal/plural"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/runlog"
)

// stacks returns the Stacks to show.
func (v *logsView) stacks(ctx context.Context) []v1.Stack {
	if !v.showsRuns() {
		return nil
	}
	stacks := &v1.StackList{}
	if err := v.api.List(ctx, stacks, client.InNamespace(v.filter.Namespace)); err != nil {
		v.warn("Cannot show the logs of runs that the controller kept: %v", cluster.Explain(err))
		return nil
	}
	return slices.DeleteFunc(stacks.Items, func(stack v1.Stack) bool { return v.filter.Name != "" && v.filter.Name != stack.Name })
}

// printKept prints the log that the controller has kept of the last run of each Stack,
// unless the pod of that run is still there. It returns how many it has printed.
func (v *logsView) printKept(ctx context.Context, stacks []v1.Stack, pods []corev1.Pod) (count int) {
	for i := range stacks {
		stack := &stacks[i]
		kept := stack.Status.RunLog
		isThere := func(pod corev1.Pod) bool { return kept != nil && pod.Labels[runLabel] == kept.Run && hasLog(pod) }
		if kept == nil || slices.ContainsFunc(pods, isThere) {
			continue
		}
		if err := v.printKeptOf(ctx, stack); err != nil {
			v.warn("Cannot show the log of the last run of Stack %s/%s: %v", stack.Namespace, stack.Name, err)
			continue
		}
		count++
	}
	return count
}

func (v *logsView) printKeptOf(ctx context.Context, stack *v1.Stack) error {
	kept := stack.Status.RunLog
	if kept.ConfigMap == "" {
		return fmt.Errorf("the controller did not keep it: %s", kept.Message)
	}
	data, err := ownedData(ctx, v.api, stack, kept.ConfigMap, runlog.Key, kept.Digest)
	if err != nil {
		return err
	}
	log, err := runlog.Decode(data)
	if err != nil || log == nil {
		return err
	}
	lines := v.selected(log.Lines)
	if log.LeftOut > 0 && len(lines) == len(log.Lines) {
		v.warn("The log of the last run of Stack %s/%s lacks its first %s, which the controller did not keep", stack.Namespace, stack.Name, plural.Of(log.LeftOut, "line", "lines"))
	}
	return logs.Print(&v.out, stack, lines, v.filter)
}

// selected returns the lines that the options for logs of pods select.
func (v *logsView) selected(lines []run.LogLine) []run.LogLine {
	since := time.Time{}
	if v.options.SinceTime != nil {
		since = v.options.SinceTime.Time
	}
	if v.options.SinceSeconds != nil {
		since = v.Now().Add(-time.Duration(*v.options.SinceSeconds) * time.Second)
	}
	lines = slices.DeleteFunc(slices.Clone(lines), func(line run.LogLine) bool { return line.At.Before(since) })
	if tail := v.options.TailLines; tail != nil {
		lines = lines[max(0, len(lines)-int(min(*tail, int64(len(lines))))):]
	}
	return lines
}
