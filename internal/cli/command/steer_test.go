// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/bounded"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/console"
	"github.com/flux-pulumi/pulumi-controller/internal/inventory"
	"github.com/flux-pulumi/pulumi-controller/internal/outputs"
	"github.com/flux-pulumi/pulumi-controller/internal/plan"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

func (w *world) network() *v1.Stack {
	w.t.Helper()
	stack := &v1.Stack{}
	NewWithT(w.t).Expect(w.api.Get(w.t.Context(), types.NamespacedName{Namespace: w.namespace, Name: "network"}, stack)).To(Succeed())
	return stack
}

// keep creates a ConfigMap of the Stack, like the controller.
func (w *world) keep(name, key string, data []byte) {
	w.t.Helper()
	kept := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name}, BinaryData: map[string][]byte{key: data}}
	NewWithT(w.t).Expect(w.api.Create(w.t.Context(), kept)).To(Succeed())
	w.t.Cleanup(func() { _ = w.api.Delete(context.Background(), kept) })
}

func (w *world) status(change func(*v1.StackStatus)) {
	w.t.Helper()
	stack := w.network()
	before := stack.DeepCopy()
	change(&stack.Status)
	NewWithT(w.t).Expect(w.api.Status().Patch(w.t.Context(), stack, client.MergeFrom(before))).To(Succeed())
}

func TestTree(t *testing.T) {
	w := newWorld(t, "tree")
	w.apply("steered")
	w.golden("tree_unknown", "tree stack network", "tree stack absent", "tree stack")
	service := "urn:pulumi:dev::network::lab:index:Service::web"
	data, list, err := inventory.Encode(inventory.List{Resources: []run.Resource{
		{URN: service, Type: "lab:index:Service"},
		{URN: "urn:pulumi:dev::network::lab:index:Service$lab:index:Thing::a", Type: "lab:index:Thing", ID: "thing-1", Parent: service, Protected: true},
		{URN: "urn:pulumi:dev::network::lab:index:Service$lab:index:Thing::b", Type: "lab:index:Thing", ID: "thing-2", Parent: service},
		{URN: "urn:pulumi:dev::network::lab:index:Thing::c", Type: "lab:index:Thing", ID: "thing-3", External: true},
	}})
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	w.status(func(s *v1.StackStatus) {
		s.Inventory = &v1.InventoryStatus{ConfigMap: "network-inventory", Digest: inventory.Digest(data), Count: int32(list.Count())}
	})
	w.golden("tree_gone", "tree stack network")
	w.keep("network-inventory", inventory.Key, data)
	w.golden("tree", "tree stack network", "tree stack network -o json", "tree stack network -o yaml", "tree stack network -o dot")
	w.status(func(s *v1.StackStatus) { s.Inventory.Digest = "sha256:another" })
	w.golden("tree_changed", "tree stack network")
}

