// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// outputsWorld has a Stack whose outputs go to the Secret "out".
func outputsWorld(t *testing.T, objects ...client.Object) *world {
	t.Helper()
	w := newWorld(t, append(programAndStack(), objects...)...)
	w.edit(func(s *v1.Stack) {
		s.UID = "uid-of-app"
		s.Spec.WriteOutputsToSecret = &v1.OutputsSecret{Name: "out", Labels: map[string]string{"layer": "one"}}
	})
	return w
}

// change edits the spec, and increments the generation, which the fake client does not.
func (w *world) change(edit func(*v1.StackSpec)) {
	w.t.Helper()
	w.edit(func(s *v1.Stack) {
		s.Generation++
		edit(&s.Spec)
	})
}

// endReading ends the run in flight, which has read the outputs, or with nil could not.
func (w *world) endReading(values map[string]string) {
	w.t.Helper()
	id := w.stack().Status.Run.ID
	w.runner.end(id, run.Succeeded, "")
	wanted := w.runner.runs[id].Outputs
	if result := w.runner.results[id]; values != nil && wanted != nil {
		result.Plain = &run.PlainOutputs{Wanted: *wanted, Values: map[string]json.RawMessage{}}
		for name, value := range values {
			result.Plain.Values[name] = json.RawMessage(value)
		}
	}
	w.runner.results[id].EndedAt = w.Now()
	w.mustReconcile()
}

// written has a Stack whose outputs are written.
func written(t *testing.T, objects ...client.Object) *world {
	t.Helper()
	w := outputsWorld(t, objects...)
	w.mustReconcile()
	w.endReading(map[string]string{"token": `"hunter2"`, "ports": `[80, 443]`})
	return w
}

func (w *world) secret(name string) *corev1.Secret {
	w.t.Helper()
	secret := &corev1.Secret{}
	err := w.Get(context.Background(), client.ObjectKey{Namespace: key.Namespace, Name: name}, secret)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return secret
}

func (w *world) editSecret(change func(*corev1.Secret)) {
	w.t.Helper()
	secret := w.secret("out")
	change(secret)
	if err := w.Update(context.Background(), secret); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) operation() run.Operation {
	if recorded := w.stack().Status.Run; recorded != nil {
		return w.runner.runs[recorded.ID].Operation
	}
	return ""
}

func (w *world) expectNotReady(g *WithT, reason, message string) {
	w.t.Helper()
	stack := w.stack()
	g.Expect(conditions.IsReady(stack)).To(BeFalse())
	g.Expect(conditions.GetReason(stack, meta.ReadyCondition)).To(Equal(reason))
	g.Expect(conditions.GetMessage(stack, meta.ReadyCondition)).To(ContainSubstring(message))
}

func TestOutputsAreWrittenBeforeTheStackIsReady(t *testing.T) {
	g := NewWithT(t)
	w := outputsWorld(t)
	w.mustReconcile()
	g.Expect(w.runner.runs[w.stack().Status.Run.ID].Outputs).To(Equal(&run.WantedOutputs{}))
	there := false
	w.writing = func(string) { there = w.secret("out") != nil }
	w.endReading(map[string]string{"token": `"hunter2"`, "ports": `[80, 443]`})
	g.Expect(there).To(BeTrue(), "before the status is written")

	secret, stack := w.secret("out"), w.stack()
	g.Expect(secret.Data).To(Equal(map[string][]byte{"token": []byte("hunter2"), "ports": []byte("[80,443]")}))
	g.Expect(secret.Type).To(Equal(corev1.SecretTypeOpaque))
	g.Expect(secret.Labels).To(Equal(map[string]string{"layer": "one"}))
	g.Expect(metav1.IsControlledBy(secret, stack)).To(BeTrue())
	g.Expect(conditions.IsReady(stack)).To(BeTrue())
	g.Expect(stack.Status.OutputsSecret.Name).To(Equal("out"))
	g.Expect(stack.Status.OutputsSecret.Digest).NotTo(BeEmpty())
	text, err := json.Marshal(stack)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(text) + strings.Join(w.events.lines, "\n")).NotTo(ContainSubstring("hunter2"))

	writes, runs := w.writes, w.runner.started
	for range 3 {
		w.passTime(time.Hour)
		w.mustReconcile()
	}
	g.Expect([]int{w.writes, w.runner.started}).To(Equal([]int{writes, runs}), "nothing is done when nothing has changed")
	g.Expect(w.secret("out").ResourceVersion).To(Equal(secret.ResourceVersion))
}

