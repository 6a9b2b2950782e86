// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	"github.com/fluxcd/pkg/runtime/conditions/check"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/cloud"
	"github.com/flux-pulumi/pulumi-controller/tests/failure"
)

const (
	// patience is how long to wait for anything that takes one run. It is long because the machine may be busy.
	patience = 4 * time.Minute
	polling  = 100 * time.Millisecond
	// passphrase of the stacks in tests that are about something else.
	passphrase = "passphrase-of-the-lab"
)

// tenant is a user with a namespace, a backend and a cloud of their own.
type tenant struct {
	*failure.Assertions
	*world
	test      *testing.T
	ctx       context.Context
	namespace string
	// backend is the directory of the backend, and place that of the cloud.
	backend, place string
	cloud          *cloud.Cloud
}

// newTenant sets up a test. At its end it releases the Stacks, so that they do not run beside other tests.
func newTenant(test *testing.T, w *world) *tenant {
	test.Helper()
	t := moveIn(test, w)
	test.Cleanup(t.leave)
	return t
}

// moveIn makes a tenant of a world that may not have the controller yet.
func moveIn(test *testing.T, w *world) *tenant {
	test.Helper()
	name := regexp.MustCompile("[^a-z0-9]+").ReplaceAllString(strings.ToLower(test.Name()), "-")
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: strings.Trim(name[:min(len(name), 50)], "-") + "-"}}
	NewWithT(test).Expect(w.Create(test.Context(), namespace)).To(Succeed())
	return moveInto(test, w, namespace.Name)
}

// moveInto makes a tenant of a namespace that is there.
func moveInto(test *testing.T, w *world, namespace string) *tenant {
	test.Helper()
	t := &tenant{Assertions: failure.NewAssertions(test, w.ControlPlane.Context()), world: w, test: test, ctx: test.Context(), namespace: namespace}
	t.SetDefaultEventuallyTimeout(patience)
	t.SetDefaultEventuallyPollingInterval(polling)
	dir := filepath.Join(w.dir, "tenants", t.namespace)
	// The sandbox of runs has the cloud, and of the backend only what a Stack names.
	t.backend, t.place = filepath.Join(dir, "backend"), filepath.Join(w.dir, "system", "clouds", t.namespace)
	t.Expect(os.MkdirAll(t.backend, 0o755)).To(Succeed())
	t.cloud = cloud.Open(t.place)
	return t
}

