// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package crash

import (
	"context"
	"slices"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/cloud"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
	"github.com/flux-pulumi/pulumi-controller/tests/system"
)

// Stacks that depend on each other are all deleted at once, while one that depends on all
// the others is updated.
func TestDeletionOfAllInMidUpdateGoesInReverse(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	ctx := t.Context()
	l := newLayers(t, start(t), func(stack *v1.Stack) { stack.Spec.RetryInterval = &metav1.Duration{Duration: time.Hour} })
	l.deleteInMidUpdate(ctx)
	l.release()
	l.checkGone(ctx)
	l.Expect(l.count(cloud.Update, cloud.Done, "app")).To(Equal(1), "the update was made to its end")
}

// The controller dies in that update, in the destroy of a Stack that waits for no other,
// and in that of one that waited.
func TestDeletionOfAllGoesInReverseWhateverDies(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	ctx := t.Context()
	l := newLayers(t, start(t), nil)
	l.deleteInMidUpdate(ctx)
	l.killController()
	l.release()
	for _, name := range []string{"app", "cluster"} {
		l.awaitStarted(ctx, cloud.Delete, name)
		l.killController()
	}
	l.checkGone(ctx)
}

// layers are Stacks, each of which depends on the one before. Each has one thing, named
// like itself, in the cloud of the first, so that there is one journal.
type layers struct {
	*subject
	all []*subject
}

func newLayers(t *testing.T, s *system.System, change func(*v1.Stack)) *layers {
	t.Helper()
	l := &layers{}
	for _, name := range []string{"network", "cluster", "app"} {
		u := newSubject(t, s, name)
		l.all = append(l.all, u)
		u.create(t.Context(), l.thing(name, "one"), func(stack *v1.Stack) {
			if change != nil {
				change(stack)
			}
			stack.Spec.Config["lab:directory"] = raw(l.all[0].cloudDir())
			if before := len(l.all) - 2; before >= 0 {
				stack.Spec.DependsOn = []v1.DependencyReference{{Name: l.all[before].name}}
			}
		})
	}
	l.subject = l.all[0]
	for _, u := range l.all {
		u.awaitCurrent(t.Context())
	}
	return l
}

func (l *layers) thing(name, value string) []thing {
	return []thing{{name: name, value: value, delays: map[string]string{"delete": "2s"}, hold: cloud.Update}}
}

// deleteInMidUpdate deletes all of them, first those that have to wait.
func (l *layers) deleteInMidUpdate(ctx context.Context) {
	app := l.all[len(l.all)-1]
	app.edit(ctx, l.thing(app.name, "two"))
	l.awaitStarted(ctx, cloud.Update, app.name)
	for _, u := range l.all {
		u.Expect(u.s.Delete(ctx, u.stack(ctx))).To(Succeed())
	}
	l.Expect(app.stack(ctx).Status.Run.Operation).To(Equal(v1.OperationUpdate), "it is still in flight")
}

func (l *layers) killController() {
	l.Expect(l.s.Controller.Kill()).To(Succeed())
	l.Expect(l.s.StartController()).To(Succeed())
}

// checkGone waits until all are gone, and checks that each was destroyed after its
// dependents, and that nothing is left.
func (l *layers) checkGone(ctx context.Context) {
	for _, u := range l.all {
		u.awaitGone(ctx)
	}
	journal, err := l.cloud().Journal()
	l.Expect(err).NotTo(HaveOccurred())
	var deleted []string
	for _, entry := range journal {
		if entry.Op == cloud.Delete {
			deleted = append(deleted, entry.Name)
		}
	}
	// A killed destroy may have started twice.
	l.Expect(slices.Compact(deleted)).To(Equal([]string{"app", "cluster", "network"}))
	for _, u := range l.all {
		u.checkDestroyed()
		u.Eventually(func() []int { return u.processes("") }).Should(BeEmpty(), "no process of a run lives on")
	}
	l.checkDestroyed()
}
