// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"
	"github.com/prometheus/client_golang/prometheus/testutil"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/inventory"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// checkNow asks for a check, ends it, and returns the events since.
func (w *world) checkNow(request string, outcome run.Outcome, message string, found *run.Drift) []string {
	w.t.Helper()
	before := len(w.events.lines)
	w.passTime(time.Minute)
	w.annotate(v1.CheckDriftAnnotation, request)
	w.mustReconcile()
	w.endCheck(outcome, message, found)
	return w.events.lines[before:]
}

func (w *world) keptDrift() (*corev1.ConfigMap, error) {
	kept := &corev1.ConfigMap{}
	return kept, w.Get(w.t.Context(), client.ObjectKey{Namespace: key.Namespace, Name: key.Name + "-drift"}, kept)
}

func TestDriftIsAnnouncedAndKeptWhileItIsThere(t *testing.T) {
	g := NewWithT(t)
	w := driftWorld(t)
	registry := w.measured()
	some, other := drifted(`"two"`), drifted(`"three"`)
	g.Expect(w.checkNow("a", run.Succeeded, "", &run.Drift{})).To(BeEmpty())
	g.Expect(w.checkNow("b", run.Succeeded, "", &some)).To(ConsistOf("Warning DriftDetected 1 changed outside of Pulumi: lab:index:Thing a"))
	first, err := w.keptDrift()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(w.stack().Status.Drift).To(And(HaveField("ConfigMap", first.Name), HaveField("ContentDigest", inventory.Digest(first.BinaryData[inventory.PlanKey]))))

	g.Expect(w.checkNow("c", run.Succeeded, "", &some)).To(BeEmpty())
	g.Expect(w.keptDrift()).To(HaveField("ResourceVersion", first.ResourceVersion))
	g.Expect(w.checkNow("d", run.Failed, "no answer", nil)).To(ConsistOf("Warning DriftCheckFailed The check for drift failed: no answer"))
	g.Expect(w.checkNow("e", run.Failed, "no answer", nil)).To(BeEmpty())
	g.Expect(w.stack().Status.Drift.ConfigMap).To(Equal(first.Name), "what was found before the failure")
	g.Expect(w.checkNow("f", run.Succeeded, "", &some)).To(BeEmpty(), "it is known")
	g.Expect(w.checkNow("g", run.Succeeded, "", &other)).To(ConsistOf(HavePrefix("Warning DriftDetected The drift is different now: 1 changed")))
	g.Expect(w.keptDrift()).NotTo(HaveField("ResourceVersion", first.ResourceVersion))
	g.Expect(w.checkNow("h", run.Succeeded, "", &run.Drift{})).To(ConsistOf("Normal NoDrift The drift is gone"))
	_, err = w.keptDrift()
	g.Expect(err).To(Satisfy(apierrors.IsNotFound))
	g.Expect(testutil.GatherAndCompare(registry, strings.NewReader(`
# HELP pulumi_drift_checks_total Number of checks for drift, by what they found.
# TYPE pulumi_drift_checks_total counter
pulumi_drift_checks_total{result="DriftCheckFailed"} 2
pulumi_drift_checks_total{result="DriftDetected"} 4
pulumi_drift_checks_total{result="NoDrift"} 2
`), "pulumi_drift_checks_total")).To(Succeed())
}

func TestWhatIsKeptOfDriftIsDeletedHoweverOftenThatFails(t *testing.T) {
	g := NewWithT(t)
	w := driftWorld(t)
	some, other := drifted(`"two"`), drifted(`"three"`)
	w.checkNow("a", run.Succeeded, "", &some)
	kept, err := w.keptDrift()
	g.Expect(err).NotTo(HaveOccurred())

	api, broken := w.Client, errors.New("the API server does not answer")
	w.Client = interceptor.NewClient(api.(client.WithWatch), interceptor.Funcs{
		Update: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.UpdateOption) error {
			if _, is := o.(*corev1.ConfigMap); is {
				return broken
			}
			return c.Update(ctx, o, opts...)
		},
		Delete: func(context.Context, client.WithWatch, client.Object, ...client.DeleteOption) error { return broken },
	})
	w.checkNow("b", run.Succeeded, "", &other)
	g.Expect(w.stack().Status.Drift).To(And(HaveField("ConfigMap", kept.Name), HaveField("ContentDigest", ""), HaveField("Digest", other.Found.Digest())))
	w.checkNow("c", run.Succeeded, "", &run.Drift{})
	g.Expect(w.stack().Status.Drift).To(And(HaveField("ConfigMap", kept.Name), HaveField("Result", v1.NoDriftReason)))
	w.edit(func(s *v1.Stack) {
		s.Spec.Drift = nil
		delete(s.Annotations, v1.CheckDriftAnnotation)
	})
	w.mustReconcile()
	g.Expect(w.stack().Status.Drift).To(Equal(&v1.DriftStatus{ConfigMap: kept.Name}))

	w.Client = api
	w.mustReconcile()
	g.Expect(w.stack().Status.Drift).To(BeNil())
	_, err = w.keptDrift()
	g.Expect(err).To(Satisfy(apierrors.IsNotFound))
}