func TestOutputsAndHistory(t *testing.T) {
	w := newWorld(t, "outputs")
	w.apply("steered")
	w.golden("outputs", "outputs stack network", "outputs stack network -o json", "outputs stack network --show-secrets", "outputs stack idle",
		"history stack network", "history stack idle", "history stack idle -o json", "history stack idle -o table")
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "out"}, Data: map[string][]byte{"password": []byte("hunter2"), "ports": []byte("[80,443]")}}
	g := NewWithT(t)
	g.Expect(controllerutil.SetControllerReference(w.network(), secret, w.api.Scheme())).To(Succeed())
	g.Expect(w.api.Create(t.Context(), secret)).To(Succeed())
	to := v1.OutputsSecret{Name: "out"}
	stack := w.network()
	stack.Spec.WriteOutputsToSecret = &to
	g.Expect(w.api.Update(t.Context(), stack)).To(Succeed())
	w.golden("outputs_not_yet", "outputs stack network --show-secrets")
	digest, err := outputs.Digest(secret, to)
	g.Expect(err).NotTo(HaveOccurred())
	succeeded := &v1.LastRun{Operation: v1.OperationUpdate, State: v1.UpdateSucceeded}
	w.status(func(s *v1.StackStatus) {
		s.OutputsSecret, s.LastRun = &v1.OutputsSecretStatus{Name: to.Name, Digest: digest}, succeeded
	})
	w.golden("outputs_secret", "outputs stack network --show-secrets -o json", "outputs stack network")
	w.status(func(s *v1.StackStatus) {
		s.LastRun = &v1.LastRun{Operation: v1.OperationPropose, State: v1.UpdateSucceeded, UpdateState: v1.UpdateSucceeded}
	})
	w.golden("outputs_secret", "outputs stack network --show-secrets -o json", "outputs stack network")
	w.allow("outputs-reader", events, stacks)
	w.golden("outputs_forbidden", "outputs stack network --show-secrets --as outputs-reader", "outputs stack network --as outputs-reader")

	w.status(func(s *v1.StackStatus) {
		s.LastRun = &v1.LastRun{Operation: v1.OperationUpdate, State: v1.UpdateFailed}
	})
	w.golden("outputs_last_failed", "outputs stack network --show-secrets")
	w.status(func(s *v1.StackStatus) {
		s.LastRun = &v1.LastRun{Operation: v1.OperationRecover, State: v1.UpdateSucceeded}
	})
	w.golden("outputs_recovered", "outputs stack network --show-secrets")
	w.status(func(s *v1.StackStatus) { s.LastRun = succeeded })
	changed := secret.DeepCopy()
	changed.Data["password"] = []byte("hunter3")
	g.Expect(w.api.Update(t.Context(), changed)).To(Succeed())
	w.golden("outputs_changed", "outputs stack network --show-secrets")
	suspend := func(is bool) {
		stack := w.network()
		stack.Spec.Suspend = is
		g.Expect(w.api.Update(t.Context(), stack)).To(Succeed())
	}
	suspend(true)
	w.golden("outputs_changed_suspended", "outputs stack network --show-secrets")
	suspend(false)
	changed.Data = map[string][]byte{"url": []byte("https://old.example.com")}
	g.Expect(w.api.Update(t.Context(), changed)).To(Succeed())
	digest, err = outputs.Digest(changed, to)
	g.Expect(err).NotTo(HaveOccurred())
	w.status(func(s *v1.StackStatus) { s.OutputsSecret.Digest = digest })
	w.golden("outputs_of_another", "outputs stack network --show-secrets")
	changed.Data = map[string][]byte{"ports": []byte("[80,443]")}
	g.Expect(w.api.Update(t.Context(), changed)).To(Succeed())
	digest, err = outputs.Digest(changed, to)
	g.Expect(err).NotTo(HaveOccurred())
	w.status(func(s *v1.StackStatus) { s.OutputsSecret.Digest = digest })
	w.golden("outputs_left_out", "outputs stack network --show-secrets")
	w.status(func(s *v1.StackStatus) { s.OutputsSecret.Digest = "" })
	w.golden("outputs_unwritten", "outputs stack network --show-secrets")
	w.status(func(s *v1.StackStatus) {
		s.OutputsSecret.Failure = &v1.OutputsFailure{Message: "The outputs cannot be written: the stack has no output \"a\"", Generation: 1}
	})
	w.golden("outputs_failed", "outputs stack network --show-secrets")
}

func TestCancelRefuses(t *testing.T) {
	w := newWorld(t, "cancel-refuses")
	w.apply("steered")
	w.golden("cancel_refuses", "cancel stack network", "cancel stack network --now", "cancel stack absent", "cancel stack")
}