func TestUnreadOutputsOfAnUpdateAreRead(t *testing.T) {
	g := NewWithT(t)
	w := written(t)
	w.change(func(s *v1.StackSpec) { s.Refresh = true })
	w.mustReconcile()
	last := w.stack().Status.Run.ID
	w.endReading(nil) // the process was killed between the end of the run and the write
	g.Expect(w.stack().Status.LastAppliedDigest).NotTo(BeEmpty())
	w.expectNotReady(g, meta.ProgressingReason, "its outputs are not yet written to Secret out")
	g.Expect(w.secret("out").Data).To(HaveKey("token"), "those of the update before")

	w.mustReconcile()
	todo := w.runner.runs[w.stack().Status.Run.ID]
	g.Expect(todo.Operation).To(Equal(run.ReadOutputs))
	w.endReading(map[string]string{"token": `"hunter3"`})
	g.Expect(w.secret("out").Data).To(Equal(map[string][]byte{"token": []byte("hunter3")}))
	stack := w.stack()
	g.Expect(conditions.IsReady(stack)).To(BeTrue())
	g.Expect(stack.Status.LastUpdate.Name).To(Equal(last), "it is no update")
	g.Expect(stack.Status.History).To(HaveLen(2))
	g.Expect(stack.Status.ObservedGeneration).To(Equal(stack.Generation))
}

func TestAChangedSecretIsRestoredWithoutAnUpdate(t *testing.T) {
	for name, spoil := range map[string]func(w *world){
		"deleted": func(w *world) {
			if err := w.Delete(context.Background(), w.secret("out")); err != nil {
				w.t.Fatal(err)
			}
		},
		"a value edited": func(w *world) { w.editSecret(func(s *corev1.Secret) { s.Data["token"] = []byte("x") }) },
		"a value added":  func(w *world) { w.editSecret(func(s *corev1.Secret) { s.Data["more"] = []byte("x") }) },
		"a label removed": func(w *world) {
			w.editSecret(func(s *corev1.Secret) { s.Labels = nil })
		},
		"other labels asked for": func(w *world) {
			w.change(func(s *v1.StackSpec) { s.WriteOutputsToSecret.Labels = map[string]string{"layer": "two"} })
		},
		"annotations asked for": func(w *world) {
			w.change(func(s *v1.StackSpec) { s.WriteOutputsToSecret.Annotations = map[string]string{"a": "b"} })
		},
		"one key asked for": func(w *world) { w.change(func(s *v1.StackSpec) { s.WriteOutputsToSecret.Keys = []string{"token"} }) },
		"another name":      func(w *world) { w.change(func(s *v1.StackSpec) { s.WriteOutputsToSecret.Name = "other" }) },
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			w := written(t)
			spoil(w)
			w.mustReconcile()
			g.Expect(w.operation()).To(Equal(run.ReadOutputs))
			g.Expect(conditions.IsReady(w.stack())).To(BeFalse(), "who depends on it waits")
			values := map[string]string{"token": `"hunter2"`, "ports": `[80, 443]`}
			to := w.stack().Spec.WriteOutputsToSecret
			if len(to.Keys) > 0 {
				delete(values, "ports")
			}
			w.endReading(values)
			w.mustReconcile()
			secret := w.secret(to.Name)
			g.Expect(secret.Data).To(HaveLen(len(values)))
			g.Expect(secret.Data).To(HaveKeyWithValue("token", []byte("hunter2")))
			g.Expect(secret.Labels).To(Equal(to.Labels))
			g.Expect(secret.Annotations).To(Equal(to.Annotations))
			g.Expect(w.operation()).To(BeEmpty())
			g.Expect(w.runner.started).To(Equal(2))
			g.Expect(conditions.IsReady(w.stack())).To(BeTrue())
			if to.Name != "out" {
				g.Expect(w.secret("out")).To(BeNil(), "what it was written to before is gone")
			}
		})
	}
}

func TestWhatOthersAddToTheSecretIsNoReasonToReadOutputs(t *testing.T) {
	g := NewWithT(t)
	w := written(t)
	w.editSecret(func(s *corev1.Secret) { s.Labels["theirs"], s.Annotations = "x", map[string]string{"theirs": "x"} })
	w.mustReconcile()
	g.Expect(w.operation()).To(BeEmpty())
}

