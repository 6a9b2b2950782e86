// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/cluster"
)

const requestedAt = "reconcile.fluxcd.io/requestedAt"

// answer plays the controller of a kind: it answers each reconcile request for the named
// object with the next of the statuses.
func (w *world) answer(kind schema.GroupVersionKind, name string, statuses ...string) {
	w.t.Helper()
	w.play(kind, name, func(object *unstructured.Unstructured) bool {
		handled, _, _ := unstructured.NestedString(object.Object, "status", "lastHandledReconcileAt")
		requested := object.GetAnnotations()[requestedAt]
		return requested != "" && requested != handled
	}, statuses...)
}

// play writes the statuses, one after the other, once begin accepts the object.
func (w *world) play(kind schema.GroupVersionKind, name string, begin func(*unstructured.Unstructured) bool, statuses ...string) {
	w.t.Helper()
	ctx, stop := context.WithCancel(w.t.Context())
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
	watcher, err := w.api.Watch(ctx, list, client.InNamespace(w.namespace), client.MatchingFields{"metadata.name": name})
	NewWithT(w.t).Expect(err).NotTo(HaveOccurred())
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer watcher.Stop()
		for event := range watcher.ResultChan() {
			object, ok := event.Object.(*unstructured.Unstructured)
			if !ok || event.Type == watch.Deleted || !begin(object) {
				continue
			}
			for _, status := range statuses {
				w.setStatus(ctx, object, status)
			}
			return
		}
	}()
	w.t.Cleanup(func() {
		stop()
		<-done
	})
}

// setStatus writes fields of a status, and marks the request as handled.
func (w *world) setStatus(ctx context.Context, object *unstructured.Unstructured, status string) {
	var fields map[string]any
	if err := yaml.Unmarshal([]byte(status), &fields); err != nil {
		w.t.Error(err)
		return
	}
	if requested := object.GetAnnotations()[requestedAt]; requested != "" {
		fields["lastHandledReconcileAt"] = requested
	}
	fields["observedGeneration"] = object.GetGeneration()
	if err := mergeStatus(ctx, w.api, object, fields); err != nil && ctx.Err() == nil {
		w.t.Error(err)
	}
}

func mergeStatus(ctx context.Context, api client.Client, object *unstructured.Unstructured, fields map[string]any) error {
	text, err := yaml.Marshal(map[string]any{"status": fields})
	if err != nil {
		return err
	}
	patch, err := yaml.YAMLToJSON(text)
	if err != nil {
		return err
	}
	return api.Status().Patch(ctx, object.DeepCopy(), client.RawPatch("application/merge-patch+json", patch))
}

const (
	inFlight = `{run: {id: a, operation: update, generation: 1, startedAt: "2026-03-02T10:17:50Z", holder: {host: a, instance: b}},
		conditions: [{type: Ready, status: Unknown, reason: Progressing, message: Running update, lastTransitionTime: "2026-03-02T10:17:50Z"},
		{type: Reconciling, status: "True", reason: Progressing, message: Running update, lastTransitionTime: "2026-03-02T10:17:50Z"}]}`
	succeeded = `{run: null, lastAppliedRevision: "main@sha1:9a8f4c4a7c8b1f6f0f5d0f3e7b2f1f0a3c5d7e91",
		conditions: [{type: Ready, status: "True", reason: ReconciliationSucceeded, message: "Applied revision: main@sha1:9a8f4c4a7c8b1f6f0f5d0f3e7b2f1f0a3c5d7e91", lastTransitionTime: "2026-03-02T10:17:55Z"}]}`
	failed = `{run: null,
		conditions: [{type: Ready, status: "False", reason: UpdateFailed, message: "no such bucket", lastTransitionTime: "2026-03-02T10:17:55Z"},
		{type: Reconciling, status: "True", reason: ProgressingWithRetry, message: "no such bucket", lastTransitionTime: "2026-03-02T10:17:55Z"}]}`
	fetched = `{artifact: {revision: "main@sha1:9a8f4c4a7c8b1f6f0f5d0f3e7b2f1f0a3c5d7e91", digest: "sha256:6c1f9a0c2f1e7d5b4a39887766554433221100ffeeddccbbaa99887766554433",
		lastUpdateTime: "2026-03-02T10:17:55Z", path: a, url: "http://a"},
		conditions: [{type: Ready, status: "True", reason: Succeeded, message: "stored artifact", lastTransitionTime: "2026-03-02T10:17:55Z"}]}`
)

