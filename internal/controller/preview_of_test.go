// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/plan"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/stackstatus"
)

const changeRequestAnnotation = "event.toolkit.fluxcd.io/change_request"

var realKey = client.ObjectKey{Namespace: "apps", Name: "network"}

// pullRequestWorld has the Stack apps/network, which needs approvals, and a preview of it in the namespace default with
// another account and other variables.
func pullRequestWorld(t *testing.T, edit func(previewed *v1.Stack, preview *v1.Stack)) *world {
	t.Helper()
	secretRef := func(name string) map[string]v1.ResourceRef {
		return map[string]v1.ResourceRef{"TOKEN": {Type: v1.ResourceRefSecret, Secret: &v1.SecretKeyReference{Name: name, Key: "token"}}}
	}
	previewed := &v1.Stack{ObjectMeta: metav1.ObjectMeta{Namespace: realKey.Namespace, Name: realKey.Name, Generation: 1, UID: "real"}, Spec: v1.StackSpec{
		Stack: "organization/app/dev", Backend: "file:///state", ServiceAccountName: "deployer", EnvRefs: secretRef("cloud"),
		FluxSource: &v1.FluxSource{SourceRef: v1.SourceReference{Kind: "GitRepository", Name: "app"}},
		Approval:   &v1.Approval{Require: v1.ApprovalAlways, PreviewNamespaces: []string{"others", key.Namespace}},
	}}
	w, _ := sourceWorld(t, func(s *v1.Stack) {
		s.Annotations = map[string]string{changeRequestAnnotation: "7"}
		s.Spec.Preview, s.Spec.PreviewOf = true, &v1.PreviewedStackReference{Namespace: realKey.Namespace, Name: realKey.Name}
		s.Spec.ServiceAccountName, s.Spec.EnvRefs = "reader", secretRef("read-only")
		if edit != nil {
			edit(previewed, s)
		}
	})
	w.Namespace = "flux-system"
	for _, object := range []client.Object{
		previewed,
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "apps", Name: "cloud", UID: "1"}, Data: map[string][]byte{"token": []byte("admin-canary")}},
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "read-only", UID: "2"}, Data: map[string][]byte{"token": []byte("reader")}},
	} {
		NewWithT(t).Expect(w.Create(t.Context(), object)).To(Succeed())
	}
	return w
}

// startedRun returns the run that the Stack has started.
func (w *world) startedRun(of client.ObjectKey) run.Run {
	w.t.Helper()
	g, stack := NewWithT(w.t), &v1.Stack{}
	_, err := w.Reconcile(w.t.Context(), ctrl.Request{NamespacedName: of})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(w.Get(w.t.Context(), of, stack)).To(Succeed())
	g.Expect(stack.Status.Run).NotTo(BeNil(), "%v", stack.Status.Conditions)
	return w.runner.runs[stack.Status.Run.ID]
}

func TestAPreviewIsComparedWithTheStackThatItNames(t *testing.T) {
	g := NewWithT(t)
	w := pullRequestWorld(t, nil)
	preview, proposal := w.startedRun(key), w.startedRun(realKey)
	g.Expect(preview).To(And(HaveField("Operation", run.Preview), HaveField("WantsPlan", true), HaveField("Comparable", true), HaveField("PlanKey", HaveLen(64))))
	g.Expect(preview.PlanKey).To(Equal(proposal.PlanKey))
	g.Expect(preview.PlanInputs).To(Equal(proposal.PlanInputs))
	g.Expect(w.stack().Status.Run.Incomparable).To(BeEmpty())

	g.Expect(preview.Env).To(HaveKeyWithValue("TOKEN", "reader"), "it has its own inputs and account")
	g.Expect(preview.Account.Name).To(Equal("reader"))
	g.Expect(preview).NotTo(HaveField("Masks", ContainElement("admin-canary")))
	g.Expect(w.events.commitStatuses).To(HaveExactElements(HavePrefix("Normal Progressing Previewing revision " + commitA)))
}

func TestAPreviewOfASuspendedStackHasItsPacks(t *testing.T) {
	g := NewWithT(t)
	inputs := func(isSuspended bool) (preview, proposal string) {
		w := pullRequestWorld(t, func(previewed, _ *v1.Stack) { previewed.Spec.Suspend = isSuspended })
		w.PackSources = &packSources{digests: map[string]string{"guard": "sha256:1"}}
		w.createSet(policySet("guard", v1.PolicyEnforce))
		if !isSuspended {
			proposal = w.startedRun(realKey).PlanInputs
		}
		return w.startedRun(key).PlanInputs, proposal
	}
	preview, proposal := inputs(false)
	g.Expect(preview).To(Equal(proposal))
	suspended, _ := inputs(true)
	g.Expect(suspended).To(Equal(proposal))
}

