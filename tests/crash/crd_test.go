// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package crash

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/cloud"
	"github.com/flux-pulumi/pulumi-controller/tests/operator"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// rewatched is how long the controller may take to see a change. In one run of these tests on a busy machine, its watch got no
// event for more than five minutes after the CRD was put back: client-go opens a watch again after at most ten.
const rewatched = 11 * time.Minute

// stackCRD is the CRD of Stacks, which a test replaces and puts back.
type stackCRD struct {
	u    *subject
	ours any
}

func (u *subject) stackCRD(ctx context.Context) *stackCRD {
	c := &stackCRD{u: u}
	c.ours = c.read(ctx).Object["spec"]
	return c
}

func (c *stackCRD) read(ctx context.Context) *unstructured.Unstructured {
	there := &unstructured.Unstructured{}
	there.SetAPIVersion("apiextensions.k8s.io/v1")
	there.SetKind("CustomResourceDefinition")
	c.u.Expect(c.u.s.Get(ctx, client.ObjectKey{Name: "stacks.pulumi.com"}, there)).To(Succeed())
	return there
}

// replace applies the CRD of the Pulumi operator v2.
func (c *stackCRD) replace(ctx context.Context) {
	theirs, err := runtime.DefaultUnstructuredConverter.ToUnstructured(operator.StackCRD(true))
	c.u.Expect(err).NotTo(HaveOccurred())
	c.apply(ctx, theirs["spec"], false)
}

func (c *stackCRD) putBack(ctx context.Context) { c.apply(ctx, c.ours, true) }

// apply returns when the API server serves the CRD. That of the operator lacks
// spec.suspend.
func (c *stackCRD) apply(ctx context.Context, spec any, isOurs bool) {
	there := c.read(ctx)
	there.Object["spec"] = spec
	c.u.Expect(c.u.s.Update(ctx, there)).To(Succeed())
	c.u.Eventually(func(g Gomega) {
		probe := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
			"stack": "dev", "programRef": map[string]any{"name": "probe"}, "suspend": true,
		}}}
		probe.SetGroupVersionKind(v1.GroupVersion.WithKind(v1.StackKind))
		probe.SetNamespace(c.u.s.RuntimeNamespace())
		probe.SetName("probe")
		g.Expect(c.u.s.Create(ctx, probe, client.DryRunAll)).To(Succeed())
		_, isKept, err := unstructured.NestedBool(probe.Object, "spec", "suspend")
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(isKept).To(Equal(isOurs))
	}).Should(Succeed())
}

var reconcileCount = regexp.MustCompile(`(?m)^gotk_reconcile_duration_seconds_count\{kind="Stack",name="([^"]+)",.*\} (\d+)$`)

// reconciles returns how often the running controller has reconciled the Stack.
func (u *subject) reconciles(ctx context.Context) int {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.s.MetricsURL(), nil)
	u.Expect(err).NotTo(HaveOccurred())
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0 // it starts
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	u.Expect(err).NotTo(HaveOccurred())
	for _, match := range reconcileCount.FindAllStringSubmatch(string(text), -1) {
		if match[1] == u.name {
			count, err := strconv.Atoi(match[2])
			u.Expect(err).NotTo(HaveOccurred())
			return count
		}
	}
	return 0
}

// awaitAnotherLook waits until the controller has reconciled the Stack again, by itself.
func (u *subject) awaitAnotherLook(ctx context.Context) {
	before := u.reconciles(ctx)
	u.Eventually(func() int { return u.reconciles(ctx) }).Should(BeNumerically(">", before), u.report(ctx))
}

// awaitNotKept waits until the Stack says that its status is not kept, and checks that
// nothing runs.
func (u *subject) awaitNotKept(ctx context.Context, field string) {
	u.Expect(u.awaitReason(ctx, v1.StatusNotKeptReason)).To(And(
		HavePrefix("The API server drops status."+field+", because the CRD stacks.pulumi.com lacks fields"), HaveSuffix("-k config/crd")))
	u.Expect(u.processes("")).To(BeEmpty())
}