func gitRepository() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: "source.toolkit.fluxcd.io", Version: "v1", Kind: "GitRepository"}
}

func TestReconcile(t *testing.T) {
	w := newWorld(t, "reconcile")
	w.apply("reconcile")
	w.answer(gitRepository(), "infra", fetched)
	w.answer(cluster.Stack().GroupVersionKind, "network", inFlight, succeeded)
	w.answer(cluster.Stack().GroupVersionKind, "cluster", inFlight, failed)
	w.answer(cluster.Program().GroupVersionKind, "cluster",
		`{conditions: [{type: Ready, status: "True", reason: Succeeded, message: Program can be run, lastTransitionTime: "2026-03-02T10:17:55Z"}]}`)
	w.golden("reconcile",
		"reconcile stack network --with-source",
		"reconcile stack cluster --with-source",
	)
}

func TestReconcileWaitsForTheRunThatTheSourceHasTriggered(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, "reconcile-started")
	w.apply("reconcile")
	running := strings.Replace(inFlight, "generation: 1,", `generation: 1, revision: "main@sha1:9a8f4c4a7c8b1f6f0f5d0f3e7b2f1f0a3c5d7e91",`, 1)
	w.play(gitRepository(), "infra", func(source *unstructured.Unstructured) bool {
		asked := source.GetAnnotations()[requestedAt] != ""
		if asked { // the controller is faster than the command
			stack := &unstructured.Unstructured{}
			stack.SetGroupVersionKind(cluster.Stack().GroupVersionKind)
			stack.SetNamespace(w.namespace)
			stack.SetName("network")
			stack.SetGeneration(1)
			w.setStatus(t.Context(), stack, running)
		}
		return asked
	}, fetched)
	done := w.runUntil("reconcile stack network --with-source", "◎ waiting for Stack reconciliation")
	g.Expect(done.err).To(ContainSubstring("✔ Stack already has this revision\n"))
	g.Expect(w.network().Annotations).NotTo(HaveKey(requestedAt))
}

func TestReconcileForcesWithTheSameToken(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, "reconcile-force")
	w.apply("reconcile")
	w.answer(cluster.Stack().GroupVersionKind, "network", succeeded)
	g.Expect(w.run("reconcile stack network --force").exit).To(Equal(0))
	stack := &unstructured.Unstructured{}
	stack.SetGroupVersionKind(cluster.Stack().GroupVersionKind)
	g.Expect(w.api.Get(t.Context(), client.ObjectKey{Namespace: w.namespace, Name: "network"}, stack)).To(Succeed())
	g.Expect(stack.GetAnnotations()).To(And(
		HaveKeyWithValue(requestedAt, now.Format(time.RFC3339Nano)),
		HaveKeyWithValue("reconcile.fluxcd.io/forceAt", now.Format(time.RFC3339Nano))))
	g.Expect(stack.GetManagedFields()).To(ContainElement(HaveField("Manager", "flux")))
}

func TestReconcileRefuses(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "reconcile-refuses")
	w.env.PollInterval = slowPolls
	w.apply("reconcile")
	w.golden("reconcile_refuses",
		"reconcile stack",
		"reconcile stack a b",
		"reconcile stack absent",
		"reconcile stack suspended",
		"reconcile stack suspended --with-source",
		"reconcile stack external --with-source",
		"reconcile stack network --timeout 5s",
		"reconcile program absent",
		"reconcile source",
	)
}

