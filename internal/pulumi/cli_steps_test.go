// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/plan"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/tests/cloud"
	"github.com/flux-pulumi/pulumi-controller/tests/process"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// What a refresh finds is reported as what the program would then do to the resource.
func TestThePreviewOfARefreshReportsWhatUndoesTheDrift(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	l := newLab(t).withProvider()
	program := l.thing("value: x", "value: x", "value: x")
	l.given(program)
	l.drift("a", "drifted")
	l.Expect(cloud.Open(l.cloud).Remove(l.idOf("c"))).To(Succeed())
	for _, runProgram := range []bool{false, true} {
		r := l.update(program)
		r.Operation, r.WantsPlan, r.Options.Refresh, r.Options.RunProgram = run.Preview, true, true, runProgram
		result := l.do(t.Context(), r)
		l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
		l.Expect(result.Changes).To(Equal(run.Changes{Created: 1, Updated: 1, Same: 2}))
		l.Expect(result.Plan.Steps).To(ConsistOf(
			And(HaveField("Op", "update"), HaveField("URN", urnOf("a")), HaveField("Properties", ConsistOf(plan.Property{
				Path: "value", Kind: plan.KindUpdate, Change: plan.Change{Old: json.RawMessage(`"drifted"`), New: json.RawMessage(`"x"`)},
			}))),
			And(HaveField("Op", "create"), HaveField("URN", urnOf("c"))),
		))
	}
	l.Expect(l.valueOf("a")).To(Equal("drifted"))
}

// Pulumi ignores that it cannot write its events.
func TestLostEventsAreNoResult(t *testing.T) {
	t.Parallel()
	l := newLab(t).withProvider()
	l.given(l.thing("value: x"))
	l.losesEvents = true
	cli, err := process.FindBin("pulumi")
	l.Expect(err).NotTo(HaveOccurred())
	writeProgram(t, filepath.Join(l.driver.Bin, "pulumi"), fmt.Sprintf(`#!/bin/bash
args=()
for arg; do
	case "$arg" in */events.jsonl) arg=/dev/full ;; esac
	args+=("$arg")
done
exec %s "${args[@]}"
`, cli))
	preview := l.update(l.thing("value: y"))
	preview.Operation, preview.WantsPlan = run.Preview, true
	result := l.do(t.Context(), preview)
	l.Expect(result.Outcome).To(Equal(run.Failed))
	l.Expect(result.Message).To(HavePrefix("Pulumi's events are incomplete"))

	result = l.do(t.Context(), l.update(l.thing("value: y")))
	l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	l.Expect(l.valueOf("a")).To(Equal("y"))
	l.Expect(result.Inventory).To(Equal(&run.Inventory{Missed: true}), "not an empty list")
}
