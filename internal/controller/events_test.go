// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	"github.com/go-logr/logr/funcr"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/source"
)

const (
	commitA = "main@sha1:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	commitB = "main@sha1:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
	ociA    = "latest@sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
)

// testSource is a source whose artifact the test changes.
type testSource struct {
	source.Source
	err error
}

func (s *testSource) Resolve(context.Context, string, v1.SourceReference) (*source.Source, error) {
	if s.err != nil {
		return nil, s.err
	}
	found := s.Source
	return &found, nil
}

// sourceWorld is a world with one Stack that takes its program from a source.
func sourceWorld(t *testing.T, edit ...func(*v1.Stack)) (*world, *testSource) {
	t.Helper()
	stack := &v1.Stack{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "app", Generation: 1}, Spec: v1.StackSpec{
		Stack: "organization/app/dev", Backend: "file:///state",
		FluxSource: &v1.FluxSource{SourceRef: v1.SourceReference{Kind: "GitRepository", Name: "app"}},
	}}
	for _, change := range edit {
		change(stack)
	}
	w := newWorld(t, stack)
	from := &testSource{Source: source.Source{URL: "http://source/a", Digest: "sha256:a", Revision: commitA}}
	w.Sources = from
	return w, from
}

// run reconciles the Stack until a run starts, and ends that.
func (w *world) run(outcome run.Outcome, message string, changes run.Changes) {
	w.t.Helper()
	w.mustReconcile()
	recorded := w.stack().Status.Run
	if recorded == nil {
		w.t.Fatal("no run has started")
	}
	w.runner.end(recorded.ID, outcome, message)
	w.runner.results[recorded.ID].Changes = changes
	w.mustReconcile()
}

// about returns the values of a metadata key of all events, in order.
func (l *eventLog) about(key string) []string {
	var values []string
	for _, metadata := range l.metadata {
		values = append(values, metadata["pulumi.com/"+key])
	}
	return values
}

func TestARunWithChangesIsAnnouncedToPeopleAndForges(t *testing.T) {
	g := NewWithT(t)
	w, from := sourceWorld(t)
	from.OriginRevision = "main@sha1:1"
	w.mustReconcile()
	id := w.stack().Status.Run.ID
	w.runner.end(id, run.Succeeded, "")
	w.runner.results[id].Changes = run.Changes{Created: 2, Updated: 1, Same: 3}
	w.runner.results[id].Permalink = "https://app.pulumi.com/acme/app/dev/updates/1"
	w.mustReconcile()

	g.Expect(w.events.lines).To(Equal([]string{"Normal ReconciliationSucceeded Update succeeded: 2 created, 1 updated, 3 unchanged in 1s"}))
	g.Expect(w.events.commitStatuses).To(Equal([]string{"Normal ReconciliationSucceeded Applied revision: " + commitA}))
	version := w.stack().ResourceVersion
	g.Expect(w.events.metadata).To(Equal([]map[string]string{{
		"pulumi.com/revision": commitA, "pulumi.com/originRevision": "main@sha1:1", "pulumi.com/token": version,
		"pulumi.com/stack": "organization/app/dev", "pulumi.com/permalink": "https://app.pulumi.com/acme/app/dev/updates/1",
		"pulumi.com/created": "2", "pulumi.com/updated": "1",
	}, {
		"pulumi.com/revision": commitA, "pulumi.com/originRevision": "main@sha1:1", "pulumi.com/token": version,
		"pulumi.com/stack": "organization/app/dev", "pulumi.com/commit_status": "update",
	}}))

	w.mustReconcile()
	w.mustReconcile()
	g.Expect(w.events.metadata).To(HaveLen(2), "what is as it was is not reported again")
}

func TestARunWithoutChangesIsNotAnnouncedToPeople(t *testing.T) {
	g := NewWithT(t)
	w, _ := sourceWorld(t)
	w.run(run.Succeeded, "", run.Changes{Same: 3})
	g.Expect(w.events.lines).To(Equal([]string{"Trace ReconciliationSucceeded Update succeeded: 3 unchanged in 1s"}))
	g.Expect(w.events.commitStatuses).To(HaveLen(1))
}

