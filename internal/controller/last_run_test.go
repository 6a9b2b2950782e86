// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// Only status.lastUpdate has the last run of an earlier controller. It is not written for that alone:
// TestObjectsOfAnEarlierControllerAreTakenOver.
func TestTheLastRunOfAnEarlierControllerIsKeptWithTheNextWrite(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "earlier", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatal("no recorded objects", err)
	}
	written := 0
	for _, file := range files {
		g := NewWithT(t)
		w := newWorld(t, readRecorded(t, file).objects...)
		w.Holder.Instance = "c"
		before := w.stack().Status
		w.mustReconcile()
		if w.writes == 0 || len(before.History) == 0 {
			continue
		}
		written++
		after := w.stack().Status
		g.Expect(after.LastUpdate).To(Equal(before.LastUpdate), file)
		g.Expect(after.LastRun).NotTo(BeNil(), file)
		g.Expect(after.LastRun.ID).To(Equal(before.LastUpdate.Name), file)
		g.Expect(after.LastRun.State).To(Equal(before.LastUpdate.State), file)
		g.Expect(after.LastRun.EndedAt.Time).To(BeTemporally("==", before.LastUpdate.LastResyncTime.Time), file)
	}
	NewWithT(t).Expect(written).To(BeNumerically(">", 2))
}

// The CRD may be of an earlier version than the controller, or of none that knows the field.
func TestAStackRunsAsUsualIfTheLastRunIsNotKept(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, programAndStack()...)
	d := dropFields(w, "lastRun")
	w.mustReconcile()
	w.runner.end(w.stack().Status.Run.ID, run.Failed, "no such bucket")
	w.mustReconcile()
	stack := w.stack()
	g.Expect(stack.Status.LastRun).To(BeNil())
	g.Expect(stack.Status.LastUpdate).To(HaveField("State", v1.UpdateFailed))
	writes := d.writes
	g.Expect(w.mustReconcile().RequeueAfter).To(BeNumerically(">", time.Second), "it waits for its retry")
	g.Expect(w.stack().Status.Run).To(BeNil(), "nothing has started")
	g.Expect(d.writes).To(Equal(writes))
}