// What the comment shows is outdated once the Stack itself has changed something.
func TestAPreviewRunsAgainAfterTheStackThatItNamesHasChanged(t *testing.T) {
	g := NewWithT(t)
	w := pullRequestWorld(t, nil)
	made := planOf(plan.OpUpdate, "a")
	made.State = "sha256:state"
	preview := func() {
		t.Helper()
		w.mustReconcile()
		w.endWith(run.Succeeded, made)
		w.mustReconcile()
	}
	preview()
	g.Expect(w.runner.started).To(Equal(1))

	runs := func(id string, changed string) {
		stack := &v1.Stack{}
		g.Expect(w.Get(t.Context(), realKey, stack)).To(Succeed())
		before := stack.DeepCopy()
		metadata := map[string]string{"run": id, "changedIn": changed}
		stack.Status.History.Upsert("sha256:inputs", started, 0, meta.ReconciliationSucceededReason, metadata)
		g.Expect(w.Status().Update(t.Context(), stack)).To(Succeed())
		passes := stackMovedPredicate().Update(event.UpdateEvent{ObjectOld: before, ObjectNew: stack})
		g.Expect(passes).To(Equal(changed != stackstatus.LastChange(before)))
	}
	runs("one", "one")
	preview()
	g.Expect(w.runner.started).To(Equal(2), "once")
	g.Expect(w.stack().Status.Plan.AfterRun).To(Equal("one"))
	runs("two", "one")
	w.mustReconcile()
	g.Expect(w.runner.started).To(Equal(2), "a run that has changed nothing")
	g.Expect(w.stacksThatUse(previewedIndex, objectKey)(t.Context(), &v1.Stack{ObjectMeta: metav1.ObjectMeta{Namespace: "apps", Name: "network"}})).To(
		ConsistOf(ctrl.Request{NamespacedName: key}))
}

func TestAPreviewThatCannotBeComparedSaysWhy(t *testing.T) {
	for name, test := range map[string]struct {
		edit func(previewed, preview *v1.Stack)
		why  string
	}{
		"it is not allowed": {func(previewed, _ *v1.Stack) { previewed.Spec.Approval.PreviewNamespaces = []string{"others"} },
			"there is no Stack apps/network, or its spec.approval.previewNamespaces does not list the namespace default"},
		"there is no approval": {func(previewed, _ *v1.Stack) { previewed.Spec.Approval = nil },
			"there is no Stack apps/network, or its spec.approval.previewNamespaces does not list the namespace default"},
		"it is not allowed, and another stack": {func(previewed, _ *v1.Stack) {
			previewed.Spec.Approval, previewed.Spec.Backend = nil, "file:///secret-place"
		},
			"there is no Stack apps/network, or its spec.approval.previewNamespaces does not list the namespace default"},
		"there is no such Stack": {func(_, preview *v1.Stack) { preview.Spec.PreviewOf.Name = "nothing" },
			"there is no Stack apps/nothing, or its spec.approval.previewNamespaces does not list the namespace default"},
		"there is no such Stack in the namespace": {func(_, preview *v1.Stack) { preview.Spec.PreviewOf = &v1.PreviewedStackReference{Name: "nothing"} },
			"there is no Stack default/nothing, which spec.previewOf names"},
		"it is a preview of itself": {func(_, preview *v1.Stack) { preview.Spec.PreviewOf = &v1.PreviewedStackReference{Name: "app"} },
			"Stack default/app, which spec.previewOf names, only previews itself"},
		"the inputs of the other are not there": {func(previewed, _ *v1.Stack) {
			ref := previewed.Spec.EnvRefs["TOKEN"]
			ref.Secret = &v1.SecretKeyReference{Name: "gone-canary", Key: "token"}
			previewed.Spec.EnvRefs["TOKEN"] = ref
		}, "the inputs of Stack apps/network cannot be resolved with the program of this preview"},
		"it names none": {func(_, preview *v1.Stack) { preview.Spec.PreviewOf = nil }, "spec.previewOf names no Stack that the plan could be approved for"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			w := pullRequestWorld(t, test.edit)
			preview := w.startedRun(key)
			g.Expect(preview).To(And(HaveField("WantsPlan", true), HaveField("Comparable", true)))
			g.Expect(preview.PlanKey).To(Equal(w.keyOf("default", "organization/app/dev")), "its own")
			g.Expect(w.stack().Status.Run.Incomparable).To(Equal(test.why))
			p := planOf(plan.OpDelete, "a")
			p.State = "sha256:state"
			w.endWith(run.Succeeded, p)
			g.Expect(w.stack().Status.Plan).To(And(HaveField("State", v1.PlanPreviewed), HaveField("Message", test.why)))
		})
	}
}

