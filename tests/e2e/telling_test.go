// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	eventv1 "github.com/fluxcd/pkg/apis/event/v1beta1"
	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/cloud"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// eventReceiver stands in for notification-controller. It answers or hangs.
type eventReceiver struct {
	*httptest.Server
	mu     sync.Mutex
	events []eventv1.Event
	// hang is closed to release waiting clients. It is nil while the receiver answers.
	hang    chan struct{}
	hanging int
}

func newEventReceiver() *eventReceiver {
	r := &eventReceiver{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		var event eventv1.Event
		if err := json.NewDecoder(request.Body).Decode(&event); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		r.mu.Lock()
		hang := r.hang
		if hang == nil {
			r.events = append(r.events, event)
		} else {
			r.hanging++
		}
		r.mu.Unlock()
		if hang != nil {
			<-hang
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		w.WriteHeader(http.StatusAccepted)
	}))
	return r
}

func (r *eventReceiver) setHanging(hangs bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.hang != nil {
		close(r.hang)
		r.hang = nil
	}
	if hangs {
		r.hang = make(chan struct{})
	}
}

func (r *eventReceiver) waiting() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.hanging
}

// about returns the events on a Stack in the order of their arrival.
func (r *eventReceiver) about(stack *v1.Stack) []eventv1.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	var about []eventv1.Event
	for _, event := range r.events {
		if event.InvolvedObject.Namespace == stack.Namespace && event.InvolvedObject.Name == stack.Name {
			about = append(about, event)
		}
	}
	return about
}

// tellingPart is a part of the test with the event receiver of its controller.
type tellingPart struct {
	*tenant
	receiver *eventReceiver
}

// TestEventsLogsAndProgressOfARun uses its own controller, which has one worker and sends its events to the test. The
// last part ends that controller.
func TestEventsLogsAndProgressOfARun(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	receiver := newEventReceiver()
	t.Cleanup(receiver.Close)
	t.Cleanup(func() { receiver.setHanging(false) })
	telling := ownController(t, "telling", "--concurrent=1", "--events-addr="+receiver.URL)
	for _, part := range []struct {
		name string
		test func(tellingPart)
	}{
		{"the progress of a long run is reported", progressOfALongRun},
		{"a failure and the success after it", aFailureAndTheSuccessAfterIt},
		{"a receiver that hangs holds nobody up", aReceiverThatHangsHoldsNobodyUp},
		{"events are sent before the controller exits", eventsAreSentBeforeTheControllerExits},
	} {
		t.Run(part.name, func(t *testing.T) { part.test(tellingPart{newTenant(t, telling), receiver}) })
	}
}

func progressOfALongRun(u tellingPart) {
	watched, err := u.Watch(u.ctx, &v1.StackList{}, client.InNamespace(u.namespace))
	u.Expect(err).NotTo(HaveOccurred())
	defer watched.Stop()
	stack := u.held("slow")
	u.Eventually(func(g Gomega) {
		g.Expect(u.Get(u.ctx, keyOf(stack), stack)).To(Succeed())
		g.Expect(stack.Status.Run).NotTo(BeNil())
		g.Expect(stack.Status.Run.Progress).NotTo(BeNil())
	}).Should(Succeed())
	u.releaseHeld("slow")
	u.awaitReady(stack)

	// All versions of the Stack that were ever written, in order, but for one that has nothing new but where the run found its
	// stack. On a busy machine, one write has both that and the progress.
	var written []string
	var before v1.StackStatus
	for event := range watched.ResultChan() {
		now, ok := event.Object.(*v1.Stack)
		u.Expect(ok).To(BeTrue())
		foundItsStack := before.Run != nil && now.Status.Run != nil && equality.Semantic.DeepEqual(before.Run.Progress, now.Status.Run.Progress) &&
			!equality.Semantic.DeepEqual(before.ProjectInfo, now.Status.ProjectInfo)
		before = now.Status
		if event.Type == watch.Modified && !foundItsStack {
			written = append(written, conditions.GetMessage(now, meta.ReadyCondition))
		}
		if now.ResourceVersion == stack.ResourceVersion {
			break
		}
	}
	// Progress is reported after 10 s, and then after 20 s and 40 s if the run takes so long. On a busy machine, the program may not have started by then.
	u.Expect(len(written)).To(BeNumerically(">=", 4), "%q", written)
	first, progress, last := written[:2], written[2:len(written)-1], written[len(written)-1]
	u.Expect(first).To(HaveExactElements(
		BeEmpty(), // the finalizer
		MatchRegexp(`^Running update at revision 1@sha256:[0-9a-f]+ with a timeout of 1h0m0s$`),
	))
	u.Expect(progress).To(HaveEach(
		MatchRegexp(`^Running update at revision 1@sha256:[0-9a-f]+: (waiting for the first resource of the program, which may have to be compiled|` +
			`no resource operations yet|1 in progress|1 created) after [0-9]+s$`)))
	for i, message := range progress {
		u.Expect(progress[:i]).NotTo(ContainElement(message), "nothing is written twice")
	}
	u.Expect(last).To(MatchRegexp(`^Applied revision: 1@sha256:[0-9a-f]+$`))

	u.Eventually(func() []eventv1.Event { return u.receiver.about(stack) }).Should(HaveLen(1), "a Program has no commit status")
	events := u.receiver.about(stack)
	u.Expect(events[0].Message).To(MatchRegexp(`^Update succeeded: 1 created in [0-9.]+s$`))
	u.Expect(events[0].InvolvedObject.APIVersion).To(Equal("pulumi.com/v1"))
	u.Expect(events[0].Metadata).To(And(HaveKeyWithValue("pulumi.com/revision", stack.Status.LastAppliedRevision),
		HaveKeyWithValue("pulumi.com/created", "1"), HaveKeyWithValue("pulumi.com/stack", "slow"), Not(HaveKey("pulumi.com/commit_status"))))
	u.Eventually(func(g Gomega) {
		g.Expect(u.events(g, stack.Name)).To(HaveLen(1), "Kubernetes Events")
	}).Should(Succeed())

	lines, err := u.metrics(u.ctx)
	u.Expect(err).NotTo(HaveOccurred())
	u.Expect(lines).To(ContainElements(
		`pulumi_run_duration_seconds_count{operation="update",outcome="Succeeded"} 1`,
		`pulumi_resource_changes_total{change="created"} 1`, `pulumi_runs_in_flight 0`, `pulumi_runs_waiting 0`, `pulumi_events_dropped_total 0`,
	))
	u.expectFluxLogs(stack, "update starts", "lab:index:Thing (a): create started", "lab:index:Thing (a): create done", events[0].Message)
}