func TestAProgramHasNoCommitStatus(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, programAndStack()...)
	w.run(run.Succeeded, "", run.Changes{Created: 1})
	w.mustReconcile()
	g.Expect(conditions.IsReady(w.stack())).To(BeTrue())
	g.Expect(w.events.lines).To(HaveLen(1))
	g.Expect(w.events.commitStatuses).To(BeEmpty())
}

func TestACommitThatNeedsNoRunGetsACommitStatus(t *testing.T) {
	g := NewWithT(t)
	w, from := sourceWorld(t)
	w.run(run.Succeeded, "", run.Changes{Created: 1})
	from.Revision = commitB // with the same content

	w.mustReconcile()
	w.mustReconcile()
	g.Expect(w.runner.started).To(Equal(1))
	g.Expect(w.events.lines).To(HaveLen(1))
	g.Expect(w.events.commitStatuses).To(Equal([]string{
		"Normal ReconciliationSucceeded Applied revision: " + commitA, "Normal ReconciliationSucceeded Applied revision: " + commitB,
	}))
	g.Expect(w.events.about("revision")).To(Equal([]string{commitA, commitA, commitB}))
}

func TestAFailureIsAnnouncedWithItsRevision(t *testing.T) {
	g := NewWithT(t)
	w, from := sourceWorld(t)
	from.Revision, from.OriginRevision = ociA, commitA
	w.run(run.Failed, "no such bucket", run.Changes{})
	w.mustReconcile()
	g.Expect(w.events.lines).To(Equal([]string{"Warning UpdateFailed Update failed: no such bucket"}), "once")
	g.Expect(w.events.commitStatuses).To(BeEmpty(), "a failure goes to forges as it is")
	g.Expect(w.events.about("revision")).To(Equal([]string{ociA}))
	g.Expect(w.events.about("originRevision")).To(Equal([]string{commitA}))
}

func TestARepeatedFailureHasTheSameToken(t *testing.T) {
	g := NewWithT(t)
	w, from := sourceWorld(t)
	var reported []string // the tokens by which notification-controller recognizes duplicates
	fails := func(what string) {
		w.passTime(v1.DefaultInterval + time.Minute)
		w.run(run.Failed, what, run.Changes{})
		last := len(w.events.lines) - 1
		reported = append(reported, w.events.lines[last]+w.events.metadata[len(w.events.metadata)-1]["pulumi.com/token"])
	}
	w.run(run.Succeeded, "", run.Changes{})
	from.Digest = "sha256:b"
	for range 3 {
		fails("no luck")
	}
	g.Expect(reported[1:3]).To(HaveEach(reported[0]))
	fails("no luck today")
	g.Expect(reported[3]).NotTo(Equal(reported[0]), "another failure")

	w.passTime(v1.DefaultInterval + time.Minute)
	w.run(run.Succeeded, "", run.Changes{})
	w.request()
	fails("no luck")
	g.Expect(reported[:3]).NotTo(ContainElement(reported[4]), "after a success")
	w.edit(func(s *v1.Stack) { s.Generation++ })
	fails("no luck")
	g.Expect(reported[4]).NotTo(Equal(reported[5]), "after an edit")
}

func TestANewCommitWithTheSameProblemIsAnnounced(t *testing.T) {
	g := NewWithT(t)
	w, from := sourceWorld(t, func(s *v1.Stack) {
		s.Spec.EnvRefs = map[string]v1.ResourceRef{"TOKEN": {
			Type: v1.ResourceRefSecret, Secret: &v1.SecretKeyReference{Name: "gone", Key: "token"},
		}}
	})
	w.mustReconcile()
	from.Revision, from.Digest = commitB, "sha256:b"
	w.mustReconcile()
	w.mustReconcile()
	g.Expect(w.events.lines).To(HaveLen(2), "once for each commit")
	g.Expect(w.events.lines).To(HaveEach(HavePrefix("Warning " + v1.InputsFailedReason)))
	g.Expect(w.events.about("revision")).To(Equal([]string{commitA, commitB}))

	from.err = source.ErrNotReady
	w.mustReconcile()
	g.Expect(w.events.lines[2:]).To(ConsistOf(HavePrefix("Warning " + meta.ArtifactFailedReason)))
	g.Expect(w.events.about("revision")[2:]).To(Equal([]string{commitB}), "the last that is known")
}

