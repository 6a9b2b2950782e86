// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"context"
	"errors"
	"testing"

	"github.com/go-logr/logr"
	. "github.com/onsi/gomega"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/run/job/exchange"
)

// withoutRights reads what a controller may read without config/runner-jobs.
type withoutRights struct{ client.Reader }

func (r withoutRights) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	if _, ok := object.(*batchv1.Job); ok {
		return apierrors.NewForbidden(batchv1.Resource("jobs"), key.Name, errors.New("no role"))
	}
	return r.Reader.Get(ctx, key, object, options...)
}

func (r withoutRights) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	if _, ok := list.(*corev1.PodList); ok {
		return apierrors.NewForbidden(corev1.Resource("pods"), "", errors.New("no role"))
	}
	return r.Reader.List(ctx, list, options...)
}

// drained is a Drainer in the cluster of a Runner that has ended.
type drained struct {
	*Drainer
	*started
	woken *calls
}

func (s *started) drain(change ...func(*DrainOptions)) *drained {
	s.test.Helper()
	d := &drained{started: s, woken: &calls{}}
	options := DrainOptions{
		Client: s.api, Reader: s.api, Wake: d.woken.ended, Log: logr.Discard(),
		Recorded: func(context.Context, run.Ref) (run.Recorded, error) { return run.Recorded{InFlight: true}, nil },
	}
	for _, c := range change {
		c(&options)
	}
	d.Drainer = NewDrainer(options)
	return d
}

func blind(o *DrainOptions) { o.Reader = withoutRights{o.Reader} }

func (d *drained) look() (run.Phase, *run.Result) {
	return d.Drainer.Look(run.Ref{ID: "1", Namespace: "default", Name: "app"})
}

// expectEnded expects the end of the run, and that its Secret is deleted when it is
// forgotten.
func (d *drained) expectEnded(outcome run.Outcome, message string) *run.Result {
	d.test.Helper()
	phase, result := d.look()
	d.Expect(phase).To(Equal(run.Ended), d.Drainer.Report(ref("1")).Progress.Waiting)
	d.Expect(result.Outcome).To(Equal(outcome))
	d.Expect(result.Message).To(ContainSubstring(message))
	d.Expect(d.Drainer.Forget(ref("1"))).To(Succeed())
	d.Expect(d.has(&corev1.Secret{})).To(BeFalse())
	return result
}

func TestARunThatNoPodHasStartedIsWithdrawnAfterASwitch(t *testing.T) {
	for name, tc := range map[string]struct {
		prepare func(s *started)
		change  []func(*DrainOptions)
		isBusy  bool
	}{
		"there is a Job":                     {prepare: (*started).step},
		"its pod is pending":                 {prepare: func(s *started) { s.step(); s.pod(func(p *corev1.PodStatus) { p.Phase = corev1.PodPending }) }},
		"there is a Job that nobody may see": {prepare: (*started).step, change: []func(*DrainOptions){blind}, isBusy: true},
		"no Job could be made": {prepare: func(s *started) {
			s.api.fails = func(object client.Object) error {
				if _, ok := object.(*batchv1.Job); ok {
					return errors.New("connection refused")
				}
				return nil
			}
			_, err := s.reconcile(s.test.Context(), s.key)
			s.Expect(err).To(HaveOccurred())
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t)
			tc.prepare(s)
			d := s.drain(tc.change...)
			d.look()
			d.Expect(d.secret().Data).NotTo(HaveKey(exchange.RunKey), "no credentials are left")
			d.Expect(d.hasJob()).To(Equal(tc.isBusy))
			d.endPods()
			d.expectEnded(run.Cancelled, "withdrawn: the controller no longer has --runner=job")
		})
	}
}

// endPods removes the pods, as the garbage collector does with those of a Job.
func (s *started) endPods() {
	s.test.Helper()
	s.Expect(s.api.DeleteAllOf(s.test.Context(), &corev1.Pod{}, client.InNamespace("default"))).To(Succeed())
}

func TestTheResultOfAJobIsAbsorbedAfterASwitch(t *testing.T) {
	for name, change := range map[string][]func(*DrainOptions){"with rights": nil, "without": {blind}} {
		t.Run(name, func(t *testing.T) {
			s := claimedRun(t)
			d := s.drain(change...)
			phase, _ := d.look()
			d.Expect(phase).To(Equal(run.Running))
			d.Expect(d.Drainer.Report(ref("1")).Unproven != "").To(Equal(change != nil))
			d.Expect(d.hasJob()).To(BeTrue(), "a run at work is left alone")
			d.Expect(d.Drainer.Cancel(ref("1"), false)).To(Succeed())
			d.Expect(d.secret().Data).To(HaveKeyWithValue(exchange.CancelKey, BeEquivalentTo(exchange.CancelGently)))
			s.write(run.Result{Outcome: run.Succeeded, Message: "done"})
			d.expectEnded(run.Succeeded, "done")
			d.Expect(d.hasJob()).To(BeTrue(), "its log can be read")
		})
	}
}

