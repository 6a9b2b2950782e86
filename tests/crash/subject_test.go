// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package crash

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/cloud"
	"github.com/flux-pulumi/pulumi-controller/tests/failure"
	"github.com/flux-pulumi/pulumi-controller/tests/system"
)

const (
	// patience is how long a Stack may take to settle on a busy machine.
	patience = 5 * time.Minute
	interval = 50 * time.Millisecond
)

// subject is a Stack with its own Program, backend and cloud.
type subject struct {
	*failure.Assertions
	s    *system.System
	name string
	// program is the generation of the desired Program, and wanted are its things.
	program int64
	wanted  []thing
}

func newSubject(t *testing.T, s *system.System, name string) *subject {
	g := failure.NewAssertions(t, s.ControlPlane.Context())
	g.SetDefaultEventuallyTimeout(patience)
	g.SetDefaultEventuallyPollingInterval(interval)
	u := &subject{Assertions: g, s: s, name: name}
	t.Cleanup(func() {
		if t.Failed() {
			u.killAll("") // a run that hangs would outlive the controller
		}
	})
	u.Expect(os.MkdirAll(u.backend(), 0o755)).To(Succeed())
	u.Expect(os.MkdirAll(u.cloudDir(), 0o755)).To(Succeed())
	return u
}

func (u *subject) backend() string     { return u.s.Path("backends", u.name) }
func (u *subject) cloudDir() string    { return u.s.Path("clouds", u.name) }
func (u *subject) cloud() *cloud.Cloud { return cloud.Open(u.cloudDir()) }

func (u *subject) meta() metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: u.s.RuntimeNamespace(), Name: u.name}
}

func key(object client.Object) client.ObjectKey { return client.ObjectKeyFromObject(object) }

// create creates the Program and the Stack, after change, if not nil, has changed the
// Stack.
func (u *subject) create(ctx context.Context, all []thing, change func(*v1.Stack)) {
	u.createProgram(ctx, program(all), all, change)
}

// createProgram creates a Program with the things and the rest of spec.
func (u *subject) createProgram(ctx context.Context, spec v1.ProgramSpec, all []thing, change func(*v1.Stack)) {
	object := &v1.Program{ObjectMeta: u.meta(), Program: spec}
	u.Expect(u.s.Create(ctx, object)).To(Succeed())
	u.wanted, u.program = all, object.Generation
	stack := &v1.Stack{
		ObjectMeta: u.meta(),
		Spec: v1.StackSpec{
			Stack:             "dev",
			Backend:           "file://" + u.backend(),
			ProgramRef:        &v1.ProgramReference{Name: u.name},
			DestroyOnFinalize: true,
			RetryInterval:     &metav1.Duration{Duration: time.Second},
			Config:            map[string]apiextensionsv1.JSON{"lab:directory": raw(u.cloudDir())},
			EnvRefs: map[string]v1.ResourceRef{"PULUMI_CONFIG_PASSPHRASE": {
				Type: v1.ResourceRefLiteral, Literal: &v1.LiteralValue{Value: "passphrase"},
			}},
		},
	}
	if change != nil {
		change(stack)
	}
	u.Expect(u.s.Create(ctx, stack)).To(Succeed())
}

// edit changes the Program.
func (u *subject) edit(ctx context.Context, all []thing) {
	object := &v1.Program{ObjectMeta: u.meta()}
	u.Expect(retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		if err := u.s.Get(ctx, key(object), object); err != nil {
			return err
		}
		object.Program = program(all)
		return u.s.Update(ctx, object)
	})).To(Succeed())
	u.wanted, u.program = all, object.Generation
}

// stack reads the Stack.
func (u *subject) stack(ctx context.Context) *v1.Stack {
	stack := &v1.Stack{ObjectMeta: u.meta()}
	u.Expect(u.s.Get(ctx, key(stack), stack)).To(Succeed())
	return stack
}