// awaitEvents waits for the events with the reason that the Stack should have, however often each. They are sent beside what
// the status is written with.
func (u *subject) awaitEvents(ctx context.Context, reason string, expected types.GomegaMatcher) {
	u.Eventually(func(g Gomega) {
		events := &corev1.EventList{}
		g.Expect(u.s.List(ctx, events, client.InNamespace(u.s.RuntimeNamespace()))).To(Succeed())
		var found []string
		for _, event := range events.Items {
			if event.Reason == reason && event.InvolvedObject.Name == u.name {
				found = append(found, fmt.Sprintf("%d times: %s", max(event.Count, 1), event.Message))
			}
		}
		g.Expect(found).To(expected)
	}).Should(Succeed())
}

// The CRD of the Pulumi operator drops the record of each run: none is started, neither by
// this controller nor by the next one, and no destroy.
func TestNothingRunsWithTheCRDOfTheOperator(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	ctx := t.Context()
	u := newSubject(t, startAlone(t), "foreign")
	u.SetDefaultEventuallyTimeout(rewatched)
	crd := u.stackCRD(ctx)
	crd.replace(ctx)
	u.create(ctx, things(2, "one"), nil)
	u.awaitNotKept(ctx, "run")
	u.awaitAnotherLook(ctx)
	u.awaitNotKept(ctx, "run")
	once := ConsistOf(HavePrefix("1 times: The API server drops status.run"))
	u.awaitEvents(ctx, v1.StatusNotKeptReason, once)
	u.Expect(u.s.Controller.Kill()).To(Succeed())
	u.Expect(u.s.StartController()).To(Succeed())
	u.awaitAnotherLook(ctx)
	u.awaitNotKept(ctx, "run")
	u.awaitEvents(ctx, v1.StatusNotKeptReason, once)
	journal, err := u.cloud().Journal()
	u.Expect(err).NotTo(HaveOccurred())
	u.Expect(journal).To(BeEmpty(), "nothing was run")
	crd.putBack(ctx)
	u.awaitCurrent(ctx)
	u.checkExact()

	crd.replace(ctx)
	u.Expect(u.s.Delete(ctx, u.stack(ctx))).To(Succeed())
	u.awaitNotKept(ctx, "run")
	u.awaitAnotherLook(ctx)
	u.awaitNotKept(ctx, "run")
	u.checkExact()
	crd.putBack(ctx)
	u.awaitGone(ctx)
	u.checkDestroyed()
}

// The CRD is replaced in mid-run, and the provider dies: the controller keeps what it knows
// of the creation until the API server takes it.
func TestCreationInFlightWhenTheCRDIsReplaced(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	ctx := t.Context()
	u := newSubject(t, startAlone(t), "swapped")
	u.SetDefaultEventuallyTimeout(rewatched)
	crd := u.stackCRD(ctx)
	u.create(ctx, []thing{{name: "lost", value: "one", delays: map[string]string{"afterCreate": "1h"}}}, nil)
	u.Eventually(func() int { return u.count(cloud.Create, cloud.Done, "lost") }).Should(Equal(1), u.report(ctx))
	crd.replace(ctx)
	u.Expect(syscall.Kill(u.provider("lost"), syscall.SIGKILL)).To(Succeed())
	u.awaitNotKept(ctx, "unknownCreates")
	u.awaitEvent(ctx, And(HaveSuffix("::lost"), ContainSubstring("the status of its Stack no longer had its record")))
	u.awaitAnotherLook(ctx)
	u.awaitNotKept(ctx, "unknownCreates")

	crd.putBack(ctx)
	u.Expect(u.awaitReason(ctx, v1.PendingOperationsReason)).To(ContainSubstring("::lost"))
	u.Expect(u.stack(ctx).Status.UnknownCreates).To(ConsistOf(HaveSuffix("::lost")))
	u.Expect(u.count(cloud.Create, cloud.Begin, "lost")).To(Equal(1), "it was not started a second time")
	log, err := os.ReadFile(u.s.ControllerLog())
	u.Expect(err).NotTo(HaveOccurred())
	u.Expect(string(log)).NotTo(ContainSubstring("removed by force"))
}