func TestARunThatWasCancelledBeforeASwitch(t *testing.T) {
	s := claimedRun(t)
	d := s.drain(func(o *DrainOptions) {
		o.Recorded = func(context.Context, run.Ref) (run.Recorded, error) {
			return run.Recorded{InFlight: true, Cancelled: true, AtOnce: true}, nil
		}
	})
	d.look()
	d.Expect(d.secret().Data).To(HaveKeyWithValue(exchange.CancelKey, BeEquivalentTo(exchange.CancelNow)), "its controller may not have asked the pod")
	s.write(run.Result{Outcome: run.Cancelled, Message: "cancelled"})
	d.expectEnded(run.Cancelled, "cancelled")
}

func TestAPodThatDiedIsSeenAfterASwitch(t *testing.T) {
	s := claimedRun(t)
	s.endPods()
	s.Expect(s.api.Delete(t.Context(), &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "pulumi-run-1"}})).To(Succeed())
	without := s.drain(blind)
	phase, _ := without.look()
	without.Expect(phase).To(Equal(run.Running))
	without.Expect(without.Drainer.Report(ref("1")).Unproven).To(ContainSubstring("may not read Jobs and pods"), "nothing proves that the pod has died")
	without.Expect(without.has(&corev1.Secret{})).To(BeTrue())
	result := s.drain().expectEnded(run.PodFailed, "is gone")
	s.Expect(result.Interrupted).To(BeTrue())
}

func TestNothingIsLeftOfARunAfterASwitch(t *testing.T) {
	s := runnerOn(t, newCluster())
	phase, _ := s.drain().look()
	s.Expect(phase).To(Equal(run.Unknown))
	s.Expect(s.drain().Drainer.Report(ref("1")).Unproven).To(BeEmpty())
	without := s.drain(blind)
	phase, _ = without.look()
	s.Expect(phase).To(Equal(run.Unknown))
	s.Expect(without.Drainer.Report(ref("1")).Unproven).To(ContainSubstring("its Secret is gone"), "it may be at work, as far as can be seen")
}

func TestAPodThatContinuesAfterItsResultIsEndedAfterASwitch(t *testing.T) {
	s := goesOn(t)
	d := s.drain()
	phase, _ := d.look()
	d.Expect(phase).To(Equal(run.Running), "the next run waits for the pod")
	d.Expect(d.hasJob()).To(BeTrue(), "most pods end by themselves")
	d.Drainer.mu.Lock()
	d.Drainer.runs[d.key].resultSeenAt = d.Drainer.runs[d.key].resultSeenAt.Add(-lingerPatience)
	d.Drainer.mu.Unlock()
	phase, _ = d.look()
	d.Expect(phase).To(Equal(run.Running))
	d.Expect(d.hasJob()).To(BeFalse())
	d.endPods()
	d.expectEnded(run.Succeeded, "")
}

func TestALookAfterASwitchThatFailsIsRepeated(t *testing.T) {
	t.Parallel() // it waits for a retry
	s := claimedRun(t)
	d := s.drain()
	s.api.setUnreadable(errors.New("connection refused"))
	phase, _ := d.look()
	d.Expect(phase).To(Equal(run.Running), "nothing is known of it")
	d.Eventually(d.woken.list).Should(ContainElement("default/app"))
}

func TestSecretsThatNoStackKnowsAreRemovedAfterASwitch(t *testing.T) {
	for name, tc := range map[string]struct {
		inUse  map[string]bool
		change []func(*DrainOptions)
		kept   bool
		job    bool
	}{
		"known to a Stack":        {inUse: map[string]bool{"1": true}, kept: true, job: true},
		"known to none":           {},
		"and nobody may see Jobs": {change: []func(*DrainOptions){blind}, job: true},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t)
			s.step()
			d := s.drain(append(tc.change, func(o *DrainOptions) {
				o.InUse = func(context.Context) (map[string]bool, error) { return tc.inUse, nil }
			})...)
			d.Expect(d.Sweep(t.Context())).To(Succeed())
			d.Expect(d.has(&corev1.Secret{})).To(Equal(tc.kept))
			d.Expect(d.hasJob()).To(Equal(tc.job))
		})
	}
}