// configure changes the spec of the Stack.
func (u *subject) configure(ctx context.Context, change func(*v1.StackSpec)) {
	u.Expect(retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		stack := u.stack(ctx)
		change(&stack.Spec)
		return u.s.Update(ctx, stack)
	})).To(Succeed())
}

// annotate sets an annotation of the Stack.
func (u *subject) annotate(ctx context.Context, name, value string) {
	patch := fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, name, value)
	u.Expect(u.s.Patch(ctx, &v1.Stack{ObjectMeta: u.meta()}, client.RawPatch(types.MergePatchType, []byte(patch)))).To(Succeed())
}

// isCurrent reports whether the Stack is Ready for its current generation and that of the
// Program.
func (u *subject) isCurrent(stack *v1.Stack) bool {
	return conditions.IsReady(stack) && stack.Status.Run == nil && stack.Status.ObservedGeneration == stack.Generation &&
		strings.HasPrefix(stack.Status.LastAppliedRevision, fmt.Sprintf("%d@", u.program))
}

func (u *subject) awaitCurrent(ctx context.Context) {
	u.Eventually(func() bool { return u.isCurrent(u.stack(ctx)) }).Should(BeTrue(), u.report(ctx))
}

// awaitRun waits for a run of the operation and returns its record.
func (u *subject) awaitRun(ctx context.Context, operation v1.Operation) v1.RunStatus {
	var recorded v1.RunStatus
	u.Eventually(func(g Gomega) {
		run := u.stack(ctx).Status.Run
		g.Expect(run).NotTo(BeNil())
		g.Expect(run.Operation).To(Equal(operation))
		recorded = *run
	}).Should(Succeed(), u.report(ctx))
	return recorded
}

// awaitReason waits until Ready has the reason, and returns its message.
func (u *subject) awaitReason(ctx context.Context, reason string) string {
	var message string
	u.Eventually(func(g Gomega) {
		stack := u.stack(ctx)
		g.Expect(conditions.GetReason(stack, meta.ReadyCondition)).To(Equal(reason))
		message = conditions.GetMessage(stack, meta.ReadyCondition)
	}).Should(Succeed(), u.report(ctx))
	return message
}

// awaitStarted waits until an operation on a thing has started in the cloud.
func (u *subject) awaitStarted(ctx context.Context, op, name string) {
	u.Eventually(func() int { return u.count(op, cloud.Begin, name) }).Should(BeNumerically(">", 0), u.report(ctx))
}

// count returns how often the journal has the phase of the operation for the name.
func (u *subject) count(op, phase, name string) int {
	journal, err := u.cloud().Journal()
	u.Expect(err).NotTo(HaveOccurred())
	count := 0
	for _, entry := range journal {
		if entry.Op == op && entry.Phase == phase && entry.Name == name {
			count++
		}
	}
	return count
}

// remove deletes the Stack and waits until it is gone.
func (u *subject) remove(ctx context.Context) {
	u.Expect(u.s.Delete(ctx, u.stack(ctx))).To(Succeed())
	u.awaitGone(ctx)
}

func (u *subject) awaitGone(ctx context.Context) {
	u.Eventually(func() bool {
		return apierrors.IsNotFound(u.s.Get(ctx, key(&v1.Stack{ObjectMeta: u.meta()}), &v1.Stack{}))
	}).Should(BeTrue(), u.report(ctx))
}

// report returns what to read when a check fails.
func (u *subject) report(ctx context.Context) func() string {
	return func() string {
		stack := &v1.Stack{ObjectMeta: u.meta()}
		if err := u.s.Get(ctx, key(stack), stack); err != nil {
			return err.Error()
		}
		stack.ManagedFields = nil
		text, err := yaml.Marshal(stack)
		if err != nil {
			return err.Error()
		}
		return fmt.Sprintf("%s\n%s", text, u.s.Controller.LogTail())
	}
}
