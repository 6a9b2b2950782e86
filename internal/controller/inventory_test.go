// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/decide"
	"github.com/flux-pulumi/pulumi-controller/internal/inventory"
	"github.com/flux-pulumi/pulumi-controller/internal/plan"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

func inventoryWorld(t *testing.T, objects ...client.Object) *world {
	t.Helper()
	w := newWorld(t, append(programAndStack(), objects...)...)
	w.edit(func(s *v1.Stack) { s.UID = "uid-of-app" })
	return w
}

func things(names ...string) []run.Resource {
	var all []run.Resource
	for _, name := range names {
		all = append(all, run.Resource{URN: "urn:pulumi:dev::app::lab:index:Thing::" + name, Type: "lab:index:Thing", ID: name})
	}
	return all
}

// endReporting ends the run in flight, which reports resources, and absorbs it.
func (w *world) endReporting(outcome run.Outcome, reported *run.Inventory) {
	w.t.Helper()
	id := w.stack().Status.Run.ID
	w.runner.end(id, outcome, "")
	w.runner.results[id].Inventory = reported
	w.mustReconcile()
}

func (w *world) inventory() (*corev1.ConfigMap, []string) {
	w.t.Helper()
	kept := &corev1.ConfigMap{}
	if err := w.Get(context.Background(), types.NamespacedName{Namespace: "default", Name: "app-inventory"}, kept); err != nil {
		w.t.Fatal(err)
	}
	list, err := inventory.Decode(kept.BinaryData[inventory.Key])
	if err != nil {
		w.t.Fatal(err)
	}
	var names []string
	for _, one := range list.Resources {
		names = append(names, plan.ResourceName(one.URN))
	}
	return kept, names
}

func TestTheInventoryOfAStackIsWritten(t *testing.T) {
	g := NewWithT(t)
	w := inventoryWorld(t)
	w.mustReconcile()
	w.endReporting(run.Succeeded, &run.Inventory{Complete: true, Resources: things("a", "b")})
	kept, names := w.inventory()
	g.Expect(names).To(Equal([]string{"a", "b"}))
	g.Expect(metav1.IsControlledBy(kept, w.stack())).To(BeTrue())
	g.Expect(w.stack().Status.Inventory).To(Equal(&v1.InventoryStatus{
		ConfigMap: "app-inventory", Digest: inventory.Digest(kept.BinaryData[inventory.Key]), Count: 2}))

	w.change(func(spec *v1.StackSpec) { spec.Targets = []string{"x"} })
	w.mustReconcile()
	w.endReporting(run.Succeeded, &run.Inventory{Complete: true, Resources: things("a", "b")})
	again, _ := w.inventory()
	g.Expect(again.ResourceVersion).To(Equal(kept.ResourceVersion), "the same is not written again")

	w.change(func(spec *v1.StackSpec) { spec.Targets = []string{"y"} })
	w.mustReconcile()
	w.endReporting(run.Failed, &run.Inventory{Resources: things("c"), Gone: []string{things("a")[0].URN}})
	_, names = w.inventory()
	g.Expect(names).To(Equal([]string{"b", "c"}), "of a run that failed half-way, what it did")

	w.change(func(spec *v1.StackSpec) { spec.Targets = []string{"z"} })
	w.mustReconcile()
	before := w.stack().Status.Inventory
	w.endReporting(run.Locked, nil)
	g.Expect(w.stack().Status.Inventory).To(Equal(before))
}

func TestTheInventoryHasWhatAFailedDestroyLeft(t *testing.T) {
	g := NewWithT(t)
	w := inventoryWorld(t)
	w.edit(func(s *v1.Stack) { s.Spec.DestroyOnFinalize = true })
	w.mustReconcile()
	w.endReporting(run.Succeeded, &run.Inventory{Complete: true, Resources: things("a", "b")})
	g.Expect(w.Delete(context.Background(), w.stack())).To(Succeed())
	w.mustReconcile()
	g.Expect(w.stack().Status.Run).To(HaveField("Operation", v1.OperationDestroy))
	w.endReporting(run.Failed, &run.Inventory{Gone: []string{things("a")[0].URN}})
	kept, names := w.inventory()
	g.Expect(names).To(Equal([]string{"b"}))
	g.Expect(w.stack().Status.Inventory).To(Equal(&v1.InventoryStatus{
		ConfigMap: "app-inventory", Digest: inventory.Digest(kept.BinaryData[inventory.Key]), Count: 1}))
}