func TestANewCommitOfContentThatFailedIsAnnounced(t *testing.T) {
	g := NewWithT(t)
	w, from := sourceWorld(t)
	w.run(run.Failed, "no luck", run.Changes{})
	from.Revision = commitB
	w.mustReconcile()
	w.mustReconcile()
	g.Expect(w.runner.started).To(Equal(1))
	g.Expect(w.events.lines).To(Equal([]string{"Warning UpdateFailed Update failed: no luck", "Warning UpdateFailed no luck"}))
	g.Expect(w.events.about("revision")).To(Equal([]string{commitA, commitB}))
}

func TestANewCommitOfPreviewedContentIsAnnounced(t *testing.T) {
	g := NewWithT(t)
	w, from := sourceWorld(t, func(s *v1.Stack) { s.Spec.Preview = true })
	w.run(run.Succeeded, "", run.Changes{Created: 1})
	from.Revision = commitB
	w.mustReconcile()
	w.mustReconcile()
	g.Expect(w.runner.started).To(Equal(1))
	g.Expect(conditions.GetMessage(w.stack(), meta.ReadyCondition)).To(Equal("Previewed revision " + commitB + ": 1 to create"))
	g.Expect(w.events.commitStatuses).To(Equal([]string{
		"Normal ReconciliationSucceeded Previewed revision " + commitA + ": 1 to create",
		"Normal ReconciliationSucceeded Previewed revision " + commitB + ": 1 to create",
	}))
	g.Expect(w.events.about("revision")).To(Equal([]string{commitA, commitA, commitB}))
}

func TestEventsAreLogged(t *testing.T) {
	g := NewWithT(t)
	w, from := sourceWorld(t)
	var lines []string
	ctx := ctrl.LoggerInto(t.Context(), funcr.New(func(_, line string) { lines = append(lines, line) }, funcr.Options{}))
	for _, outcome := range []run.Outcome{run.Failed, run.Succeeded} {
		w.passTime(v1.DefaultInterval + time.Minute)
		w.mustReconcile()
		w.runner.end(w.stack().Status.Run.ID, outcome, "no luck")
		_, err := w.Reconcile(ctx, ctrl.Request{NamespacedName: key})
		g.Expect(err).NotTo(HaveOccurred())
	}
	about := fmt.Sprintf("%q=%q", "revision", commitA)
	g.Expect(lines).To(HaveExactElements(
		And(HavePrefix(`"msg"="Update failed: no luck" "error"=null "reason"="UpdateFailed" `), ContainSubstring(about)),
		And(HavePrefix(`"level"=0 "msg"="Update succeeded: no resources in 1s" "reason"="ReconciliationSucceeded" `), ContainSubstring(about)),
	))
	g.Expect(w.events.commitStatuses).To(HaveLen(1), "is not logged as well: it says the same")

	lines, from.Revision = nil, commitB // with the same content
	_, err := w.Reconcile(ctx, ctrl.Request{NamespacedName: key})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(lines).To(HaveExactElements(HavePrefix(`"level"=0 "msg"="Applied revision: `+commitB)), "nothing else says it")
}

func TestAFlappingSourceRepeatsNoFailure(t *testing.T) {
	g := NewWithT(t)
	w, from := sourceWorld(t)
	w.run(run.Failed, "no luck", run.Changes{})
	for range 3 {
		from.err = source.ErrNotReady
		w.mustReconcile()
		from.err = nil
		w.mustReconcile()
	}
	g.Expect(w.events.lines[0]).To(Equal("Warning UpdateFailed Update failed: no luck"))
	g.Expect(w.events.lines[1:]).To(HaveEach(HavePrefix("Warning ArtifactFailed")), "the run has reported its own")
	for _, token := range w.events.about("token")[2:] {
		g.Expect(token).To(Equal(w.events.about("token")[1]), "notification-controller drops the duplicates")
	}
}