// answerTo plays the controller: it changes the status once the Stack has the annotation.
func (w *world) answerTo(annotation string, change func(value string, s *v1.StackStatus)) {
	go func() {
		_ = wait.PollUntilContextCancel(w.t.Context(), 5*time.Millisecond, true, func(ctx context.Context) (bool, error) {
			stack := &v1.Stack{}
			if err := w.api.Get(ctx, types.NamespacedName{Namespace: w.namespace, Name: "network"}, stack); err != nil {
				return false, err
			}
			value, ok := stack.Annotations[annotation]
			if !ok {
				return false, nil
			}
			before := stack.DeepCopy()
			change(value, &stack.Status)
			return true, w.api.Status().Patch(ctx, stack, client.MergeFrom(before))
		}) // an unanswered command fails the test
	}()
}

func TestCancel(t *testing.T) {
	w := newWorld(t, "cancel")
	w.apply("steered")
	w.status(func(s *v1.StackStatus) {
		s.Run = &v1.RunStatus{ID: "run-1", Operation: v1.OperationUpdate, Generation: 1, Holder: v1.RunHolder{Host: "a", Instance: "b"}, StartedAt: metav1.Time{Time: now}}
	})
	w.answerTo(v1.CancelRunNowAnnotation, func(id string, s *v1.StackStatus) {
		s.Run = nil
		s.CancelledRun = &v1.CancelledRun{ID: id, Operation: v1.OperationUpdate, Generation: 1, Message: "Update was cancelled on request"}
	})
	w.golden("cancel", "cancel stack network --now")
}

func TestCancelFailsIfTheRunEndedBefore(t *testing.T) {
	for state, message := range map[v1.UpdateState]string{
		v1.UpdateSucceeded: "run run-1 succeeded before it could be cancelled",
		v1.UpdateFailed:    "run run-1 failed before it could be cancelled: no such bucket",
	} {
		t.Run(string(state), func(t *testing.T) {
			g := NewWithT(t)
			w := newWorld(t, "cancel-"+string(state))
			w.apply("steered")
			w.status(func(s *v1.StackStatus) {
				s.Run = &v1.RunStatus{ID: "run-1", Operation: v1.OperationUpdate, Generation: 1, Holder: v1.RunHolder{Host: "a", Instance: "b"}, StartedAt: metav1.Time{Time: now}}
			})
			w.answerTo(v1.CancelRunAnnotation, func(id string, s *v1.StackStatus) {
				s.Run, s.LastRun = nil, &v1.LastRun{ID: id, Operation: v1.OperationUpdate, State: state, Message: "no such bucket"}
			})
			done := w.run("cancel stack network")
			g.Expect(done.exit).To(Equal(1), done.err)
			g.Expect(done.err).To(HaveSuffix("✗ " + message + "\n"))
		})
	}
}

func TestCancelReportsHowTheRunEnded(t *testing.T) {
	const waits = "Update was cancelled on request and starts again only with a new revision"
	last := func(id string, state v1.UpdateState, reason, message string) *v1.LastRun {
		return &v1.LastRun{ID: id, State: state, Reason: reason, Message: message}
	}
	for name, test := range map[string]struct {
		status       v1.StackStatus
		printed, err string
	}{
		"cancelled": {v1.StackStatus{CancelledRun: &v1.CancelledRun{ID: "run-1", Message: waits}}, waits, ""},
		"cancelled, and the next run has started": {
			v1.StackStatus{LastRun: last("run-1", v1.UpdateFailed, v1.CancelRequestedReason, waits), Run: &v1.RunStatus{ID: "run-2"}}, waits, "",
		},
		"failed":                              {v1.StackStatus{LastRun: last("run-1", v1.UpdateFailed, v1.UpdateFailedReason, "no bucket")}, "", "failed before it could be cancelled: no bucket"},
		"succeeded":                           {v1.StackStatus{LastRun: last("run-1", v1.UpdateSucceeded, "", "")}, "", "succeeded before"},
		"a preview on request that succeeded": {v1.StackStatus{Preview: &v1.PreviewStatus{Run: "run-1", State: v1.UpdateSucceeded}}, "", "succeeded before"},
		"a preview on request that was ended": {v1.StackStatus{Preview: &v1.PreviewStatus{Run: "run-1", State: v1.UpdateFailed}}, "run run-1 has ended", ""},
		"known only of another run": {
			v1.StackStatus{LastRun: last("run-0", v1.UpdateSucceeded, "", ""), CancelledRun: &v1.CancelledRun{ID: "run-0", Message: waits}}, "run run-1 has ended", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			var printed strings.Builder
			err := (&session{Console: console.New(&printed, false, nil)}).cancelled(&v1.Stack{Status: test.status}, "run-1")
			if test.err != "" {
				g.Expect(err).To(MatchError(ContainSubstring(test.err)))
				g.Expect(printed.String()).To(BeEmpty())
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(printed.String()).To(Equal("✔ " + test.printed + "\n"))
		})
	}
}