func TestReconcileSaysThatTheRunInFlightIsSilent(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	w := newWorld(t, "reconcile-unheard")
	w.env.PollInterval = slowPolls
	w.apply("reconcile")
	w.status(func(s *v1.StackStatus) {
		s.Run = &v1.RunStatus{ID: "run-1", Operation: v1.OperationUpdate, Generation: 1, Holder: v1.RunHolder{Host: "a", Instance: "b"}, StartedAt: metav1.Time{Time: now}}
	})
	waits := 0
	w.env.Now = func() time.Time { waits++; return now.Add(time.Duration(waits) * time.Minute) }
	done := w.run("reconcile stack network --timeout 10s")
	g.Expect(done.exit).To(Equal(1))
	g.Expect(done.err).To(ContainSubstring("run run-1 was already in flight, and its controller reported nothing about it since"))
}

func TestSuspendAndResume(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "suspend")
	w.env.PollInterval = slowPolls
	w.apply("reconcile")
	w.play(cluster.Stack().GroupVersionKind, "network", func(object *unstructured.Unstructured) bool {
		return object.GetGeneration() == 3
	}, inFlight, succeeded)
	w.golden("suspend",
		"suspend stack network network",
		"get stacks network",
		"resume stack network",
		"suspend stack -l tier=base",
		"suspend stack absent",
		"suspend stack absent gone external",
		"suspend stack",
		"suspend stack --all",
		"suspend stack network --all",
		"suspend stack -l tier=none",
		"resume stack --all",
		"resume stack absent",
		"resume stack cluster --timeout 5s",
		"get stacks",
	)
}

func TestResumeWaitsForAllAtOnce(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, "resume-all")
	w.apply("reconcile")
	w.play(cluster.Stack().GroupVersionKind, "network", func(object *unstructured.Unstructured) bool {
		return object.GetGeneration() == 2
	}, succeeded)
	// The first Stack never becomes ready, which must not keep the other from being
	// reported.
	done := w.runUntil("resume stack cluster network --wait", "✔ Stack network reconciliation completed")
	g.Expect(done.exit).To(Equal(exitFailed))
	g.Expect(done.err).NotTo(ContainSubstring("✗"), "whoever has interrupted it knows that the other is not ready")
}

func TestReconcileOfAnObjectInDeletionEndsWhenItIsGone(t *testing.T) {
	for name, test := range map[string]struct {
		statuses []string
		exit     int
		wantErr  string
	}{
		"gone":          {[]string{inFlight}, 0, "✔ Stack deleted\n"},
		"not destroyed": {[]string{inFlight, failed}, exitFailed, "✗ Stack reconciliation failed: no such bucket\n"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			w := newWorld(t, "reconcile-deleted-"+strings.ReplaceAll(name, " ", "-"))
			w.apply("steered")
			stack := w.network()
			release := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))
			releaseStack := func() { _ = w.api.Patch(context.Background(), stack.DeepCopy(), release) }
			stack.Finalizers = []string{"example.com/test"}
			g.Expect(w.api.Update(t.Context(), stack)).To(Succeed())
			g.Expect(w.api.Delete(t.Context(), stack)).To(Succeed())
			t.Cleanup(releaseStack)
			w.answer(cluster.Stack().GroupVersionKind, "network", test.statuses...)
			if test.exit == 0 {
				w.play(cluster.Stack().GroupVersionKind, "network", func(object *unstructured.Unstructured) bool {
					handled, _, _ := unstructured.NestedString(object.Object, "status", "lastHandledReconcileAt")
					if handled != "" {
						releaseStack()
					}
					return handled != ""
				})
			}
			done := w.run("reconcile stack network")
			g.Expect(done.err).To(HaveSuffix(test.wantErr))
			g.Expect(done.exit).To(Equal(test.exit))
		})
	}
}