func TestAStackInTheSameNamespaceNeedsNotAllowItsPreviews(t *testing.T) {
	g := NewWithT(t)
	w := pullRequestWorld(t, func(previewed, preview *v1.Stack) {
		previewed.Namespace, previewed.Spec.EnvRefs, previewed.Spec.Approval = "default", preview.Spec.EnvRefs, nil
		preview.Spec.PreviewOf = &v1.PreviewedStackReference{Name: realKey.Name}
	})
	w.startedRun(key)
	g.Expect(w.stack().Status.Run.Incomparable).To(BeEmpty())
}

func TestAPreviewOfAnotherStackIsRefused(t *testing.T) {
	for name, test := range map[string]struct {
		edit    func(previewed, preview *v1.Stack)
		message string
	}{
		"another stack": {func(previewed, _ *v1.Stack) { previewed.Spec.Stack = "organization/app/prod" },
			"spec.stack must be that of the Stack apps/network in spec.previewOf, organization/app/prod"},
		"another backend":   {func(previewed, _ *v1.Stack) { previewed.Spec.Backend = "" }, "spec.backend must be that of the Stack apps/network in spec.previewOf"},
		"no preview at all": {func(_, preview *v1.Stack) { preview.Spec.Preview = false }, "spec.previewOf: belongs to a Stack with preview: true"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			w := pullRequestWorld(t, test.edit)
			w.mustReconcile()
			g.Expect(w.runner.started).To(BeZero())
			g.Expect(conditions.GetReason(w.stack(), meta.StalledCondition)).To(Equal(v1.InvalidSpecReason))
			g.Expect(conditions.GetMessage(w.stack(), meta.StalledCondition)).To(ContainSubstring(test.message))
		})
	}
}

// What is only previewed waits for nobody, whatever the annotations say.
func TestThePlanOfAPreviewIsKeptAndWaitsForNobody(t *testing.T) {
	g := NewWithT(t)
	w := pullRequestWorld(t, nil)
	end := func(p *plan.Plan) *v1.PlanStatus {
		w.mustReconcile()
		w.endWith(run.Succeeded, p)
		return w.stack().Status.Plan
	}
	deletes := planOf(plan.OpDelete, "a")
	deletes.State = "sha256:state"
	first := end(deletes)
	g.Expect(first).To(And(HaveField("Digest", deletes.Digest()), HaveField("State", v1.PlanPreviewed), HaveField("Operation", v1.OperationUpdate),
		HaveField("Revision", commitA), HaveField("Deleted", int32(1)), HaveField("Destructive", true), HaveField("Message", ""), HaveField("ConfigMap", Not(BeEmpty()))))
	g.Expect(conditions.IsReady(w.stack())).To(BeTrue())
	for _, annotation := range []string{v1.ApproveAnnotation, v1.RejectAnnotation} {
		w.annotate(annotation, deletes.Digest())
	}
	w.mustReconcile()
	g.Expect(w.runner.started).To(Equal(1))
	g.Expect(w.stack().Status.Plan).To(Equal(first))
	g.Expect(conditions.IsReady(w.stack())).To(BeTrue())

	w.annotate(meta.ReconcileRequestAnnotation, "again")
	again := end(deletes)
	g.Expect(again).To(And(HaveField("Run", first.Run), HaveField("ProposedAt", first.ProposedAt), HaveField("CheckedAt", Not(BeNil()))), "the same plan")

	w.annotate(meta.ReconcileRequestAnnotation, "once more")
	withoutState := planOf(plan.OpCreate, "b")
	g.Expect(end(withoutState).Message).To(ContainSubstring("no update can be held to the plan"), "of the pod of an earlier version")
	plans := &corev1.ConfigMapList{}
	g.Expect(w.List(t.Context(), plans, client.HasLabels{"pulumi.com/plan-of"})).To(Succeed())
	g.Expect(plans.Items).To(HaveLen(1), "the former one is gone")

	w.edit(func(s *v1.Stack) { s.Spec.Preview, s.Spec.PreviewOf, s.Generation = false, nil, s.Generation+1 })
	w.mustReconcile()
	g.Expect(w.stack().Status.Run.Operation).To(Equal(v1.OperationUpdate), "it is no approval, and none is needed")
	g.Expect(w.stack().Status.Run.Approved).To(BeEmpty())
	g.Expect(w.stack().Status.Plan).To(BeNil())
	g.Expect(w.List(t.Context(), plans, client.HasLabels{"pulumi.com/plan-of"})).To(Succeed())
	g.Expect(plans.Items).To(BeEmpty())
}

