// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package handover

import (
	"errors"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// runner knows one run.
type runner struct {
	run.Runner
	id        string
	cancelled bool
	forgotten bool
	err       error
}

func (r *runner) Look(of run.Ref) (run.Phase, *run.Result) {
	if of.ID != r.id {
		return run.Unknown, nil
	}
	return run.Ended, &run.Result{Message: r.id}
}

func (r *runner) Cancel(of run.Ref, _ bool) error { r.cancelled = of.ID == r.id; return r.err }
func (r *runner) Forget(of run.Ref) error         { r.forgotten = of.ID == r.id; return r.err }

func (r *runner) Report(of run.Ref) run.Report {
	if of.ID != r.id {
		return run.Report{}
	}
	return run.Report{UnknownCreates: []string{"urn:" + of.ID}}
}

func TestARunBelongsToTheRunnerThatKnowsIt(t *testing.T) {
	for _, id := range []string{"own", "earlier"} {
		t.Run(id, func(t *testing.T) {
			g := NewWithT(t)
			own, earlier := &runner{id: "own"}, &runner{id: "earlier"}
			r := Runner{own, earlier}
			of := run.Ref{ID: id}
			phase, result := r.Look(of)
			g.Expect(phase).To(Equal(run.Ended))
			g.Expect(result.Message).To(Equal(id))
			g.Expect(r.Report(of).UnknownCreates).To(Equal([]string{"urn:" + id}))
			g.Expect(r.Cancel(of, true)).To(Succeed())
			g.Expect(r.Forget(of)).To(Succeed())
			g.Expect([]bool{own.cancelled, own.forgotten, earlier.cancelled, earlier.forgotten}).To(
				Equal([]bool{id == "own", id == "own", id == "earlier", id == "earlier"}))
		})
	}
	g := NewWithT(t)
	r := Runner{&runner{id: "own"}, &runner{id: "earlier", err: errors.New("away")}}
	phase, _ := r.Look(run.Ref{ID: "other"})
	g.Expect(phase).To(Equal(run.Unknown))
	g.Expect(r.Forget(run.Ref{ID: "own"})).To(MatchError("away"))
}