func TestWhatIsKeptOfDriftGoesWithTheFieldThatAsksForIt(t *testing.T) {
	g := NewWithT(t)
	w := driftWorld(t)
	some := drifted(`"two"`)
	w.checkNow("a", run.Succeeded, "", &some)
	w.edit(func(s *v1.Stack) {
		s.Spec.Drift = nil
		delete(s.Annotations, v1.CheckDriftAnnotation)
	})
	w.mustReconcile()
	g.Expect(w.stack().Status.Drift).To(BeNil())
	_, err := w.keptDrift()
	g.Expect(err).To(Satisfy(apierrors.IsNotFound))
}

func TestACheckWaitsForASlotInTheBackground(t *testing.T) {
	g := NewWithT(t)
	w := driftWorld(t)
	runs, writes := w.runner.started, w.writes
	w.runner.background.full = true
	w.passTime(66 * time.Minute)
	w.mustReconcile()
	g.Expect(w.runner.started).To(Equal(runs))
	g.Expect(w.writes).To(Equal(writes), "nothing is written")

	w.runner.background.full = false
	w.mustReconcile()
	g.Expect(w.stack().Status.Run).To(HaveField("Operation", run.CheckDrift))
	g.Expect(w.runner.background.taken).NotTo(BeZero())
	g.Expect(w.runner.slots).To(BeZero(), "it takes none of the other slots")
}

func TestACheckThatCannotStartIsRepeated(t *testing.T) {
	g := NewWithT(t)
	w := driftWorld(t, func(s *v1.Stack) { s.Spec.Suspend = true })
	w.edit(func(s *v1.Stack) {
		s.Spec.EnvRefs = map[string]v1.ResourceRef{
			"TOKEN": {Type: v1.ResourceRefSecret, Secret: &v1.SecretKeyReference{Name: "missing", Key: "token"}},
		}
	})
	w.passTime(66 * time.Minute)
	g.Expect(w.mustReconcile().RequeueAfter).To(Equal(time.Second))
	g.Expect(w.stack().Status.Drift).To(HaveField("Failures", BeEquivalentTo(1)))
	g.Expect(w.runner.background.taken).To(BeZero(), "its slot is free")
	g.Expect(w.mustReconcile().RequeueAfter).To(Equal(w.stack().GetRetryInterval()), "nothing else follows for a suspended Stack")
	w.passTime(w.stack().GetRetryInterval())
	w.mustReconcile()
	g.Expect(w.stack().Status.Drift).To(HaveField("Failures", BeEquivalentTo(2)))
}

func TestACheckThatCannotStartIsAnnounced(t *testing.T) {
	g := NewWithT(t)
	w := driftWorld(t)
	before := len(w.events.lines)
	w.edit(func(s *v1.Stack) {
		s.Spec.EnvRefs = map[string]v1.ResourceRef{
			"TOKEN": {Type: v1.ResourceRefSecret, Secret: &v1.SecretKeyReference{Name: "missing", Key: "token"}},
		}
	})
	w.annotate(v1.CheckDriftAnnotation, "a")
	w.mustReconcile()
	w.mustReconcile()
	g.Expect(w.events.lines[before:]).To(ContainElement(HavePrefix("Warning DriftCheckFailed The check for drift failed: InputsFailed: ")))
}

// An update that refreshes and then fails leaves nothing that a check could find.
func TestDriftThatAFailedCorrectionHasRecordedIsKept(t *testing.T) {
	g := NewWithT(t)
	w := driftWorld(t, func(s *v1.Stack) { s.Spec.Drift.Mode = v1.DriftCorrect })
	some := drifted(`"two"`)
	w.checkNow("a", run.Succeeded, "", &some)
	g.Expect(w.keptDrift()).NotTo(BeNil())
	w.mustReconcile()
	g.Expect(w.stack().Status.Run).To(HaveField("Drift", some.Found.Digest()))
	failed := w.stack().Status.Run.ID
	w.runner.end(failed, run.Failed, "no luck")
	w.runner.results[failed].Refreshed = true
	w.mustReconcile()
	g.Expect(conditions.IsReady(w.stack())).To(BeTrue())

	before := len(w.events.lines)
	w.mustReconcile()
	w.endCheck(run.Succeeded, "", &run.Drift{})
	g.Expect(w.events.lines[before:]).To(BeEmpty(), "it is not gone")
	stack := w.stack()
	g.Expect(conditions.Get(stack, v1.DriftedCondition)).To(And(HaveField("Status", metav1.ConditionTrue), HaveField("Message", ContainSubstring("no check sees it"))))
	g.Expect(stack.Status.Drift).To(And(HaveField("Message", "The update that undoes the drift failed: no luck"), HaveField("ConfigMap", "")))
	_, err := w.keptDrift()
	g.Expect(err).To(Satisfy(apierrors.IsNotFound), "no check has found it")
	g.Expect(w.checkNow("b", run.Succeeded, "", &run.Drift{})).To(BeEmpty())
	w.mustReconcile()
	g.Expect(w.stack().Status.Run).To(BeNil(), "no correction could start from it")

	w.annotate(meta.ReconcileRequestAnnotation, "now")
	w.annotate(meta.ForceRequestAnnotation, "now")
	w.mustReconcile()
	g.Expect(w.stack().Status.Run).To(And(HaveField("Operation", run.Update), HaveField("Drift", "")))
	w.endRun(run.Succeeded, "", run.Changes{Updated: 1})
	w.mustReconcile()
	before = len(w.events.lines)
	w.endCheck(run.Succeeded, "", &run.Drift{})
	g.Expect(w.events.lines[before:]).To(ContainElement("Normal NoDrift The drift is gone"))
}