func TestCancelSaysThatNoControllerTookItUp(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	w := newWorld(t, "cancel-unheard")
	w.apply("steered")
	w.status(func(s *v1.StackStatus) {
		s.Run = &v1.RunStatus{ID: "run-1", Operation: v1.OperationUpdate, Generation: 1, Holder: v1.RunHolder{Host: "a", Instance: "b"}, StartedAt: metav1.Time{Time: now}}
	})
	done := w.run("cancel stack network --timeout 5s")
	g.Expect(done.exit).To(Equal(exitFailed))
	g.Expect(done.err).To(ContainSubstring("run run-1 was already in flight, and its controller reported nothing about it since"))
}

func TestCancelDoesNotReportTheEndOfARunThatIsGoneWithItsStack(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, "cancel-deleted")
	w.apply("steered")
	w.status(func(s *v1.StackStatus) {
		s.Run = &v1.RunStatus{ID: "run-1", Operation: v1.OperationUpdate, Generation: 1, Holder: v1.RunHolder{Host: "a", Instance: "b"}, StartedAt: metav1.Time{Time: now}}
	})
	stack := w.network()
	stack.Finalizers = []string{"example.com/test"}
	g.Expect(w.api.Update(t.Context(), stack)).To(Succeed())
	g.Expect(w.api.Delete(t.Context(), stack)).To(Succeed())
	release := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))
	t.Cleanup(func() { _ = w.api.Patch(context.Background(), stack.DeepCopy(), release) })
	looks := 0
	w.env.Now = func() time.Time { // also called whenever progress is drawn
		if looks++; looks == 10 {
			g.Expect(w.api.Patch(t.Context(), stack.DeepCopy(), release)).To(Succeed())
		}
		return now
	}
	done := w.run("cancel stack network")
	g.Expect(done.exit).To(Equal(0), done.err)
	g.Expect(done.err).To(HaveSuffix("✔ run run-1 has ended and the Stack is deleted\n"))
}