func TestAStoppedRunIsNoFailure(t *testing.T) {
	g := NewWithT(t)
	w, _ := sourceWorld(t)
	w.run(run.Cancelled, "cancelled: the controller is shutting down", run.Changes{})
	g.Expect(w.events.lines).To(Equal([]string{"Normal Progressing Update was stopped after 1s: cancelled: the controller is shutting down"}))
	g.Expect(w.events.about("revision")).To(Equal([]string{commitA}))

	w.run(run.Succeeded, "", run.Changes{Created: 1})
	g.Expect(w.events.lines[1:]).To(ConsistOf(HavePrefix("Normal ReconciliationSucceeded")))
}

// The pod of a run may start long after the run was recorded, and source-controller keeps
// no artifact that long.
func TestARunThatIsTooLateForItsArtifactIsNoFailure(t *testing.T) {
	g := NewWithT(t)
	w, from := sourceWorld(t)
	w.mustReconcile()
	from.Revision, from.Digest = commitB, "sha256:b"
	w.endRun(run.ArtifactGone, "it is gone (404)", run.Changes{})
	reported := "the artifact was replaced before it was fetched; the current artifact runs next: it is gone (404)"
	g.Expect(w.events.lines).To(Equal([]string{"Trace ArtifactGone Update was not started: " + reported}), "a trace is no alert")
	g.Expect(w.events.commitStatuses).To(BeEmpty())
	stack := w.stack()
	g.Expect(conditions.GetReason(stack, meta.ReadyCondition)).To(Equal(v1.ArtifactGoneReason))
	g.Expect(conditions.GetMessage(stack, meta.ReadyCondition)).To(Equal(reported))
	g.Expect(conditions.GetReason(stack, meta.ReconcilingCondition)).To(Equal(meta.ProgressingReason), "clients wait")

	w.mustReconcile()
	g.Expect(w.runner.started).To(Equal(2), "at once")
	g.Expect(w.stack().Status.LastAttemptedRevision).To(Equal(commitB))
	w.endRun(run.Succeeded, "", run.Changes{Created: 1})
	g.Expect(w.events.lines[1:]).To(HaveEach(HavePrefix("Normal ReconciliationSucceeded")))
}

func TestAnArtifactThatIsGoneForGoodIsAFailure(t *testing.T) {
	g := NewWithT(t)
	w, _ := sourceWorld(t)
	w.run(run.ArtifactGone, "it is gone (404)", run.Changes{})
	for range 2 {
		w.mustReconcile()
	}
	g.Expect(w.runner.started).To(Equal(1), "it backs off")
	g.Expect(w.events.lines).To(HaveLen(1), "and tells nothing new")
	g.Expect(conditions.GetReason(w.stack(), meta.ReadyCondition)).To(Equal(v1.ArtifactGoneReason))
	for failures := 2; failures <= 3; failures++ {
		w.passTime(time.Minute)
		w.run(run.ArtifactGone, "it is gone (404)", run.Changes{})
		g.Expect(w.stack().Status.Failures).To(BeEquivalentTo(failures))
		g.Expect(conditions.GetReason(w.stack(), meta.ReadyCondition)).To(Equal(meta.ArtifactFailedReason))
	}
	g.Expect(w.events.lines[1:]).To(HaveEach("Warning ArtifactFailed Update failed: it is gone (404)"))
}

func TestAProblemIsAnnouncedWithTheRevision(t *testing.T) {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "app"}, Data: map[string][]byte{"token": []byte("xyzzy")}}
	g := NewWithT(t)
	w, from := sourceWorld(t, func(s *v1.Stack) {
		s.Spec.EnvRefs = map[string]v1.ResourceRef{"TOKEN": {
			Type: v1.ResourceRefSecret, Secret: &v1.SecretKeyReference{Name: "app", Key: "token"},
		}}
	})
	g.Expect(w.Create(t.Context(), secret.DeepCopy())).To(Succeed())
	w.run(run.Succeeded, "", run.Changes{Created: 1})
	g.Expect(w.Delete(t.Context(), secret)).To(Succeed())
	from.Revision = commitB
	w.mustReconcile()
	w.mustReconcile()
	g.Expect(w.events.lines[1:]).To(ConsistOf(HavePrefix("Warning InputsFailed ")), "reported once")
	g.Expect(w.events.about("revision")[2:]).To(Equal([]string{commitB}))

	secret.ResourceVersion = ""
	g.Expect(w.Create(t.Context(), secret)).To(Succeed())
	w.mustReconcile()
	g.Expect(w.runner.started).To(Equal(1), "the inputs are those that were applied")
	g.Expect(w.events.commitStatuses[1:]).To(Equal([]string{"Normal ReconciliationSucceeded Applied revision: " + commitB}),
		"the failure of the commit is taken back")
}

