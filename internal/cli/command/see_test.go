// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

func TestEvents(t *testing.T) {
	w := newWorld(t, "events")
	w.apply("reconcile")
	w.apply("events")
	w.golden("events",
		"events",
		"events --for Stack/network",
		"events --for stack",
		"events --for Program/cluster",
		"events --types warning",
		"events -A --types Normal",
		"events --for Stack/absent",
		"events --for Kustomization/apps",
		"events --for /a",
		"events --types Fatal",
		"events -n default",
	)
}

func TestTrace(t *testing.T) {
	w := newWorld(t, "trace")
	w.apply("trace")
	w.golden("trace",
		"trace stack network",
		"trace stack words",
		"trace stack helm",
		"trace stack absent",
		"trace stack",
	)
}

func TestExport(t *testing.T) {
	w := newWorld(t, "export")
	w.apply("fleet")
	w.golden("export",
		"export stack network",
		"export program --all",
		"export all",
		"export stack",
		"export stack absent",
		"export all -n default",
	)
}

func TestWatchesEndWithAnInterrupt(t *testing.T) {
	w := newWorld(t, "watch")
	w.apply("reconcile")
	w.apply("events")
	for line, last := range map[string]string{
		"get stacks --watch --timeout 1ms": "suspended",
		"events --watch --timeout 1ms":     "no such bucket",
	} {
		g := NewWithT(t)
		ctx, stop := context.WithCancel(t.Context())
		out := &stopWriter{text: last, stop: stop}
		env := w.env
		env.Out, env.Err = out, out
		exit := Run(ctx, env, append(strings.Fields(line), "--kubeconfig", w.kubeconfig, "-n", w.namespace))
		g.Expect(exit).To(Equal(0), out.String())
		g.Expect(strings.Count(out.String(), "MESSAGE")).To(Equal(1), out.String())
	}
}

func TestCompletionOfNoShell(t *testing.T) {
	w := newWorld(t, "completion")
	w.golden("completion_refuses", "completion nosuch", "completion bsh")
}

func TestCompletion(t *testing.T) {
	w := newWorld(t, "completion")
	w.apply("reconcile")
	for _, tc := range []struct {
		words string
		want  []string
	}{
		{"get stacks ", []string{"cluster", "external", "network", "suspended"}},
		{"get stacks n", []string{"network"}},
		{"get stacks network ", nil},
		{"suspend stack network ", []string{"cluster", "external", "suspended"}},
		{"reconcile program ", []string{"cluster"}},
		{"get stacks absent", nil},
		{"trace stack net", []string{"network"}},
		{"create stack a --program ", []string{"cluster"}},
		{"get stacks --namespace completi", []string{"completion"}},
		{"get stacks -o ", []string{"json", "yaml", "wide"}},
		{"diff stack network -o ", []string{"json", "yaml", "markdown"}},
		{"tree stack network -o ", []string{"json", "yaml"}},
		{"outputs stack network --output ", []string{"json", "yaml"}},
		{"history stack network -o ", []string{"json", "yaml", "markdown"}},
		{"events --for Stack/n", []string{"Stack/network"}},
		{"events --types ", []string{"Normal", "Warning"}},
		{"logs --level ", []string{"debug", "info", "error"}},
		{"debug stack network --runner ", []string{"local", "job"}},
		{"get stacks --context ", []string{"test"}},
		{"logs net", []string{"network"}},
	} {
		t.Run(tc.words, func(t *testing.T) {
			g := NewWithT(t)
			var out, errs strings.Builder
			env := w.env
			env.Out, env.Err = &out, &errs
			args := append([]string{"__complete", "--kubeconfig", w.kubeconfig, "--namespace", w.namespace}, strings.Split(tc.words, " ")...)
			g.Expect(Run(t.Context(), env, args)).To(Equal(0))
			lines := strings.Split(strings.TrimSpace(out.String()), "\n")
			g.Expect(lines[len(lines)-1]).To(Equal(":4"), "no files are completed: %s", errs.String())
			g.Expect(lines[:len(lines)-1]).To(ConsistOf(tc.want))
		})
	}
}