func TestPreview(t *testing.T) {
	encoded := func(p plan.Plan) []byte {
		data, err := inventory.EncodePlan(p)
		NewWithT(t).Expect(err).NotTo(HaveOccurred())
		return data
	}
	values := func(old, now string) plan.Change {
		return plan.Change{Old: json.RawMessage(old), New: json.RawMessage(now)}
	}
	data := encoded(plan.Plan{
		Steps: []plan.Step{
			{Op: plan.OpCreate, URN: "urn:pulumi:dev::network::lab:index:Thing::a", Type: "lab:index:Thing"},
			{Op: plan.OpUpdate, URN: "urn:pulumi:dev::network::lab:index:Thing::b", Type: "lab:index:Thing", Properties: []plan.Property{
				{Path: "value", Kind: plan.KindUpdate, Change: values(`"x"`, `"\u001b[31m"`)},
			}},
		},
		Outputs: []plan.Output{{Name: "size", Change: values("1", "2")}},
	})
	kept := encoded(plan.Plan{Steps: []plan.Step{
		{Op: plan.OpReplace, URN: "urn:pulumi:dev::network::lab:index:Thing::a", Type: "lab:index:Thing", Properties: []plan.Property{
			{Path: "name", Kind: plan.KindUpdate, Replaces: true, Change: values(`"a"`, `"b"`)},
		}},
		{Op: plan.OpRetain, URN: "urn:pulumi:dev::network::lab:index:Thing::b", Type: "lab:index:Thing"},
	}})
	outputs := encoded(plan.Plan{Outputs: []plan.Output{{Name: "size", Change: values("1", "2")}}})
	none := encoded(plan.Plan{})
	earlier, _, err := bounded.Pack(json.RawMessage(`{"steps":[
		{"op":"update","urn":"urn:pulumi:dev::network::lab:index:Thing::b","type":"lab:index:Thing","paths":["value","tags"]},
		{"op":"delete","urn":"urn:pulumi:dev::network::lab:index:Thing::c","type":"lab:index:Thing"}],"leftOut":1}`))
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	for name, test := range map[string]struct {
		data    []byte
		preview v1.PreviewStatus
	}{
		"changes":           {data, v1.PreviewStatus{State: v1.UpdateSucceeded, ResourceChanges: v1.ResourceChanges{Created: 1, Updated: 1, Same: 3}}},
		"retained":          {kept, v1.PreviewStatus{State: v1.UpdateSucceeded, ResourceChanges: v1.ResourceChanges{Replaced: 1, Retained: 2}}},
		"unlisted":          {none, v1.PreviewStatus{State: v1.UpdateSucceeded, ResourceChanges: v1.ResourceChanges{Deleted: 2, Same: 3}}},
		"outputs":           {outputs, v1.PreviewStatus{State: v1.UpdateSucceeded, ResourceChanges: v1.ResourceChanges{Same: 3}}},
		"earlier":           {earlier, v1.PreviewStatus{State: v1.UpdateSucceeded, ResourceChanges: v1.ResourceChanges{Updated: 1, Deleted: 2}}},
		"none":              {none, v1.PreviewStatus{State: v1.UpdateSucceeded}},
		"failed":            {none, v1.PreviewStatus{State: v1.UpdateFailed, Message: "the program has a fault"}},
		"changes_markdown":  {data, v1.PreviewStatus{State: v1.UpdateSucceeded, ResourceChanges: v1.ResourceChanges{Created: 1, Updated: 1, Same: 3}}},
		"unlisted_markdown": {none, v1.PreviewStatus{State: v1.UpdateSucceeded, ResourceChanges: v1.ResourceChanges{Deleted: 2, Same: 3}}},
		"none_markdown":     {none, v1.PreviewStatus{State: v1.UpdateSucceeded}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, "preview-"+strings.ReplaceAll(name, "_", "-"))
			w.apply("steered")
			w.keep("network-preview", inventory.PlanKey, test.data)
			w.answerTo(v1.PreviewRequestAnnotation, func(request string, s *v1.StackStatus) {
				preview := test.preview
				preview.Request, preview.Revision, preview.EndedAt = request, "3@sha256:abc", &metav1.Time{Time: now}
				preview.ConfigMap, preview.Digest = "network-preview", inventory.Digest(test.data)
				s.Preview = &preview
			})
			line := "preview stack network"
			if strings.HasSuffix(name, "_markdown") {
				line += " -o markdown"
			}
			w.golden("preview_"+name, line)
		})
	}
	w := newWorld(t, "preview-refuses")
	w.apply("steered")
	w.golden("preview_refuses", "preview stack idle", "preview stack absent", "preview stack idle --path=", "preview stack idle -o dot", "preview stack idle --unknown", "preview stacks")
}

// aDigest matches a digest of inputs.
var aDigest = regexp.MustCompile("sha256:[0-9a-f]{64}")