func TestAPreviewWithoutAPullRequestMakesNoPlan(t *testing.T) {
	g := NewWithT(t)
	w, _ := sourceWorld(t, func(s *v1.Stack) { s.Spec.Preview = true })
	preview := w.startedRun(key)
	g.Expect(preview).To(And(HaveField("WantsPlan", false), HaveField("Comparable", false), HaveField("PlanKey", "")))
	w.endRun(run.Succeeded, "", run.Changes{Created: 1})
	g.Expect(w.stack().Status.Plan).To(BeNil())
}

func TestACommitThatChangesNothingIsPreviewedForAPullRequest(t *testing.T) {
	g := NewWithT(t)
	w, from := sourceWorld(t, func(s *v1.Stack) {
		s.Spec.Preview, s.Annotations = true, map[string]string{changeRequestAnnotation: "7"}
	})
	w.run(run.Succeeded, "", run.Changes{Same: 1})
	w.mustReconcile()
	g.Expect(w.runner.started).To(Equal(1))

	from.Revision = commitB
	w.run(run.Succeeded, "", run.Changes{Same: 1})
	w.mustReconcile()
	g.Expect(w.runner.started).To(Equal(2), "once for the commit")
	g.Expect(w.events.lines).To(HaveExactElements(
		HavePrefix("Normal ReconciliationSucceeded Previewed revision "+commitA), HavePrefix("Normal ReconciliationSucceeded Previewed revision "+commitB)))
	g.Expect(w.events.commitStatuses).To(HaveExactElements(
		HavePrefix("Normal Progressing Previewing revision "+commitA), HavePrefix("Normal ReconciliationSucceeded Previewed revision "+commitA),
		HavePrefix("Normal Progressing Previewing revision "+commitB), HavePrefix("Normal ReconciliationSucceeded Previewed revision "+commitB)))
}

// Whatever the spec asks for, and whatever happens: the stack belongs to another Stack.
func TestAPreviewOfAPullRequestOnlyEverPreviews(t *testing.T) {
	g := NewWithT(t)
	w := pullRequestWorld(t, func(_, preview *v1.Stack) {
		preview.Spec.DestroyOnFinalize, preview.Spec.PendingCreates = true, v1.PendingCreatesClear
		preview.Spec.WriteOutputsToSecret = &v1.OutputsSecret{Name: "outputs"}
		preview.Spec.Drift = &v1.Drift{Interval: &metav1.Duration{Duration: time.Hour}, Mode: v1.DriftCorrect}
		preview.Spec.Approval = &v1.Approval{Require: v1.ApprovalAlways}
		preview.Status.UnknownCreates = []string{"urn:pulumi:dev::app::lab:index:Thing::a"}
	})
	previews := func() {
		t.Helper()
		g.Expect(w.startedRun(key)).To(And(HaveField("Operation", run.Preview), HaveField("Comparable", true), HaveField("Outputs", BeNil()), HaveField("ClearPendingCreates", false)))
	}
	g.Expect(w.stack().Status.UnknownCreates).NotTo(BeEmpty())
	previews()
	w.endRun(run.Failed, "no luck", run.Changes{})
	w.annotate(meta.ReconcileRequestAnnotation, "again")
	previews()

	w.runner = newTestRunner() // the controller is killed
	w.Runner, w.Holder.Instance, w.others.gone = w.runner, "b", true
	w.mustReconcile()
	g.Expect(w.stack().Status.Interrupted).To(BeEmpty(), "there is nothing to recover from")
	w.passTime(v1.DefaultInterval) // it failed before
	previews()
	p := planOf(plan.OpDelete, "a")
	p.State = "sha256:state"
	w.endWith(run.Succeeded, p)
	w.mustReconcile()
	g.Expect(w.runner.started).To(Equal(1), "there is nothing to correct, to read or to propose")
	g.Expect(apierrors.IsNotFound(w.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "outputs"}, &corev1.Secret{}))).To(BeTrue())

	w.annotate(meta.ReconcileRequestAnnotation, "once more")
	previews()
	g.Expect(w.Delete(t.Context(), w.stack())).To(Succeed())
	w.endRun(run.Succeeded, "", run.Changes{})
	w.mustReconcile()
	g.Expect(w.deleted()).To(BeTrue())
	g.Expect(w.runner.started).To(Equal(2), "and nothing to destroy")
}