func TestADeletedSourceIsAnnouncedWithTheLastRevision(t *testing.T) {
	g := NewWithT(t)
	w, from := sourceWorld(t)
	from.Revision, from.OriginRevision = ociA, commitA
	w.run(run.Succeeded, "", run.Changes{Created: 1})
	from.err = source.ErrNotFound
	w.mustReconcile()
	g.Expect(w.events.lines[1:]).To(ConsistOf(HavePrefix("Warning " + meta.ArtifactFailedReason)))
	g.Expect(w.events.about("originRevision")).To(HaveEach(commitA))

	from.err = nil
	w.mustReconcile()
	g.Expect(w.events.commitStatuses).To(HaveLen(2))
	tokens := map[string]bool{}
	for i, metadata := range w.events.metadata {
		if metadata["pulumi.com/commit_status"] != "" {
			tokens[w.events.about("token")[i]] = true
		}
	}
	g.Expect(tokens).To(HaveLen(2), "the same words about the same revision are no duplicate")
}

func TestASourceThatIsNotReadyYetIsNoWarning(t *testing.T) {
	g := NewWithT(t)
	w, from := sourceWorld(t)
	from.err = source.ErrNotReady
	w.mustReconcile()
	g.Expect(w.events.lines).To(ConsistOf(HavePrefix("Trace " + meta.ArtifactFailedReason)))
}

func TestALostRunIsAnnouncedWithItsRevision(t *testing.T) {
	g := NewWithT(t)
	w, _ := sourceWorld(t)
	w.mustReconcile()
	lost := w.stack().Status.Run.ID
	w.Holder = v1.RunHolder{Host: "pod-2", Instance: "b"}
	delete(w.runner.runs, lost)
	w.others.gone = true
	w.mustReconcile()
	g.Expect(w.events.lines).To(ConsistOf(HavePrefix("Warning " + v1.RunInterruptedReason)))
	g.Expect(w.events.about("revision")).To(Equal([]string{commitA}))

	w.run(run.Succeeded, "", run.Changes{})
	g.Expect(w.events.lines[1:]).To(Equal([]string{"Normal Progressing Recovery succeeded: no resources in 1s"}))
	g.Expect(w.events.commitStatuses).To(BeEmpty(), "a recovery applies nothing")
}

func TestADestroyIsAnnouncedWithTheDestroyedRevision(t *testing.T) {
	g := NewWithT(t)
	w, _ := sourceWorld(t, func(s *v1.Stack) { s.Spec.DestroyOnFinalize = true })
	w.run(run.Succeeded, "", run.Changes{Created: 1})
	g.Expect(w.Delete(t.Context(), &v1.Stack{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}})).To(Succeed())
	w.run(run.Failed, "in use", run.Changes{})
	g.Expect(w.events.lines[1:]).To(Equal([]string{"Warning DestroyFailed Destroy failed: in use"}))
	g.Expect(w.events.about("revision")).To(HaveEach(commitA))

	w.Now = func() time.Time { return started.Add(v1.DefaultInterval + time.Minute) }
	w.run(run.Succeeded, "", run.Changes{Deleted: 1})
	g.Expect(w.events.lines[2:]).To(Equal([]string{"Normal ReconciliationSucceeded Destroy succeeded: 1 deleted in 1s"}))
	g.Expect(w.events.commitStatuses).To(HaveLen(1), "of the update")
	g.Expect(client.IgnoreNotFound(w.Get(t.Context(), key, &v1.Stack{}))).To(Succeed())
}