// leave reports the details of a failed test, and deletes the Stacks without destroying anything.
func (t *tenant) leave() {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for _, wrong := range t.statuses.wrongIn(t.namespace) {
		t.test.Errorf("a status that misleads who waits: %s", wrong)
	}
	var stacks v1.StackList
	if err := t.List(ctx, &stacks, client.InNamespace(t.namespace)); err != nil {
		t.test.Errorf("listing the Stacks of %s: %v", t.namespace, err)
	}
	if t.test.Failed() {
		t.explain(ctx, stacks)
	}
	// The edit may start a run, or a cancelled one again, and the controller waits for it at its end.
	if err := t.cloud.Release(); err != nil {
		t.test.Errorf("releasing what is held: %v", err)
	}
	for i := range stacks.Items {
		stack := &stacks.Items[i]
		patch := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"destroyOnFinalize":false}}`))
		if err := client.IgnoreNotFound(t.Patch(ctx, stack, patch)); err != nil {
			t.test.Errorf("releasing Stack %s/%s: %v", t.namespace, stack.Name, err)
		}
		if err := client.IgnoreNotFound(t.Client().Delete(ctx, stack)); err != nil {
			t.test.Errorf("deleting Stack %s/%s: %v", t.namespace, stack.Name, err)
		}
	}
	select {
	case <-t.Controller.Done():
		t.test.Errorf("the controller has ended: %v", t.Controller.Wait())
	default:
	}
}

func (t *tenant) explain(ctx context.Context, stacks v1.StackList) {
	for i := range stacks.Items {
		stacks.Items[i].ManagedFields = nil
		text, err := yaml.Marshal(stacks.Items[i])
		t.test.Logf("Stack (%v):\n%s", err, text)
	}
	var events corev1.EventList
	if err := t.List(ctx, &events, client.InNamespace(t.namespace)); err == nil {
		for _, e := range events.Items {
			t.test.Logf("event on %s %s: %s %s: %s", e.InvolvedObject.Kind, e.InvolvedObject.Name, e.Type, e.Reason, e.Message)
		}
	}
	calls, err := t.calls(t.backendURL())
	t.test.Logf("calls of Pulumi (%v):\n%s", err, strings.Join(calls, "\n"))
	t.test.Logf("the end of the controller's log for %s:\n%s", t.namespace, t.logLines(t.namespace, 40))
	t.test.Log("\n" + strings.Join(failure.Describe(ctx, t.Client(), t.namespace, failure.LogFile(t.ControllerLog())), "\n"))
}

// Client distinguishes the methods of the API client from those of the test.
func (t *tenant) Client() client.Client { return t.WithWatch }

func (t *tenant) backendURL() string { return "file://" + t.backend }

// apply creates an object in the tenant's namespace.
func (t *tenant) apply(object client.Object) {
	t.test.Helper()
	object.SetNamespace(t.namespace)
	t.Expect(t.Create(t.ctx, object)).To(Succeed())
}

func keyOf(object client.Object) client.ObjectKey { return client.ObjectKeyFromObject(object) }

// edit changes the current version of an object.
func edit[T client.Object](t *tenant, object T, change func(T)) {
	t.test.Helper()
	t.Eventually(func() error {
		if err := t.Get(t.ctx, keyOf(object), object); err != nil {
			return err
		}
		before := object.DeepCopyObject().(T)
		change(object)
		return t.Patch(t.ctx, object, client.MergeFrom(before))
	}).Should(Succeed())
}

// delete requests the deletion of an object.
func (t *tenant) delete(object client.Object) {
	t.test.Helper()
	t.Expect(t.Client().Delete(t.ctx, object)).To(Succeed())
}

// awaitGone waits until the object is gone.
func (t *tenant) awaitGone(object client.Object) {
	t.test.Helper()
	t.Eventually(func() bool {
		return apierrors.IsNotFound(t.Get(t.ctx, keyOf(object), object))
	}).Should(BeTrue(), "%s is still there", object.GetName())
}

// stack describes a Stack named app, with the given changes. Its long interval rules out polling.
func (t *tenant) stack(changes ...func(*v1.Stack)) *v1.Stack {
	stack := &v1.Stack{ObjectMeta: metav1.ObjectMeta{Name: "app", Namespace: t.namespace, Labels: t.labels()}}
	stack.Spec = v1.StackSpec{
		Stack:    "dev",
		Backend:  t.backendURL(),
		Interval: &metav1.Duration{Duration: time.Hour},
		Config:   map[string]apiextensionsv1.JSON{"lab:directory": jsonText(t.place)},
		EnvRefs:  map[string]v1.ResourceRef{"PULUMI_CONFIG_PASSPHRASE": literal(passphrase)},
	}
	for _, change := range changes {
		change(stack)
	}
	return stack
}

// jsonText encodes a text as JSON. Tests use no characters that Go quotes differently.
func jsonText(text string) apiextensionsv1.JSON {
	return apiextensionsv1.JSON{Raw: fmt.Appendf(nil, "%q", text)}
}

func literal(value string) v1.ResourceRef {
	return v1.ResourceRef{Type: v1.ResourceRefLiteral, Literal: &v1.LiteralValue{Value: value}}
}

func secretKey(name, key string) v1.ResourceRef {
	return v1.ResourceRef{Type: v1.ResourceRefSecret, Secret: &v1.SecretKeyReference{Name: name, Key: key}}
}

func named(name string) func(*v1.Stack) {
	return func(s *v1.Stack) { s.Name, s.Spec.Stack = name, name }
}

func destroyed(s *v1.Stack) { s.Spec.DestroyOnFinalize = true }

func retriedEvery(d time.Duration) func(*v1.Stack) {
	return func(s *v1.Stack) { s.Spec.RetryInterval = &metav1.Duration{Duration: d} }
}

// expectation is a check of a settled Stack.
type expectation func(g Gomega, stack *v1.Stack)

func atRevision(revision string) expectation {
	return func(g Gomega, stack *v1.Stack) { g.Expect(stack.Status.LastAppliedRevision).To(Equal(revision)) }
}

// awaitReady waits until the Stack is Ready at its generation with no run in flight, and satisfies kstatus.
func (t *tenant) awaitReady(stack *v1.Stack, expected ...expectation) {
	t.test.Helper()
	t.Eventually(func(g Gomega) {
		g.Expect(t.Get(t.ctx, keyOf(stack), stack)).To(Succeed())
		g.Expect(conditions.IsReady(stack)).To(BeTrue(), "Ready is %v", conditions.Get(stack, meta.ReadyCondition))
		g.Expect(stack.Status.ObservedGeneration).To(Equal(stack.Generation))
		g.Expect(stack.Status.Run).To(BeNil())
		// An unseen request means that a run is to come. One of more than 256 bytes is stored as its digest.
		if request := stack.Annotations[meta.ReconcileRequestAnnotation]; len(request) <= 256 {
			g.Expect(stack.Status.LastHandledReconcileAt).To(Equal(request))
		}
		for _, expect := range expected {
			expect(g, stack)
		}
	}).Should(Succeed())
	t.Expect(conditions.GetMessage(stack, meta.ReadyCondition)).To(Equal("Applied revision: " + stack.Status.LastAppliedRevision))
	t.checkSettled(stack)
}

// checkSettled applies the rules of kstatus for an object that will not change by itself.
func (t *tenant) checkSettled(stack *v1.Stack) {
	t.test.Helper()
	checkAsItIs(t, check.NewChecker(nil, &check.Conditions{
		NegativePolarity: []string{meta.StalledCondition, meta.ReconcilingCondition},
	}), stack)
}

// checkInProgress applies the rules of kstatus for an object that is changing, or about to.
func (t *tenant) checkInProgress(stack *v1.Stack) {
	t.test.Helper()
	checkAsItIs(t, check.NewInProgressChecker(nil), stack)
}

// checkAsItIs checks the object as the wait returned it: by now a retry may have started.
func checkAsItIs(t *tenant, checker *check.Checker, object conditions.Getter) {
	t.test.Helper()
	checker.DisableFetch = true
	checker.WithT(t.WithT).CheckErr(t.ctx, object)
}

// awaitFailure waits until the Stack has failed and will be retried, with all the texts in its message and in a
// Warning event, and satisfies kstatus.
func (t *tenant) awaitFailure(stack *v1.Stack, reason string, texts ...string) {
	t.test.Helper()
	t.awaitRetry(stack, reason, texts)
	t.awaitEvent(stack, corev1.EventTypeWarning, reason, texts...)
}

// awaitMissing waits until the Stack waits for a source or a Program that is probably on its way, without a warning.
func (t *tenant) awaitMissing(stack *v1.Stack, texts ...string) {
	t.test.Helper()
	t.awaitRetry(stack, meta.ArtifactFailedReason, texts)
	t.awaitEvent(stack, corev1.EventTypeNormal, meta.ArtifactFailedReason, texts...)
}

func (t *tenant) awaitRetry(stack *v1.Stack, reason string, texts []string) {
	t.test.Helper()
	t.awaitNotReady(stack, reason, texts)
	t.Expect(conditions.IsStalled(stack)).To(BeFalse())
	t.Expect(conditions.GetReason(stack, meta.ReconcilingCondition)).To(Equal(meta.ProgressingWithRetryReason))
	t.checkInProgress(stack)
}

// awaitStalled waits until the Stack has failed for good.
func (t *tenant) awaitStalled(stack *v1.Stack, reason string, texts ...string) {
	t.test.Helper()
	t.awaitNotReady(stack, reason, texts)
	t.awaitEvent(stack, corev1.EventTypeWarning, reason, texts...)
	t.Expect(conditions.GetReason(stack, meta.StalledCondition)).To(Equal(reason))
	t.Expect(conditions.IsReconciling(stack)).To(BeFalse())
	t.Expect(stack.Status.ObservedGeneration).To(Equal(stack.Generation))
	t.checkSettled(stack)
}

func (t *tenant) awaitNotReady(stack *v1.Stack, reason string, texts []string) {
	t.test.Helper()
	t.Eventually(func(g Gomega) {
		g.Expect(t.Get(t.ctx, keyOf(stack), stack)).To(Succeed())
		ready := conditions.Get(stack, meta.ReadyCondition)
		g.Expect(ready).NotTo(BeNil())
		g.Expect(ready.Status).To(Equal(metav1.ConditionFalse))
		g.Expect(ready.Reason).To(Equal(reason))
		g.Expect(ready.Message).To(hasAll(texts))
		g.Expect(stack.Status.Run).To(BeNil())
	}).Should(Succeed())
}

func hasAll(texts []string) types.GomegaMatcher {
	var all []types.GomegaMatcher
	for _, text := range texts {
		all = append(all, ContainSubstring(text))
	}
	return And(all...)
}

// awaitEvent waits for an event on the Stack.
func (t *tenant) awaitEvent(stack *v1.Stack, kind, reason string, texts ...string) {
	t.test.Helper()
	t.Eventually(func(g Gomega) {
		var reported []string
		for _, event := range t.events(g, stack.Name) {
			if event.Type == kind && event.Reason == reason {
				reported = append(reported, event.Message)
			}
		}
		g.Expect(reported).To(ContainElement(hasAll(texts)), "no such %s event %s", kind, reason)
	}).Should(Succeed())
}

func (t *tenant) events(g Gomega, stack string) []corev1.Event {
	var events corev1.EventList
	g.Expect(t.List(t.ctx, &events, client.InNamespace(t.namespace))).To(Succeed())
	var about []corev1.Event
	for _, event := range events.Items {
		if event.InvolvedObject.Kind == v1.StackKind && event.InvolvedObject.Name == stack {
			about = append(about, event)
		}
	}
	return about
}

// request requests a reconcile, like flux reconcile, and returns the token.
func request[T client.Object](t *tenant, object T) string {
	t.test.Helper()
	token := time.Now().Format(time.RFC3339Nano)
	edit(t, object, func(o T) {
		annotations := o.GetAnnotations()
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[meta.ReconcileRequestAnnotation] = token
		o.SetAnnotations(annotations)
	})
	return token
}

// things returns the values of the existing things by name. A duplicate name is an error.
func (t *tenant) things() (map[string]string, error) {
	things, err := t.cloud.Things()
	if err != nil {
		return nil, err
	}
	values := map[string]string{}
	for _, thing := range things {
		if _, twice := values[thing.Name]; twice {
			return nil, fmt.Errorf("there are two things named %s", thing.Name)
		}
		values[thing.Name] = ""
		if thing.Value != nil {
			values[thing.Name] = *thing.Value
		}
	}
	return values, nil
}

// awaitJournal waits until the cloud has started or finished an operation on a thing.
func (t *tenant) awaitJournal(op, phase, name string) {
	t.test.Helper()
	t.Eventually(func(g Gomega) {
		g.Expect(t.journal(g)).To(ContainElement(op + " " + phase + " " + name))
	}).Should(Succeed())
}

// journal lists the records of the cloud, such as "create done a".
func (t *tenant) journal(g Gomega) []string {
	entries, err := t.cloud.Journal()
	g.Expect(err).NotTo(HaveOccurred())
	var lines []string
	for _, entry := range entries {
		lines = append(lines, entry.Op+" "+entry.Phase+" "+entry.Name)
	}
	return lines
}

// pulumiCalls lists the arguments that Pulumi was called with for this tenant.
func (t *tenant) pulumiCalls() []string {
	t.test.Helper()
	calls, err := t.calls(t.backendURL())
	t.Expect(err).NotTo(HaveOccurred())
	return calls
}

// reconcilesOf counts the reconciles of a Stack.
func (t *tenant) reconcilesOf(stack *v1.Stack) int {
	t.test.Helper()
	count, err := t.reconciles(t.ctx, stack.Namespace, stack.Name)
	t.Expect(err).NotTo(HaveOccurred())
	return count
}

// stateFile is the path of a stack's state in the backend.
func (t *tenant) stateFile(project, stack string) string {
	return filepath.Join(t.backend, ".pulumi", "stacks", project, stack+".json")
}

// resourcesInState lists the names of the lab's resources in the state of a stack, which must be readable.
func (t *tenant) resourcesInState(project, stack string) []string {
	t.test.Helper()
	text, err := os.ReadFile(t.stateFile(project, stack))
	t.Expect(err).NotTo(HaveOccurred())
	var state struct {
		Checkpoint struct {
			Latest struct {
				PendingOperations []any `json:"pending_operations"`
				Resources         []struct {
					URN, Type string
				}
			}
		}
	}
	t.Expect(json.Unmarshal(text, &state)).To(Succeed())
	t.Expect(state.Checkpoint.Latest.PendingOperations).To(BeEmpty())
	names := []string{}
	for _, resource := range state.Checkpoint.Latest.Resources {
		if resource.Type == "lab:index:Thing" {
			names = append(names, resource.URN[strings.LastIndex(resource.URN, "::")+2:])
		}
	}
	return names
}
