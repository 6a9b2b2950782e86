// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	ctrl "sigs.k8s.io/controller-runtime"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/observe"
	"github.com/flux-pulumi/pulumi-controller/internal/program/check"
	"github.com/flux-pulumi/pulumi-controller/internal/programs"
)

// programOf returns a Program with these keys, whether known or not.
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

// reconcileProgram writes the status of the Program.
func (w *world) reconcileProgram() {
	w.t.Helper()
	r := &programs.Reconciler{Client: w.Client, Events: w.events, Owner: FieldOwner, Check: check.Check, Now: time.Now}
	if _, err := r.Reconcile(context.Background(), ctrl.Request{NamespacedName: key}); err != nil {
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

// The fake client drops the keys that v1.Program does not have. An API server with the
// CRD keeps them.
func TestUnknownKeysAreReported(t *testing.T) {
	g := NewWithT(t)
	object := programOf(map[string]any{
		"runtime":   "nodejs",
		"resources": map[string]any{"a": map[string]any{"type": "a:B", "options": map[string]any{"protected": true}}},
	})
	checked, err := observe.ProgramCheck(check.Check).Of(object)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(checked.Invalid.String()).To(And(
		ContainSubstring("program.resources.a.options.protected (line 4): is not a key of the options of a resource"),
		ContainSubstring("program.runtime (line 6): is not a key of a Program")))

	object.Object["status"] = map[string]any{"artifact": "of the operator"}
	_, err = observe.WithoutText(object)
	g.Expect(err).NotTo(HaveOccurred())
}

func TestACheckIsCachedUntilTheObjectChanges(t *testing.T) {
	g := NewWithT(t)
	kept, object := observe.KeepChecks(check.Check), programOf(valid())
	object.SetResourceVersion("1")
	first, err := kept.Of(object)
	g.Expect(err).NotTo(HaveOccurred())
	object.Object["program"] = faulty()
	g.Expect(kept.Of(object)).To(Equal(first))
	object.SetResourceVersion("2")
	again, err := kept.Of(object)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(again.Invalid.None()).To(BeFalse())
}

func TestAStackDoesNotRunAProgramThatIsNotValid(t *testing.T) {
	for name, test := range map[string]struct {
		said map[string]any
		text string
	}{
		"a call of a wrong form":        {faulty(), faultText},
		"a file outside of its project": {map[string]any{"outputs": map[string]any{"a": map[string]any{"fn::readFile": "/etc/passwd"}}}, "reads a file outside the workspace"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			w := newWorld(t, programOf(test.said), programAndStack()[1])
			w.mustReconcile()
			stack := w.stack()
			g.Expect(w.runner.started).To(BeZero())
			g.Expect(conditions.GetReason(stack, meta.ReadyCondition)).To(Equal(v1.ProgramInvalidReason))
			g.Expect(conditions.GetMessage(stack, meta.ReadyCondition)).To(And(HavePrefix("Program default/app is not valid: "), ContainSubstring(test.text)))
			g.Expect(conditions.IsStalled(stack)).To(BeFalse(), "an edit of the Program mends it")
			g.Expect(stack.Status.LastAttemptedRevision).To(HavePrefix("1@sha256:"))
			g.Expect(w.events.lines).To(HaveLen(1))

			w.says(valid())
			w.mustReconcile()
			g.Expect(w.runner.started).To(Equal(1))
		})
	}
}

func TestTheProjectHasProviderConfigAndPackages(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, programOf(map[string]any{
		"config":   map[string]any{"aws:region": map[string]any{"value": "eu-west-1"}},
		"packages": map[string]any{"random": "4.16.0"},
	}), programAndStack()[1])
	w.mustReconcile()
	todo := w.runner.runs[w.stack().Status.Run.ID]
	g.Expect(todo.Program.Config).To(Equal(map[string]any{"aws:region": "eu-west-1"}))
	g.Expect(todo.Program.Packages).To(Equal(map[string]string{"random": "4.16.0"}))
}
