// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/stackstatus"
)

// dropping is an API server whose CRD lacks fields of the status.
type dropping struct {
	fields []string
	// dry is the answer to a dry run, and writes counts all others.
	dry    error
	writes int
}

// dropFields makes the API server drop fields of the status, until they are taken off the list.
func dropFields(w *world, fields ...string) *dropping {
	d := &dropping{fields: fields}
	w.Client = interceptor.NewClient(w.Client.(client.WithWatch), interceptor.Funcs{
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
			if isDryRun(opts) && d.dry != nil {
				return d.dry
			}
			if !isDryRun(opts) {
				d.writes++
			}
			text, err := p.Data(o)
			if err != nil {
				return err
			}
			var patch map[string]any
			if err := json.Unmarshal(text, &patch); err != nil {
				return err
			}
			for _, field := range d.fields {
				delete(patch["status"].(map[string]any), field)
			}
			if text, err = json.Marshal(patch); err != nil {
				return err
			}
			if isDryRun(opts) {
				return json.Unmarshal(text, o) // this API server answers a dry run with what it was sent
			}
			return c.SubResource(sub).Patch(ctx, o, client.RawPatch(p.Type(), text), opts...)
		},
	})
	return d
}

func isDryRun(opts []client.SubResourcePatchOption) bool {
	return slices.ContainsFunc(opts, func(o client.SubResourcePatchOption) bool { return o == client.DryRunAll })
}

// operatorLacks are fields of the status that the CRD of the Pulumi operator does not have.
var operatorLacks = []string{"run", "interrupted", "unknownCreates", "lastAttemptedDigest", "lastAppliedDigest", "lastRun", "history", "lastAttemptedRevision", "lastHandledReconcileAt", "runPending", "gitRepository"}

// expectNotKept expects that nothing runs, and that the Stack and one event say why.
func (w *world) expectNotKept(g Gomega, field string) {
	stack := w.stack()
	g.Expect(w.runner.started).To(Equal(0))
	g.Expect(w.runner.slots).To(Equal(0), "it is given back")
	g.Expect(conditions.IsFalse(stack, meta.ReadyCondition)).To(BeTrue())
	g.Expect(conditions.GetReason(stack, meta.ReadyCondition)).To(Equal(v1.StatusNotKeptReason))
	g.Expect(conditions.GetReason(stack, meta.ReconcilingCondition)).To(Equal(meta.ProgressingWithRetryReason))
	message := conditions.GetMessage(stack, meta.ReadyCondition)
	g.Expect(message).To(And(ContainSubstring("drops status."+field+", because"), ContainSubstring("kubectl apply --server-side --force-conflicts -k config/crd")))
	g.Expect(w.events.lines).To(ConsistOf("Warning StatusNotKept " + message))
}

func TestARunWhoseRecordIsDroppedDoesNotStart(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, programAndStack()...)
	d := dropFields(w, operatorLacks...)
	g.Expect(w.mustReconcile().RequeueAfter).To(Equal(10 * time.Second))
	w.expectNotKept(g, "run")

	before, writes := w.stack(), d.writes
	w.edit(func(s *v1.Stack) { s.Annotations = map[string]string{meta.ReconcileRequestAnnotation: "now"} })
	g.Expect(w.mustReconcile().RequeueAfter).To(And(BeNumerically(">=", 10*time.Second), BeNumerically("<=", before.GetRetryInterval())))
	w.expectNotKept(g, "run")
	g.Expect(w.stack().Status).To(Equal(before.Status))
	g.Expect(d.writes).To(Equal(writes), "only a dry run")

	d.fields = nil
	w.mustReconcile()
	g.Expect(w.runner.started).To(Equal(1))
	g.Expect(conditions.GetReason(w.stack(), meta.ReadyCondition)).To(Equal(meta.ProgressingReason))
	g.Expect(w.stack().Status.LastHandledReconcileAt).To(Equal("now"))
}

func TestARecordThatIsDroppedIsLookedAtWithABackoff(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, programAndStack()...)
	dropFields(w, operatorLacks...)
	now := time.Now()
	w.Now = func() time.Time { return now }
	w.mustReconcile()
	limit := w.stack().GetRetryInterval()
	for range 20 {
		after := w.mustReconcile().RequeueAfter
		g.Expect(after).To(And(BeNumerically(">=", 10*time.Second), BeNumerically("<=", limit)))
		now = now.Add(after)
	}
	g.Expect(w.mustReconcile().RequeueAfter).To(Equal(limit))
	w.expectNotKept(g, "run")
}

// A webhook that does not take dry runs must not keep the Stack from running ever again.
func TestARecordIsWrittenIfNoDryRunIsPossible(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, programAndStack()...)
	d := dropFields(w, operatorLacks...)
	d.dry = apierrors.NewBadRequest("admission webhook \"a\" does not support dry run")
	for range 3 {
		w.mustReconcile()
		w.expectNotKept(g, "run")
	}
	d.fields = nil
	w.mustReconcile()
	g.Expect(w.runner.started).To(Equal(1))
}

func TestADestroyWhoseRecordIsDroppedDoesNotStart(t *testing.T) {
	g := NewWithT(t)
	objects := programAndStack()
	objects[1].SetFinalizers([]string{v1.StackFinalizer})
	w := newWorld(t, objects...)
	d := dropFields(w, operatorLacks...)
	g.Expect(w.Delete(t.Context(), w.stack())).To(Succeed())
	for range 3 {
		g.Expect(w.mustReconcile().RequeueAfter).To(BeNumerically(">=", 10*time.Second))
		w.expectNotKept(g, "run")
	}
	d.fields = nil
	g.Expect(w.nextRun().Operation).To(Equal(run.Destroy))
}