func TestAForeignSecretIsNeverTouched(t *testing.T) {
	g := NewWithT(t)
	theirs := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "out"}, Data: map[string][]byte{"a": []byte("b")}}
	w := outputsWorld(t, theirs)
	before := w.secret("out")
	w.mustReconcile()
	g.Expect(w.runner.runs[w.stack().Status.Run.ID].Outputs).To(BeNil(), "secrets are not read for nothing")
	w.endReading(nil)
	w.mustReconcile()
	w.expectNotReady(g, v1.OutputsFailedReason, "Secret default/out does not belong to this Stack. Delete it, or set another spec.writeOutputsToSecret.name")
	g.Expect(w.stack().Status.LastUpdate.State).To(Equal(v1.UpdateSucceeded))
	reported := len(w.events.lines)
	w.passTime(time.Hour)
	w.mustReconcile()
	g.Expect(w.events.lines).To(HaveLen(reported), "it is reported once")
	g.Expect(w.operation()).To(BeEmpty())
	g.Expect(w.secret("out")).To(Equal(before))

	w.change(func(s *v1.StackSpec) { s.WriteOutputsToSecret = nil })
	w.mustReconcile()
	g.Expect(w.secret("out")).To(Equal(before), "nor is it deleted as one that was written")
	w.change(func(s *v1.StackSpec) { s.WriteOutputsToSecret = &v1.OutputsSecret{Name: "out"} })
	g.Expect(w.Delete(context.Background(), theirs)).To(Succeed())
	w.mustReconcile()
	g.Expect(w.operation()).To(Equal(run.ReadOutputs))
	w.endReading(map[string]string{"token": `"hunter2"`})
	g.Expect(conditions.IsReady(w.stack())).To(BeTrue())
}

func TestASecretOfAnotherStackIsNamed(t *testing.T) {
	g := NewWithT(t)
	isController := true
	w := outputsWorld(t, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "out", OwnerReferences: []metav1.OwnerReference{
		{APIVersion: "pulumi.com/v1", Kind: "Stack", Name: "other", UID: types.UID("x"), Controller: &isController}}}})
	w.mustReconcile()
	w.endReading(nil)
	w.mustReconcile()
	w.expectNotReady(g, v1.OutputsFailedReason, "Secret default/out belongs to Stack other. Delete it")
}

func TestAForeignSecretCreatedInMidRunIsNotTouched(t *testing.T) {
	g := NewWithT(t)
	w := outputsWorld(t)
	w.mustReconcile()
	g.Expect(w.Create(context.Background(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "out"}})).To(Succeed())
	w.endReading(map[string]string{"token": `"hunter2"`})
	g.Expect(w.secret("out").Data).To(BeEmpty())
	w.mustReconcile()
	w.expectNotReady(g, v1.OutputsFailedReason, "does not belong to this Stack")
}

func TestOutputsThatCannotBeWrittenDoNotFailTheUpdate(t *testing.T) {
	g := NewWithT(t)
	w := outputsWorld(t)
	w.change(func(s *v1.StackSpec) { s.WriteOutputsToSecret.Keys = []string{"token", "gone"} })
	w.mustReconcile()
	w.endReading(map[string]string{"token": `"hunter2"`})
	for range 2 {
		w.expectNotReady(g, v1.OutputsFailedReason, `The outputs cannot be written: the stack has no output "gone"`)
		g.Expect(w.stack().Status.LastUpdate.State).To(Equal(v1.UpdateSucceeded))
		g.Expect(w.secret("out")).To(BeNil())
		w.passTime(time.Hour)
		w.mustReconcile()
		g.Expect(w.operation()).To(BeEmpty(), "no other try helps")
	}
	g.Expect(w.events.lines).To(ConsistOf(ContainSubstring("Update succeeded"), ContainSubstring("has no output")), "each is reported once")

	w.change(func(s *v1.StackSpec) { s.WriteOutputsToSecret.Keys = []string{"token"} })
	w.mustReconcile()
	g.Expect(w.operation()).To(Equal(run.ReadOutputs), "another spec is tried at once, without an update")
	w.endReading(map[string]string{"token": `"hunter2"`})
	g.Expect(conditions.IsReady(w.stack())).To(BeTrue())
	g.Expect(w.stack().Status.OutputsSecret.Failure).To(BeNil())
}

