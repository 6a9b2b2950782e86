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

func (r *runner) Cancel(id string, _ bool) error { r.cancelled = id == r.id; return r.err }
func (r *runner) Forget(id string) error         { r.forgotten = id == r.id; return r.err }

func (r *runner) Progress(id string) run.Progress {
	if id != r.id {
		return run.Progress{}
	}
	return run.Progress{Waiting: id}
}

func (r *runner) UnknownCreates(id string) []string {
	if id != r.id {
		return nil
	}
	return []string{"urn:" + id}
}

func (r *runner) Found(id string) run.Found { return run.Found{Backend: r.Progress(id).Waiting} }

func TestARunIsThatOfTheRunnerThatKnowsIt(t *testing.T) {
	for _, id := range []string{"own", "earlier"} {
		t.Run(id, func(t *testing.T) {
			g := NewWithT(t)
			own, earlier := &runner{id: "own"}, &runner{id: "earlier"}
			r := Runner{own, earlier}
			phase, result := r.Look(run.Ref{ID: id})
			g.Expect(phase).To(Equal(run.Ended))
			g.Expect(result.Message).To(Equal(id))
			g.Expect(r.Progress(id).Waiting).To(Equal(id))
			g.Expect(r.UnknownCreates(id)).To(Equal([]string{"urn:" + id}))
			g.Expect(r.Found(id).Backend).To(Equal(id))
			g.Expect(r.Cancel(id, true)).To(Succeed())
			g.Expect(r.Forget(id)).To(Succeed())
			g.Expect([]bool{own.cancelled, own.forgotten, earlier.cancelled, earlier.forgotten}).To(
				Equal([]bool{id == "own", id == "own", id == "earlier", id == "earlier"}))
		})
	}
	g := NewWithT(t)
	r := Runner{&runner{id: "own"}, &runner{id: "earlier", err: errors.New("away")}}
	phase, _ := r.Look(run.Ref{ID: "other"})
	g.Expect(phase).To(Equal(run.Unknown))
	g.Expect(r.Forget("own")).To(MatchError("away"))
}
