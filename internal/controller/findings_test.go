// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"testing"

	. "github.com/onsi/gomega"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// foundWorld has a first run in flight, of a source, whose project nobody knows before. It returns what found points to.
func foundWorld(t *testing.T) (w *world, found *run.Found) {
	w, _ = sourceWorld(t)
	w.mustReconcile()
	found = &run.Found{}
	w.runner.found = func(string) run.Found { return *found }
	return w, found
}

// lose has the controller, its disk and its run be gone.
func lose(w *world) {
	w.runner = newTestRunner()
	w.Runner = w.runner
	w.Holder.Instance = "b"
	w.others.gone = true
	w.mustReconcile()
}

// The controller and its disk are lost before the run has ended, and the next revision is of another project.
func TestWhereTheStackIsOutlivesTheRunThatFoundIt(t *testing.T) {
	g := NewWithT(t)
	w, found := foundWorld(t)
	before := w.writes
	w.mustReconcile()
	g.Expect(w.writes).To(Equal(before), "there is nothing to write")

	*found = run.Found{Project: run.Project{Name: "shop", Runtime: "yaml"}, Backend: "file:///state"}
	for range 5 {
		w.mustReconcile()
	}
	g.Expect(w.writes).To(Equal(before+1), "once is enough")
	g.Expect(w.stack().Status.ProjectInfo).To(Equal(&v1.ProjectInfo{Name: "shop", Runtime: "yaml", Backend: "file:///state"}))

	lose(w)
	recovery := w.nextRun()
	g.Expect(recovery.Operation).To(Equal(run.Recover))
	g.Expect(recovery.Project).To(Equal(found.Project))
	g.Expect(recovery.Known).To(Equal(found.Project), "so that a stack that is missing is not taken for one that was never made")
	g.Expect(recovery.KnownBackend).To(Equal("file:///state"))
	g.Expect(recovery.Interrupted[0].Backend).NotTo(BeEmpty())
}

func TestADestroyThatDeletedAllOutlivesItsController(t *testing.T) {
	for name, emptied := range map[string]bool{"deleted all": true, "did not": false} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			w, found := foundWorld(t)
			*found = run.Found{Project: run.Project{Name: "shop", Runtime: "yaml"}, Backend: "file:///state"}
			w.mustReconcile()
			w.endNow(run.Succeeded, func(r *run.Result) { r.Project, r.Backend = found.Project, found.Backend })
			*found = run.Found{}
			w.edit(func(s *v1.Stack) { s.Spec.DestroyOnFinalize = true })
			g.Expect(w.Delete(context.Background(), w.stack())).To(Succeed())
			g.Expect(w.nextRun().Operation).To(Equal(run.Destroy))
			found.Emptied = emptied
			w.mustReconcile()
			g.Expect(w.stack().Status.Run.Emptied).To(Equal(emptied))
			g.Expect(w.runner.noted).To(HaveLen(map[bool]int{true: 1}[emptied]), "the run waits for that")

			lose(w)
			recovery := w.nextRun()
			g.Expect(recovery.Operation).To(Equal(run.Recover))
			g.Expect(recovery.Interrupted).To(ConsistOf(HaveField("Emptied", emptied)))
			w.endNow(run.Succeeded, func(r *run.Result) { r.Emptied = emptied })
			destroy := w.nextRun()
			g.Expect(destroy.Operation).To(Equal(run.Destroy))
			g.Expect(destroy.Known.Name == "").To(Equal(emptied), "only then need it not be there")
		})
	}
}

// Why the next run waits is that which failed, not a guess.
func TestARecoveryDoesNotHideHowTheRunHadFailed(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, programAndStack()...)
	for range 2 {
		g.Expect(w.nextRun().Operation).To(Equal(run.Update))
		w.endNow(run.Failed, func(r *run.Result) { r.Message, r.Interrupted = "the disk of the backend is read-only", true })
		g.Expect(w.nextRun().Operation).To(Equal(run.Recover))
		w.endNow(run.Succeeded, nil)
	}
	w.mustReconcile()
	g.Expect(w.stack().Status.Conditions).To(ContainElement(And(HaveField("Type", "Ready"), HaveField("Message",
		"Recovered from an interrupted run. The next run waits, because 2 runs in a row failed or were interrupted: the disk of the backend is read-only"))))
}