func TestReadingOutputsIsRetried(t *testing.T) {
	g := NewWithT(t)
	w := outputsWorld(t)
	w.change(func(s *v1.StackSpec) { s.RetryInterval = &metav1.Duration{Duration: 2 * time.Minute} })
	w.mustReconcile()
	w.endReading(nil)
	w.mustReconcile()
	w.endNow(run.BackendUnavailable, nil)
	w.expectNotReady(g, v1.OutputsFailedReason, "The outputs cannot be written: killed")
	g.Expect(w.stack().Status.LastUpdate.State).To(Equal(v1.UpdateSucceeded))
	g.Expect(w.stack().Status.Failures).To(BeZero())
	g.Expect(w.mustReconcile().RequeueAfter).To(Equal(10*time.Second), "it could not begin")
	w.passTime(10 * time.Second)
	w.mustReconcile()
	w.endNow(run.PodFailed, nil)
	g.Expect(w.mustReconcile().RequeueAfter).To(Equal(20 * time.Second))
	w.passTime(20 * time.Second)
	w.mustReconcile()
	w.endNow(run.Failed, nil)
	g.Expect(w.mustReconcile().RequeueAfter).To(Equal(2 * time.Minute))
	g.Expect(w.stack().Status.OutputsSecret.Failure.Failures).To(BeEquivalentTo(3))
	w.passTime(2 * time.Minute)
	w.mustReconcile()
	g.Expect(w.operation()).To(Equal(run.ReadOutputs))

	w.endNow(run.Cancelled, nil)
	w.mustReconcile()
	g.Expect(w.operation()).To(Equal(run.ReadOutputs), "the end of the controller is no failure")
}

func TestARefusedWriteIsAnnouncedAndRetried(t *testing.T) {
	g := NewWithT(t)
	w := outputsWorld(t)
	refused := apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, "out", errors.New(`webhook: "hunter2" is weak`))
	w.Client = interceptor.NewClient(w.Client.(client.WithWatch), interceptor.Funcs{
		Create: func(context.Context, client.WithWatch, client.Object, ...client.CreateOption) error { return refused },
	})
	w.mustReconcile()
	w.endReading(map[string]string{"token": `"hunter2"`})
	w.expectNotReady(g, v1.OutputsFailedReason, `failed to create Secret default/out: secrets "out" is forbidden: webhook: "***" is weak`)
	g.Expect(w.stack().Status.OutputsSecret.Failure.RetryAt).NotTo(BeNil())
	started := w.runner.started
	w.mustReconcile()
	g.Expect(w.runner.started).To(Equal(started), "a Secret that is still missing starts no new run")
}

// An immutable Secret cannot be written until it is deleted; then it is written at once.
func TestAReplacedSecretIsWrittenAtOnce(t *testing.T) {
	g := NewWithT(t)
	w := written(t)
	immutable := true
	w.editSecret(func(s *corev1.Secret) { s.UID, s.Data, s.Immutable = "uid-of-out", nil, &immutable }) // the fake client sets no UID
	w.edit(func(s *v1.Stack) { s.Spec.RetryInterval = &metav1.Duration{Duration: time.Hour} })
	inner := w.Client
	refused := apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, "out", errors.New("field is immutable"))
	w.Client = interceptor.NewClient(inner.(client.WithWatch), interceptor.Funcs{
		Update: func(context.Context, client.WithWatch, client.Object, ...client.UpdateOption) error { return refused },
	})
	w.mustReconcile()
	g.Expect(w.operation()).To(Equal(run.ReadOutputs))
	w.endReading(map[string]string{"token": `"hunter3"`})
	started := w.runner.started
	for range 3 {
		w.mustReconcile()
	}
	w.expectNotReady(g, v1.OutputsFailedReason, "field is immutable. The Secret is immutable: delete it, and the controller creates it again")
	g.Expect(w.runner.started).To(Equal(started), "the same Secret is tried when it is time")

	g.Expect(inner.Delete(context.Background(), w.secret("out"))).To(Succeed())
	w.mustReconcile()
	g.Expect(w.operation()).To(Equal(run.ReadOutputs))
	w.endReading(map[string]string{"token": `"hunter3"`})
	g.Expect(conditions.IsReady(w.stack())).To(BeTrue())
	g.Expect(w.secret("out").Data).To(HaveKeyWithValue("token", []byte("hunter3")))
}