// expectFluxLogs looks for lines like flux logs --kind=Stack --name=<name>.
func (u tellingPart) expectFluxLogs(stack *v1.Stack, messages ...string) {
	u.test.Helper()
	log, err := os.ReadFile(u.ControllerLog())
	u.Expect(err).NotTo(HaveOccurred())
	var found []string
	for line := range strings.Lines(string(log)) {
		var entry struct{ TS, Level, Msg, ControllerKind, Name, Namespace string }
		if !strings.HasPrefix(line, "{") || json.Unmarshal([]byte(line), &entry) != nil {
			continue
		}
		if entry.ControllerKind == v1.StackKind && entry.Name == stack.Name && entry.Namespace == stack.Namespace && entry.Level == "info" && entry.TS != "" {
			found = append(found, entry.Msg)
		}
	}
	u.Expect(found).To(ContainElements(messages))
}

func aFailureAndTheSuccessAfterIt(u tellingPart) {
	program := u.program(oneThing("${nothing.here}"))
	u.apply(program)
	stack := u.stack(fromProgram)
	u.apply(stack)
	u.awaitFailure(stack, v1.UpdateFailedReason)
	failed := stack.Status.LastAttemptedRevision
	edit(u.tenant, program, func(p *v1.Program) { u.setProgram(p, oneThing("one")) })
	u.awaitReady(stack, programEdited(program))

	u.Eventually(func() []eventv1.Event { return u.receiver.about(stack) }).Should(HaveLen(2))
	var severities, revisions []string
	for _, event := range u.receiver.about(stack) {
		severities = append(severities, event.Severity+" "+event.Reason)
		revisions = append(revisions, event.Metadata["pulumi.com/revision"])
	}
	u.Expect(severities).To(Equal([]string{"error UpdateFailed", "info ReconciliationSucceeded"}))
	u.Expect(revisions).To(Equal([]string{failed, stack.Status.LastAppliedRevision}))
}

func aReceiverThatHangsHoldsNobodyUp(u tellingPart) {
	u.receiver.setHanging(true)
	defer u.receiver.setHanging(false)
	for _, name := range []string{"one", "two", "three"} {
		stack := u.byItself(name)
		u.awaitReady(stack)
		u.awaitEvent(stack, "Normal", meta.ReconciliationSucceededReason, "Update succeeded")
	}
	u.Eventually(u.receiver.waiting).Should(BeNumerically(">", 0), "someone waits for an answer")
	u.receiver.setHanging(false)
	for _, name := range []string{"one", "two", "three"} {
		stack := u.stack(named(name))
		u.Eventually(func() []eventv1.Event { return u.receiver.about(stack) }).Should(HaveLen(1), "nothing is lost")
	}
}

func eventsAreSentBeforeTheControllerExits(u tellingPart) {
	stack := u.held("slow")
	stopped := make(chan error, 1)
	go func() { stopped <- u.Controller.Stop() }()
	u.Eventually(cloud.Open(u.ownCloud("slow")).ToldToStop).Should(BeTrue())
	u.releaseHeld("slow")
	u.Eventually(stopped).Should(Receive(BeNil()))
	events := u.receiver.about(stack)
	u.Expect(events).To(HaveLen(1))
	u.Expect(events[0].Severity).To(Equal("info"), "it is no failure")
	u.Expect(events[0].Reason).To(Equal(meta.ProgressingReason))
	u.Expect(events[0].Message).To(ContainSubstring("Update was stopped after "))
	u.Expect(u.StartController()).To(Succeed())
	u.awaitReady(stack)
}