func TestAForeignInventoryIsLeftAloneAndFailsNoRun(t *testing.T) {
	g := NewWithT(t)
	theirs := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "app-inventory"}, Data: map[string]string{"a": "b"}}
	w := inventoryWorld(t, theirs)
	w.mustReconcile()
	w.endReporting(run.Succeeded, &run.Inventory{Complete: true, Resources: things("a")})
	stack := w.stack()
	g.Expect(stack.Status.LastAppliedDigest).NotTo(BeEmpty())
	reported := "Cannot write the list of resources: ConfigMap default/app-inventory does not belong to this Stack: delete or rename it"
	g.Expect(stack.Status.Inventory).To(Equal(&v1.InventoryStatus{Message: reported}))
	g.Expect(w.events.lines).To(ContainElement("Warning InventoryFailed " + reported))
	count := len(w.events.lines)

	g.Expect(w.mustReconcile().RequeueAfter).To(Equal(stack.GetRetryInterval()))
	w.passTime(stack.GetRetryInterval())
	w.mustReconcile()
	g.Expect(w.events.lines).To(HaveLen(count), "it is reported once")

	// A partial inventory of the next run is added to what is still unwritten.
	w.change(func(spec *v1.StackSpec) { spec.Targets = []string{"x"} })
	w.mustReconcile()
	w.endReporting(run.Failed, &run.Inventory{Resources: things("b")})
	g.Expect(w.Delete(context.Background(), theirs)).To(Succeed())
	w.passTime(2 * stack.GetRetryInterval())
	w.mustReconcile()
	_, names := w.inventory()
	g.Expect(names).To(Equal([]string{"a", "b"}))
	g.Expect(w.stack().Status.Inventory.Message).To(BeEmpty())
	g.Expect(w.runner.started).To(BeNumerically("<=", 3))
}

// unwrittenWorld has a Stack that was updated, and whose inventory cannot be written.
func unwrittenWorld(t *testing.T) *world {
	t.Helper()
	w := inventoryWorld(t, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "app-inventory"}})
	w.change(func(spec *v1.StackSpec) { spec.RetryInterval = &metav1.Duration{Duration: time.Minute} })
	w.mustReconcile()
	w.endReporting(run.Succeeded, &run.Inventory{Complete: true, Resources: things("a", "b")})
	return w
}

func TestAnUnwrittenInventoryDoesNotWakeARunInFlight(t *testing.T) {
	g := NewWithT(t)
	w := unwrittenWorld(t)
	w.change(func(spec *v1.StackSpec) { spec.Targets = []string{"x"} })
	g.Expect(w.nextRun().Operation).To(Equal(run.Update))
	w.passTime(time.Hour)
	w.mustReconcile()
	g.Expect(w.mustReconcile().RequeueAfter).To(BeNumerically(">=", decide.ProgressAfter), "only its progress is looked at before it ends")

	w.endReporting(run.Succeeded, &run.Inventory{Complete: true, Resources: things("a")})
	g.Expect(w.mustReconcile().RequeueAfter).To(Equal(time.Minute))
}

func TestAnUnwrittenInventoryIsRetriedInADeletion(t *testing.T) {
	g := NewWithT(t)
	w := unwrittenWorld(t)
	g.Expect(w.Delete(context.Background(), w.stack())).To(Succeed())
	g.Expect(w.nextRun().Operation).To(Equal(run.Destroy))
	w.endReporting(run.Failed, &run.Inventory{Gone: []string{things("a")[0].URN}})
	w.passTime(time.Minute - time.Second)
	w.mustReconcile()
	g.Expect(w.stack().Status.Run).To(BeNil())

	g.Expect(w.Delete(context.Background(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "app-inventory"}})).To(Succeed())
	w.passTime(2 * time.Minute)
	w.mustReconcile()
	_, names := w.inventory()
	g.Expect(names).To(Equal([]string{"b"}), "what the failed destroy has left")
}

func TestAStackWithoutFinalizerWritesNoInventory(t *testing.T) {
	g := NewWithT(t)
	w := unwrittenWorld(t)
	w.edit(func(s *v1.Stack) {
		s.Spec.DestroyOnFinalize = false
		s.Finalizers = append(s.Finalizers, "example.com/theirs")
	})
	g.Expect(w.Delete(context.Background(), w.stack())).To(Succeed())
	w.passTime(time.Hour)
	g.Expect(w.mustReconcile().RequeueAfter).To(BeZero())
	g.Expect(w.mustReconcile().RequeueAfter).To(BeZero(), "someone else's finalizer keeps the object")
	g.Expect(w.stack().Finalizers).To(ConsistOf("example.com/theirs"))
}