func TestAnErrorOfTheAPIServerKeepsTheResult(t *testing.T) {
	g := NewWithT(t)
	w := outputsWorld(t)
	inner, away := w.Client, true
	w.Client = interceptor.NewClient(inner.(client.WithWatch), interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			if away {
				return errors.New("connection refused")
			}
			return c.Create(ctx, o, opts...)
		},
	})
	w.mustReconcile()
	id := w.stack().Status.Run.ID
	w.runner.end(id, run.Succeeded, "")
	w.runner.results[id].Plain = &run.PlainOutputs{Values: map[string]json.RawMessage{"a": json.RawMessage(`1`)}}
	_, err := w.reconcile()
	g.Expect(err).To(MatchError(ContainSubstring("connection refused")))
	g.Expect(w.stack().Status.Run).NotTo(BeNil())
	away = false
	w.mustReconcile()
	g.Expect(w.secret("out").Data).To(HaveKey("a"))
	g.Expect(w.runner.started).To(Equal(1))
}

func TestAFailedUpdateAndAPreviewLeaveTheOutputs(t *testing.T) {
	g := NewWithT(t)
	w := written(t)
	before := w.secret("out")
	w.change(func(s *v1.StackSpec) { s.Refresh = true })
	w.mustReconcile()
	w.endNow(run.Failed, nil)
	w.mustReconcile()
	g.Expect(w.secret("out")).To(Equal(before))

	w.change(func(s *v1.StackSpec) { s.Preview = true })
	w.mustReconcile()
	g.Expect(w.operation()).To(Equal(run.Preview))
	w.endReading(nil)
	w.mustReconcile()
	g.Expect(w.secret("out")).To(Equal(before))
	g.Expect(conditions.IsReady(w.stack())).To(BeTrue())
}

func TestTheSecretGoesWithTheField(t *testing.T) {
	g := NewWithT(t)
	w := written(t)
	w.change(func(s *v1.StackSpec) { s.Suspend, s.WriteOutputsToSecret = true, nil })
	w.mustReconcile()
	g.Expect(w.secret("out")).NotTo(BeNil(), "suspended, nothing is done")
	w.change(func(s *v1.StackSpec) { s.Suspend = false })
	w.mustReconcile()
	g.Expect(w.secret("out")).To(BeNil())
	g.Expect(w.stack().Status.OutputsSecret).To(BeNil())
	g.Expect(conditions.IsReady(w.stack())).To(BeTrue())
	g.Expect(w.runner.started).To(Equal(1))
}

func TestOutputsAreReadAgainIfTheKeysChangedInMidRun(t *testing.T) {
	g := NewWithT(t)
	w := outputsWorld(t)
	w.mustReconcile()
	id := w.stack().Status.Run.ID
	w.change(func(s *v1.StackSpec) { s.WriteOutputsToSecret.Keys = []string{"token"} })
	w.runner.end(id, run.Succeeded, "")
	w.runner.results[id].Plain = &run.PlainOutputs{Values: map[string]json.RawMessage{"ports": json.RawMessage(`1`)}}
	w.mustReconcile()
	g.Expect(w.secret("out")).To(BeNil())
	w.mustReconcile()
	g.Expect(w.runner.runs[w.stack().Status.Run.ID].Outputs).To(Equal(&run.WantedOutputs{Keys: []string{"token"}}))
	g.Expect(w.operation()).To(Equal(run.ReadOutputs))
}

func TestALostOutputsRunIsRepeatedWithoutARecovery(t *testing.T) {
	g := NewWithT(t)
	w := written(t)
	w.editSecret(func(s *corev1.Secret) { s.Data = nil })
	w.mustReconcile()
	clear(w.runner.runs)
	w.Holder, w.others.gone = v1.RunHolder{Host: "pod-2", Instance: "b"}, true
	reported := len(w.events.lines)
	w.mustReconcile()
	g.Expect(w.stack().Status.Interrupted).To(BeEmpty())
	g.Expect(w.stack().Status.Failures).To(BeZero())
	g.Expect(w.events.lines).To(HaveLen(reported))
	w.mustReconcile()
	g.Expect(w.operation()).To(Equal(run.ReadOutputs))
}

func TestAStackThatWritesWhatItReadsIsRefused(t *testing.T) {
	g := NewWithT(t)
	w := outputsWorld(t)
	w.change(func(s *v1.StackSpec) {
		s.SecretsRef = map[string]v1.ResourceRef{"app:token": {Type: v1.ResourceRefSecret, Secret: &v1.SecretKeyReference{Name: "out", Key: "token"}}}
	})
	w.mustReconcile()
	g.Expect(conditions.IsStalled(w.stack())).To(BeTrue())
	w.expectNotReady(g, v1.InvalidSpecReason, "the Stack itself reads values from Secret out")
	g.Expect(w.runner.started).To(BeZero())
}
