// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package programs

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/observe"
	"github.com/flux-pulumi/pulumi-controller/internal/program/check"
)

var key = client.ObjectKey{Namespace: "default", Name: "app"}

// eventLog records the events that were sent, and their metadata.
type eventLog struct {
	lines    []string
	metadata []map[string]string
}

func (l *eventLog) AnnotatedEventf(_ runtime.Object, metadata map[string]string, kind, reason, format string, args ...any) {
	l.lines = append(l.lines, fmt.Sprintf("%s %s %s", kind, reason, fmt.Sprintf(format, args...)))
	l.metadata = append(l.metadata, metadata)
}

// world is a reconciler and everything around it.
type world struct {
	*Reconciler
	t      *testing.T
	events *eventLog
	// writes counts those to the API server.
	writes int
}

func newWorld(t *testing.T, objects ...client.Object) *world {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := v1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, events: &eventLog{}}
	api := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithStatusSubresource(&v1.Program{}).
		WithInterceptorFuncs(interceptor.Funcs{
			SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
				w.writes++
				return c.SubResource(sub).Patch(ctx, o, p, opts...)
			},
		}).Build()
	w.Reconciler = &Reconciler{Client: api, Events: w.events, Owner: "test", Check: check.Check, Now: time.Now}
	return w
}

// reconciled reconciles the Program and returns it with its status.
func (w *world) reconciled() *v1.Program {
	w.t.Helper()
	result, err := w.Reconcile(context.Background(), ctrl.Request{NamespacedName: key})
	if err != nil {
		w.t.Fatal(err)
	}
	if result != (ctrl.Result{}) {
		w.t.Errorf("it is looked at again: %v", result)
	}
	program := &v1.Program{}
	if err := w.Get(context.Background(), key, program); err != nil {
		w.t.Fatal(err)
	}
	return program
}

// programOf returns a Program with these keys.
func programOf(said map[string]any) *unstructured.Unstructured {
	object := observe.NewProgramObject()
	object.SetNamespace(key.Namespace)
	object.SetName(key.Name)
	object.SetGeneration(1)
	object.Object["program"] = said
	return object
}

// says edits the Program, and increments its generation like the API server.
func (w *world) says(said map[string]any) {
	w.t.Helper()
	object := observe.NewProgramObject()
	if err := w.Get(context.Background(), key, object); err != nil {
		w.t.Fatal(err)
	}
	object.Object["program"] = said
	object.SetGeneration(object.GetGeneration() + 1)
	if err := w.Update(context.Background(), object); err != nil {
		w.t.Fatal(err)
	}
}

func valid() map[string]any {
	return map[string]any{"outputs": map[string]any{"a": "${words}"}}
}

func faulty() map[string]any {
	return map[string]any{"outputs": map[string]any{"a": map[string]any{"fn::join": []any{"x"}}}}
}

const faultText = "program.outputs.a.fn::join (line 3): the argument to fn::join must be a two-valued list"

func TestAProgramReportsWhetherItIsValid(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, programOf(valid()))
	p := w.reconciled()
	g.Expect(conditions.Get(p, meta.ReadyCondition)).To(And(
		HaveField("Status", metav1.ConditionTrue), HaveField("Reason", meta.SucceededReason),
		HaveField("Message", "Valid program with 0 resources. It uses config that it does not declare, which each Stack must set: words")))
	g.Expect(p.Status.ObservedGeneration).To(BeEquivalentTo(1))
	g.Expect(p.Status.Digest).To(HavePrefix("sha256:"))
	g.Expect(conditions.IsStalled(p)).To(BeFalse())
	g.Expect(w.events.lines).To(BeEmpty(), "that it is as it should be is no news")

	writes := w.writes
	w.reconciled()
	g.Expect(w.writes).To(Equal(writes), "nothing has changed")

	w.says(faulty())
	p = w.reconciled()
	g.Expect(conditions.Get(p, meta.ReadyCondition)).To(And(
		HaveField("Status", metav1.ConditionFalse), HaveField("Reason", v1.ProgramInvalidReason),
		HaveField("Message", ContainSubstring(faultText))))
	g.Expect(conditions.GetReason(p, meta.StalledCondition)).To(Equal(v1.ProgramInvalidReason))
	g.Expect(p.Status.ObservedGeneration).To(BeEquivalentTo(2))
	g.Expect(w.events.lines).To(ConsistOf(And(HavePrefix("Warning ProgramInvalid "), ContainSubstring(faultText))))
	g.Expect(w.events.metadata[0]).To(HaveKeyWithValue("pulumi.com/revision", "2@"+p.Status.Digest))

	w.says(valid())
	p = w.reconciled()
	g.Expect(conditions.IsReady(p)).To(BeTrue())
	g.Expect(conditions.IsStalled(p)).To(BeFalse())
	g.Expect(w.events.lines).To(HaveLen(2))
	g.Expect(w.events.lines[1]).To(HavePrefix("Normal Succeeded Valid program"))
}

func TestARequestForAProgramIsHandled(t *testing.T) {
	g := NewWithT(t)
	object := programOf(valid())
	object.SetAnnotations(map[string]string{meta.ReconcileRequestAnnotation: "now"})
	w := newWorld(t, object)
	g.Expect(w.reconciled().Status.LastHandledReconcileAt).To(Equal("now"))
}

func TestADeletedProgramIsNoError(t *testing.T) {
	w := newWorld(t)
	_, err := w.Reconcile(context.Background(), ctrl.Request{NamespacedName: key})
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
}