func TestDebug(t *testing.T) {
	w := newWorld(t, "debug")
	w.apply("steered")
	w.status(func(s *v1.StackStatus) { // its finalizer is gone, and so is spec.writeOutputsToSecret
		s.ProjectInfo, s.OutputsSecret = &v1.ProjectInfo{Name: "network"}, &v1.OutputsSecretStatus{Name: "outputs"}
	})
	var text strings.Builder
	for _, line := range []string{"debug stack network", "debug stack configured", "debug stack lacking", "debug stack partly", "debug stack secretive", "debug stack fresh", "debug stack idle", "debug stack cloned", "debug stack absent"} {
		text.WriteString(w.run(line).transcript() + "\n")
	}
	NewWithT(t).Expect(text.String()).NotTo(ContainSubstring("hunter2"))
	compare(t, "debug", aDigest.ReplaceAllString(text.String(), "sha256:..."))
}

// TestDebugNamesStacksThatShareAStack has Stacks of two namespaces, and one that only previews.
func TestDebugNamesStacksThatShareAStack(t *testing.T) {
	g := NewWithT(t)
	w, other := newWorld(t, "debug-shared"), newWorld(t, "debug-shared-other")
	w.allow("shared-reader", events, stacks, rbacv1.PolicyRule{APIGroups: []string{v1.GroupVersion.Group}, Resources: []string{"programs", "policysets"}})
	for _, stack := range []*v1.Stack{
		{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "network"}},
		{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "copy"}},
		{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "preview"}, Spec: v1.StackSpec{Preview: true}},
		{ObjectMeta: metav1.ObjectMeta{Namespace: other.namespace, Name: "network"}},
	} {
		stack.Spec.Stack, stack.Spec.Backend, stack.Spec.ProgramRef = "dev", "gs://shared-by-debug", &v1.ProgramReference{Name: "network"}
		g.Expect(w.api.Create(t.Context(), stack)).To(Succeed())
		t.Cleanup(func() { _ = w.api.Delete(context.Background(), stack) })
		stack.Status.ProjectInfo = &v1.ProjectInfo{Name: "network", Backend: "gs://shared-by-debug"}
		g.Expect(w.api.Status().Update(t.Context(), stack)).To(Succeed())
	}
	const copied, elsewhere = "⚠️ Stack debug-shared/copy updates the same stack, dev, so that each undoes what the other does: ",
		"⚠️ Stack debug-shared-other/network updates the same stack, dev, "
	g.Expect(w.run("debug stack network").err).To(And(ContainSubstring(copied), ContainSubstring(elsewhere)))
	g.Expect(w.run("debug stack preview").err).NotTo(ContainSubstring("updates the same stack"))
	reader := w.run("debug stack network --as shared-reader").err
	g.Expect(reader).To(And(ContainSubstring(copied), Not(ContainSubstring(elsewhere))))
	g.Expect(reader).To(ContainSubstring("the controller may decide differently: failed to list the Stacks that update the same stack as Stack debug-shared/network: "))
}

func TestADumbTerminalGetsNoEscapes(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, "dumb")
	w.apply("steered")
	w.env.OutIsTerminal, w.env.ErrIsTerminal = true, true
	waits := func() string {
		ctx, interrupt := context.WithCancel(t.Context())
		defer interrupt()
		looks := 0
		w.env.Now = func() time.Time { // also called whenever progress is drawn
			if looks++; looks == 20 {
				interrupt()
			}
			return now
		}
		return w.start(ctx, "reconcile stack network").err
	}
	g.Expect(waits()).To(And(ContainSubstring("◎ waiting"), ContainSubstring("\x1b[")))
	w.env.Getenv = func(name string) string { return map[string]string{"TERM": "dumb"}[name] }
	g.Expect(waits()).To(And(ContainSubstring("◎ waiting"), Not(ContainSubstring("\x1b"))))
}
