// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/history"
	"github.com/flux-pulumi/pulumi-controller/internal/plan"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/runlog"
)

// endDoing ends the run in flight, which has done something.
func (w *world) endDoing(outcome run.Outcome, done *plan.Plan) (id string) {
	w.t.Helper()
	id = w.stack().Status.Run.ID
	w.runner.end(id, outcome, "")
	w.runner.results[id].Done = done
	return id
}

// withoutStatus is an API server that cannot be reached any more when the status is written.
type withoutStatus struct{ client.Client }

func (c withoutStatus) Status() client.SubResourceWriter { return noStatus{c.Client.Status()} }

type noStatus struct{ client.SubResourceWriter }

func (noStatus) Patch(context.Context, client.Object, client.Patch, ...client.SubResourcePatchOption) error {
	return errors.New("connection refused")
}

func TestWhatARunHasChangedIsKeptWithTheHistory(t *testing.T) {
	g := NewWithT(t)
	w := inventoryWorld(t)
	kept := &corev1.ConfigMap{}
	read := func() error {
		*kept = corev1.ConfigMap{}
		return w.Get(t.Context(), types.NamespacedName{Namespace: "default", Name: "app-history"}, kept)
	}
	w.mustReconcile()
	first := w.endDoing(run.Failed, planOf(plan.OpCreate, "a"))
	working := w.Client
	w.Client = withoutStatus{working}
	_, err := w.reconcile()
	g.Expect(err).To(HaveOccurred())
	g.Expect(read()).To(Succeed())
	g.Expect(w.stack().Status.History).To(BeEmpty(), "the status is written later")
	w.Client = working
	w.mustReconcile()
	g.Expect(read()).To(Succeed())
	g.Expect(metav1.IsControlledBy(kept, w.stack())).To(BeTrue())
	g.Expect(kept.BinaryData).To(And(HaveLen(2), HaveKey(history.Key(first)), HaveKey(history.IndexKey)))
	g.Expect(w.stack().Status.History).To(HaveLen(1))
	g.Expect(history.ChangedIn(w.stack().Status.History[0].Metadata)).To(Equal([]string{first}))

	w.change(func(spec *v1.StackSpec) { spec.Targets = []string{"x"} })
	w.mustReconcile()
	second := w.endDoing(run.Succeeded, nil)
	w.runner.results[second].Tail = aLog("nothing to do")
	w.mustReconcile()
	g.Expect(w.stack().Status.History).To(HaveLen(2))
	g.Expect(w.stack().Status.RunLog).To(BeNil(), "the log of the controller has it")
	g.Expect(read()).To(Succeed())
	g.Expect(runlog.Decode(kept.BinaryData[history.LogKey(second)])).To(Equal(aLog("nothing to do")))

	w.change(func(spec *v1.StackSpec) { spec.Targets = []string{"y"} })
	w.mustReconcile()
	third := w.endDoing(run.Succeeded, planOf(plan.OpUpdate, "a"))
	w.mustReconcile()
	g.Expect(read()).To(Succeed())
	g.Expect(kept.BinaryData).To(And(HaveLen(4), HaveKey(history.Key(first)), HaveKey(history.Key(third))))
	entries, _, err := history.Entries(kept.BinaryData)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(history.Runs(entries)).To(Equal([]string{third, second, first}))
	g.Expect(entries[2].LastReconciledStatus).To(Equal(w.stack().Status.History[2].LastReconciledStatus))
	g.Expect(entries[2].Metadata).To(And(HaveKeyWithValue("operation", "update"), HaveKeyWithValue("cause", "change")))
	g.Expect(entries[2].TotalReconciliations).To(BeEquivalentTo(1), "it was written twice")
}