func TestAPreviewOnRequestWhoseRecordIsDroppedDoesNotStart(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, programAndStack()...)
	w.mustReconcile()
	w.runner.end(w.stack().Status.Run.ID, run.Succeeded, "")
	w.mustReconcile()
	w.runner.started, w.events.lines = 0, nil
	dropFields(w, append([]string{"preview"}, operatorLacks...)...)
	w.edit(func(s *v1.Stack) { s.Annotations = map[string]string{v1.PreviewRequestAnnotation: "now"} })
	for range 3 {
		g.Expect(w.mustReconcile().RequeueAfter).To(BeNumerically(">=", 10*time.Second))
		w.expectNotKept(g, "run")
	}
}

// recordDropped is a world whose Stack has lost the record of a run that left a creation of
// unknown outcome.
func recordDropped(t *testing.T) (w *world, id string) {
	w = newWorld(t, programAndStack()...)
	w.mustReconcile()
	stack := w.stack()
	id = stack.Status.Run.ID
	stack.Status.Run = nil
	NewWithT(t).Expect(w.Status().Update(t.Context(), stack)).To(Succeed())
	w.runner.end(id, run.Failed, "the provider died")
	w.runner.results[id].UnknownCreates, w.runner.results[id].Backend = []string{lostURN}, "file:///state"
	w.runner.started, w.runner.slots, w.events.lines = 0, 0, nil
	return w, id
}

func TestTheResultOfARunWhoseRecordIsDroppedIsKept(t *testing.T) {
	g := NewWithT(t)
	w, id := recordDropped(t)
	d := dropFields(w, operatorLacks...)
	for range 3 {
		g.Expect(w.mustReconcile().RequeueAfter).To(BeNumerically(">=", 10*time.Second))
		g.Expect(w.runner.results).To(HaveKey(id))
		named := slices.DeleteFunc(slices.Clone(w.events.lines), func(line string) bool { return !strings.Contains(line, lostURN) })
		g.Expect(named).To(HaveLen(1), "while this process lives")
		w.events.lines = slices.DeleteFunc(w.events.lines, func(line string) bool { return strings.Contains(line, lostURN) })
		w.expectNotKept(g, "unknownCreates")
		w.events.lines = append(w.events.lines, named...)
	}
	d.fields = nil
	w.mustReconcile()
	g.Expect(w.runner.results).To(BeEmpty())
	g.Expect(w.stack().Status.UnknownCreates).To(ConsistOf(lostURN))
	g.Expect(conditions.GetReason(w.stack(), meta.ReadyCondition)).To(Equal(v1.PendingOperationsReason))
	g.Expect(w.runner.started).To(Equal(0), "nothing is made a second time")
}

func TestARunWhoseRecordIsDroppedIsNotSaidToHaveLostItsStack(t *testing.T) {
	g := NewWithT(t)
	w, id := recordDropped(t)
	stack := w.stack()
	left := stackstatus.AbandonedRun{ID: id, Result: w.runner.results[id]}
	stack.CreationTimestamp.Time = started
	g.Expect(stackstatus.AbandonedEvent(stack, left).Message).To(HavePrefix("Run " + id + " ended, but the status of its Stack no longer had its record"))
	stack.CreationTimestamp.Time = started.Add(time.Second)
	g.Expect(stackstatus.AbandonedEvent(stack, left).Message).To(HavePrefix("Run "+id+" ended after its Stack was removed by force"), "this one was made later")
}

// What the CRD of the operator leaves of the status of a Stack from git looks like that of the operator, which would have it
// taken over as it is: the update in flight was of a Secret that had changed.
func TestAStackOfWhichLittleIsKeptIsNotTakenOver(t *testing.T) {
	const commit = "0123456789abcdef0123456789abcdef01234567"
	w := newGitWorld(t, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "env"}, Data: map[string][]byte{"PASSWORD": []byte("old")}})
	w.edit(func(s *v1.Stack) { s.Spec.EnvSecrets = []string{"env"} })
	w.settle(commit)
	stack := w.stack()
	was := stack.Status
	stack.Status = v1.StackStatus{ObservedGeneration: was.ObservedGeneration, Conditions: was.Conditions, LastUpdate: &v1.LastUpdate{
		Generation: was.LastUpdate.Generation, Name: string(uuid.NewUUID()), Type: was.LastUpdate.Type, State: was.LastUpdate.State,
		LastSuccessfulCommit: was.LastUpdate.LastSuccessfulCommit, LastAttemptedCommit: was.LastUpdate.LastAttemptedCommit,
	}}
	w.Expect(w.Status().Update(w.ctx, stack)).To(Succeed())
	w.Runner = newTestRunner()
	w.runner = w.Runner.(*testRunner)
	d := dropFields(w.world, operatorLacks...)
	w.events.lines = nil
	w.mustReconcile()
	w.expectNotKept(w, "run")

	d.fields = nil
	w.mustReconcile()
	w.Expect(w.runner.started).To(Equal(1))
	w.Expect(w.runner.runs[w.stack().Status.Run.ID].MustExist).To(BeTrue(), "the stack is there, and is looked at first")
}
