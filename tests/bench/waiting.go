// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

// waitingSample is what the controller did while plans waited for an approval.
type waitingSample struct {
	stacks   int
	interval time.Duration
	idle     idleSample
}

// waiting measures with Stacks whose first plan waits. Each of them makes its plan again at each
// interval, and nothing between.
func (b *bench) waiting(ctx context.Context, cli string, stacks int) (waitingSample, error) {
	recorder, err := newRecorder(filepath.Join(b.dir, "recorder-waiting"), cli)
	if err != nil {
		return waitingSample{}, err
	}
	taken := waitingSample{stacks: stacks, interval: b.waitingInterval}
	err = b.with(ctx, "waiting", recorder.dir, func(s sides) error {
		s.recorder = recorder
		s.controller.interval = &metav1.Duration{Duration: b.waitingInterval}
		s.controller.approval = &v1.Approval{Require: v1.ApprovalAlways}
		if err := b.propose(ctx, s, stacks); err != nil {
			return fmt.Errorf("having %d plans that wait: %w", stacks, err)
		}
		b.say("watching the controller for %s while %d plans wait", b.idle, stacks)
		taken.idle, err = b.watchIdle(ctx, s)
		return err
	})
	return taken, err
}

// propose makes the Stacks, and waits until each has a plan that waits.
func (b *bench) propose(ctx context.Context, s sides, stacks int) error {
	ctx, cancel := context.WithTimeout(ctx, b.timeout)
	defer cancel()
	if err := s.controller.prepare(ctx, "waiting", stacks); err != nil {
		return err
	}
	_, err := s.controller.changeAndAwait(ctx, awaitsApproval, func() error { return s.controller.createAll(ctx) })
	return err
}

func awaitsApproval(stack *v1.Stack) bool {
	ready := apimeta.FindStatusCondition(stack.Status.Conditions, meta.ReadyCondition)
	return ready != nil && ready.Reason == v1.ApprovalRequiredReason
}

// writeWaiting writes the table of the plans that wait.
func writeWaiting(out *strings.Builder, s waitingSample) {
	fmt.Fprintf(out, "\n### %s Stacks whose plan waits\n\n", thousands(s.stacks))
	each := func(value float64) string { return fmt.Sprintf("%.2f", value/float64(s.stacks)) }
	writeTable(out, []string{"", "all", "each Stack"}, [][]string{
		{"interval of the Stacks", s.interval.String(), ""},
		{"watched for", s.idle.window.Round(time.Second).String(), ""},
		{"processes of Pulumi", fmt.Sprint(s.idle.processes), each(float64(s.idle.processes))},
		{"Stacks whose resourceVersion changed", fmt.Sprint(s.idle.rewritten), ""},
		{"writes to the API server", fmt.Sprintf("%.0f", writes(s.idle.requests)), each(writes(s.idle.requests))},
		{"CPU time of the controller", seconds(s.idle.cpu.controller.Seconds()), each(s.idle.cpu.controller.Seconds()) + " s"},
		{"CPU time of Pulumi", seconds(s.idle.cpu.pulumi.Seconds()), each(s.idle.cpu.pulumi.Seconds()) + " s"},
		{"CPU time of kube-apiserver and etcd", seconds(s.idle.cpu.controlPlane.Seconds()), each(s.idle.cpu.controlPlane.Seconds()) + " s"},
		{"CPU time of anything else on the machine", seconds(s.idle.cpu.other.Seconds()), ""},
	})
}