func TestARunWithoutAnEndIsRecorded(t *testing.T) {
	g := NewWithT(t)
	w, _ := takenOver(t)
	w.edit(func(s *v1.Stack) { s.UID = "uid-of-app" })
	id := w.stack().Status.Run.ID
	w.others.gone = true
	w.mustReconcile()
	g.Expect(w.stack().Status.Interrupted).NotTo(BeEmpty())
	kept := &corev1.ConfigMap{}
	g.Expect(w.Get(t.Context(), types.NamespacedName{Namespace: "default", Name: "app-history"}, kept)).To(Succeed())
	entries, _, err := history.Entries(kept.BinaryData)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(entries).To(HaveLen(1))
	g.Expect(entries[0].LastReconciledStatus).To(Equal(v1.RunInterruptedReason))
	g.Expect(entries[0].Metadata).To(And(HaveKeyWithValue("run", id), HaveKey("message")))
}

func TestTheHistoryStaysIfItIsToBeRetained(t *testing.T) {
	for name, retain := range map[string]bool{"retained": true, "not retained": false} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			w := inventoryWorld(t)
			w.edit(func(s *v1.Stack) { s.Spec.DestroyOnFinalize = true })
			w.mustReconcile()
			w.endDoing(run.Succeeded, planOf(plan.OpCreate, "a"))
			w.mustReconcile()
			// Without another run that writes it.
			w.edit(func(s *v1.Stack) { s.Spec.History = &v1.History{Retain: retain} })
			g.Expect(w.Delete(t.Context(), w.stack())).To(Succeed())
			w.mustReconcile()
			destroyed := w.endDoing(run.Succeeded, planOf(plan.OpDelete, "a"))
			w.mustReconcile()
			w.mustReconcile()
			g.Expect(w.deleted()).To(BeTrue())
			kept := &corev1.ConfigMap{}
			g.Expect(w.Get(t.Context(), types.NamespacedName{Namespace: "default", Name: "app-history"}, kept)).To(Succeed())
			g.Expect(kept.OwnerReferences).To(HaveLen(map[bool]int{true: 0, false: 1}[retain]), "without owners, nobody collects it")
			if retain {
				g.Expect(kept.BinaryData).To(HaveKey(history.Key(destroyed)))
			} else {
				g.Expect(kept.BinaryData).NotTo(HaveKey(history.Key(destroyed)))
			}
		})
	}
}

func TestAHistoryThatCannotBeKeptFailsNoRun(t *testing.T) {
	g := NewWithT(t)
	w := inventoryWorld(t)
	w.Client = withoutConfigMaps{w.Client}
	w.mustReconcile()
	id := w.endDoing(run.Succeeded, planOf(plan.OpCreate, "a"))
	w.mustReconcile()
	g.Expect(w.stack().Status.LastAppliedDigest).NotTo(BeEmpty())
	g.Expect(history.ChangedIn(w.stack().Status.History[0].Metadata)).To(Equal([]string{id}))
	err := w.Get(t.Context(), types.NamespacedName{Namespace: "default", Name: "app-history"}, &corev1.ConfigMap{})
	g.Expect(apierrors.IsNotFound(err)).To(BeTrue())
}

// roomForOne is an API server whose quota has room for one more ConfigMap.
type roomForOne struct {
	client.Client
	isFull *bool
}

func (c roomForOne) Create(ctx context.Context, o client.Object, options ...client.CreateOption) error {
	if _, is := o.(*corev1.ConfigMap); is {
		if *c.isFull {
			return errors.New("exceeded quota")
		}
		*c.isFull = true
	}
	return c.Client.Create(ctx, o, options...)
}

func TestAHistoryTakesNoRoomFromWhatOthersWaitFor(t *testing.T) {
	g := NewWithT(t)
	w := inventoryWorld(t)
	w.Client = roomForOne{w.Client, new(bool)}
	w.mustReconcile()
	id := w.endDoing(run.Succeeded, planOf(plan.OpCreate, "a"))
	w.runner.results[id].Inventory = &run.Inventory{Resources: things("a")}
	w.mustReconcile()
	_, names := w.inventory()
	g.Expect(names).To(ConsistOf("a"))
}
