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
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/observe"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/stackstatus"
)

// These tests are about what is written when, and about the moments at which a write
// fails or the process dies. They use an in-memory API server that can fail at a chosen
// write, and a runner whose runs end on command. tests/e2e puts the real ones together.

func TestARunIsRecordedBeforeItStartsAndAbsorbedOnce(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, programAndStack()...)

	w.mustReconcile()
	stack := w.stack()
	g.Expect(stack.Finalizers).To(ConsistOf(v1.StackFinalizer))
	g.Expect(stack.Status.Run).NotTo(BeNil())
	g.Expect(w.runner.runs).To(HaveKey(stack.Status.Run.ID))
	g.Expect(w.runner.runs[stack.Status.Run.ID].Project).To(Equal(run.Project{Name: "app", Runtime: "yaml"}))
	g.Expect(w.writes).To(Equal(2), "the finalizer and the record")

	w.mustReconcile()
	g.Expect(w.writes).To(Equal(2), "nothing is written while the run is in flight")

	w.runner.end(stack.Status.Run.ID, run.Succeeded, "")
	w.mustReconcile()
	g.Expect(w.writes).To(Equal(3))
	g.Expect(w.runner.runs).To(BeEmpty(), "the runner has forgotten the run")
	g.Expect(conditions.IsReady(w.stack())).To(BeTrue())
	g.Expect(w.events.lines).To(ConsistOf("Trace ReconciliationSucceeded Update succeeded: no resources in 1s"))

	result := w.mustReconcile()
	g.Expect(w.writes).To(Equal(3), "nothing is written when nothing has changed")
	g.Expect(w.runner.started).To(Equal(1), "and nothing is run")
	g.Expect(result.RequeueAfter).To(Equal(v1.DefaultInterval))
}

func TestNothingStartsWhenTheRecordCannotBeWritten(t *testing.T) {
	conflict := apierrors.NewConflict(schema.GroupResource{Resource: "stacks"}, "app", errors.New("changed"))
	for name, refused := range map[string]error{"conflict": conflict, "API server away": errors.New("connection refused")} {
		for nth, write := range []string{1: "finalizer", 2: "record"} {
			if write == "" {
				continue
			}
			t.Run(write+" refused by "+name, func(t *testing.T) {
				g := NewWithT(t)
				w := newWorld(t, programAndStack()...)
				w.failWrite = func(n int) error {
					if n == nth {
						return refused
					}
					return nil
				}

				_, err := w.reconcile()
				g.Expect(w.runner.started).To(BeZero())
				g.Expect(w.runner.slots).To(BeZero(), "the slot is given back")
				g.Expect(w.stack().Status.Run).To(BeNil())
				if apierrors.IsConflict(refused) {
					g.Expect(err).NotTo(HaveOccurred(), "a conflict is no fault")
					g.Expect(w.runner.postponed).To(Equal(1), "and the Stack keeps its turn")
				} else {
					g.Expect(err).To(MatchError(ContainSubstring("connection refused")))
					g.Expect(w.runner.postponed).To(BeZero())
				}

				w.mustReconcile()
				g.Expect(w.runner.started).To(Equal(1))
			})
		}
	}
}

func TestARefusedStartIsWithdrawn(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, programAndStack()...)
	w.runner.refuse = true

	_, err := w.reconcile()
	g.Expect(err).To(MatchError(run.ErrRefused))
	g.Expect(w.stack().Status.Run).To(BeNil())
}

// endingRunner is the runner of a controller that shuts down just before a run starts.
type endingRunner struct {
	*testRunner
	end func()
}

func (r *endingRunner) Start(todo run.Run) error {
	r.end()
	return r.testRunner.Start(todo)
}

func TestARefusedStartIsWithdrawnAtShutdown(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, programAndStack()...)
	ctx, end := context.WithCancel(t.Context())
	w.runner.refuse = true
	w.Runner = &endingRunner{w.runner, end}

	_, err := w.Reconcile(ctx, ctrl.Request{NamespacedName: key})
	g.Expect(err).To(MatchError(run.ErrRefused))
	g.Expect(w.stack().Status.Run).To(BeNil())
}

func TestARefusedPreviewIsAskedForAgainWhenTheControllerEnds(t *testing.T) {
	g := NewWithT(t)
	w := inventoryWorld(t)
	w.mustReconcile()
	w.endRun(run.Succeeded, "", run.Changes{})
	w.edit(asksForPreview("one"))
	ctx, end := context.WithCancel(t.Context())
	w.runner.refuse = true
	w.Runner = &endingRunner{w.runner, end}

	_, err := w.Reconcile(ctx, ctrl.Request{NamespacedName: key})
	g.Expect(err).To(MatchError(run.ErrRefused))
	g.Expect(w.stack().Status.Run).To(BeNil())
	g.Expect(stackstatus.PreviewRequested(w.stack())).To(BeTrue())
}

func TestARefusedStartIsWithdrawnOnceTheAPIServerIsBack(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, programAndStack()...)
	w.runner.refuse = true
	w.failWrite = func(n int) error {
		if n == 3 {
			return errors.New("connection refused")
		}
		return nil
	}
	_, err := w.reconcile()
	g.Expect(err).To(HaveOccurred())
	g.Expect(w.stack().Status.Run).NotTo(BeNil())

	w.runner.refuse = false
	w.mustReconcile()
	g.Expect(w.stack().Status.Run).To(BeNil())
	w.mustReconcile()
	g.Expect(w.runner.started).To(Equal(1))
}

func TestAResultIsKeptUntilItIsWritten(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, programAndStack()...)
	w.mustReconcile()
	id := w.stack().Status.Run.ID
	w.runner.end(id, run.Succeeded, "")
	w.failWrite = func(int) error { return errors.New("connection refused") }

	for range 3 {
		_, err := w.reconcile()
		g.Expect(err).To(HaveOccurred())
		g.Expect(w.runner.results).To(HaveKey(id))
	}

	w.failWrite = nil
	w.mustReconcile()
	g.Expect(conditions.IsReady(w.stack())).To(BeTrue())
	g.Expect(w.runner.results).To(BeEmpty())
	g.Expect(w.events.lines).To(HaveLen(1), "reported once")
}

// The write that absorbs a result may succeed although its response is lost.
func TestAResultWhoseWriteGotNoResponseIsForgotten(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, programAndStack()...)
	w.mustReconcile()
	w.runner.end(w.stack().Status.Run.ID, run.Succeeded, "")
	w.afterWrite = func(n int) error {
		if n == 3 {
			return errors.New("connection reset by peer")
		}
		return nil
	}
	_, err := w.reconcile()
	g.Expect(err).To(HaveOccurred())
	g.Expect(w.stack().Status.Run).To(BeNil(), "it is written")
	g.Expect(w.runner.results).NotTo(BeEmpty())

	w.mustReconcile()
	g.Expect(w.runner.results).To(BeEmpty())
	g.Expect(w.runner.started).To(Equal(1), "and nothing is run again")
}

// A run can end before the cache has seen its record.
func TestAResultIsNotForgottenForAStaleCopyOfItsStack(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, programAndStack()...)
	before := w.stack()
	w.mustReconcile()
	w.runner.end(w.stack().Status.Run.ID, run.Succeeded, "")
	w.Client = staleReader{Client: w.Client, stack: before}

	w.mustReconcile()
	absorbed := &v1.Stack{}
	g.Expect(w.APIReader.Get(context.Background(), key, absorbed)).To(Succeed())
	g.Expect(conditions.IsReady(absorbed)).To(BeTrue())
}

// staleReader reads an old copy of one Stack.
type staleReader struct {
	client.Client
	stack *v1.Stack
}

func (r staleReader) Get(ctx context.Context, key client.ObjectKey, object client.Object, opts ...client.GetOption) error {
	if stack, ok := object.(*v1.Stack); ok {
		r.stack.DeepCopyInto(stack)
		return nil
	}
	return r.Client.Get(ctx, key, object, opts...)
}

// takenOver is a world in which a new process finds the run of an earlier one, of which
// it knows nothing.
func takenOver(t *testing.T) (w *world, lost string) {
	w = newWorld(t, programAndStack()...)
	w.mustReconcile()
	lost = w.stack().Status.Run.ID
	w.runner = newTestRunner()
	w.Runner = w.runner
	w.Holder.Instance = "b"
	return w, lost
}

func TestARunIsLeftToAProcessThatMayBeAlive(t *testing.T) {
	g := NewWithT(t)
	w, lost := takenOver(t)
	before := w.writes

	g.Expect(w.mustReconcile().RequeueAfter).To(BeNumerically(">", 0), "nothing tells of its end")
	g.Expect(w.stack().Status.Run.ID).To(Equal(lost))
	g.Expect(w.runner.started).To(BeZero())
	for _, condition := range []string{meta.ReadyCondition, meta.ReconcilingCondition} {
		g.Expect(conditions.GetMessage(w.stack(), condition)).To(And(
			HavePrefix("Waiting for the controller on pod-1, which executes run "+lost+" (update). "),
			ContainSubstring("release the run: kubectl annotate --field-manager=flux-client-side-apply --overwrite -n default stacks.pulumi.com/app pulumi.com/release-run="+lost)))
	}
	w.mustReconcile()
	g.Expect(w.writes).To(Equal(before+1), "it is said once")
}

func TestARunOfADeadProcessIsRecoveredFromAndThenRunAgain(t *testing.T) {
	g := NewWithT(t)
	w, lost := takenOver(t)
	w.others.gone = true

	w.mustReconcile()
	g.Expect(conditions.GetReason(w.stack(), meta.ReadyCondition)).To(Equal(v1.RunInterruptedReason))
	w.mustReconcile()
	recovery := w.stack().Status.Run
	g.Expect(recovery.Operation).To(Equal(v1.OperationRecover))
	g.Expect(w.runner.runs[recovery.ID].Interrupted).To(HaveExactElements(And(HaveField("ID", lost), HaveField("Host", "pod-1"))))

	w.runner.end(recovery.ID, run.Succeeded, "")
	w.mustReconcile()
	g.Expect(w.stack().Status.Interrupted).To(BeEmpty())
	w.mustReconcile()
	g.Expect(w.stack().Status.Run.Operation).To(Equal(v1.OperationUpdate))
}

func TestARunWhoseHolderCannotBeCheckedIsReportedAndKept(t *testing.T) {
	g := NewWithT(t)
	w, lost := takenOver(t)
	w.others.gone, w.others.fault = true, observe.Unproven(errors.New("failed to make the data directory: not a directory"))

	g.Expect(w.mustReconcile().RequeueAfter).To(Equal(10 * time.Second))
	w.mustReconcile()
	g.Expect(conditions.GetReason(w.stack(), meta.ReadyCondition)).To(Equal(v1.WorkspaceFailedReason))
	const message = " (update) of the controller on pod-1: failed to make the data directory: not a directory"
	g.Expect(conditions.GetMessage(w.stack(), meta.ReadyCondition)).To(Equal("Cannot determine the outcome of run " + lost + message))
	g.Expect(w.stack().Status.Run.ID).To(Equal(lost))
	g.Expect(w.events.lines).To(ContainElement(HaveSuffix(message)))

	w.others.fault = nil
	w.mustReconcile()
	g.Expect(conditions.GetReason(w.stack(), meta.ReadyCondition)).To(Equal(v1.RunInterruptedReason))
}

func TestARecoveryThatIsInterruptedRecoversFromBothRuns(t *testing.T) {
	g := NewWithT(t)
	w, lost := takenOver(t)
	w.others.gone = true
	w.mustReconcile()
	w.mustReconcile()
	recovery := w.stack().Status.Run.ID

	w.runner = newTestRunner()
	w.Runner = w.runner
	w.Holder.Instance = "c"
	w.mustReconcile()
	g.Expect(w.mustReconcile().RequeueAfter).To(Equal(10*time.Second), "the second one in a row waits")
	w.Now = func() time.Time { return started.Add(10 * time.Second) }
	w.mustReconcile()
	second := w.runner.runs[w.stack().Status.Run.ID]
	g.Expect(second.Operation).To(Equal(run.Recover))
	g.Expect(second.Interrupted).To(HaveExactElements(
		And(HaveField("ID", lost), HaveField("Host", "pod-1")), And(HaveField("ID", recovery), HaveField("Host", "pod-1"))))
}

func TestCreationsOfUnknownOutcomeStallUntilTheSpecSaysClear(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, programAndStack()...)
	w.mustReconcile()
	id := w.stack().Status.Run.ID
	w.runner.end(id, run.Failed, "the provider went away")
	w.runner.results[id].UnknownCreates = []string{"urn:b", "urn:a"}
	w.mustReconcile()

	w.mustReconcile()
	stack := w.stack()
	g.Expect(conditions.IsStalled(stack)).To(BeTrue())
	g.Expect(conditions.GetReason(stack, meta.ReadyCondition)).To(Equal(v1.PendingOperationsReason))
	g.Expect(conditions.GetMessage(stack, meta.ReadyCondition)).To(ContainSubstring("urn:a, urn:b"))
	g.Expect(w.runner.started).To(Equal(1))

	w.edit(func(s *v1.Stack) { s.Spec.PendingCreates = v1.PendingCreatesClear })
	w.mustReconcile()
	recovery := w.runner.runs[w.stack().Status.Run.ID]
	g.Expect(recovery.Operation).To(Equal(run.Recover))
	g.Expect(recovery.ClearPendingCreates).To(BeTrue())
	w.runner.end(recovery.ID, run.Succeeded, "")
	w.mustReconcile()
	w.mustReconcile()
	g.Expect(w.stack().Status.UnknownCreates).To(BeEmpty())
	g.Expect(w.stack().Status.Run.Operation).To(Equal(v1.OperationUpdate))
}

func TestAKilledUpdateIsRecoveredFrom(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, programAndStack()...)
	w.mustReconcile()
	id := w.stack().Status.Run.ID
	w.runner.end(id, run.Failed, "killed")
	w.runner.results[id].Interrupted = true
	w.mustReconcile()
	g.Expect(w.stack().Status.Interrupted).To(HaveLen(1))

	w.mustReconcile()
	g.Expect(w.stack().Status.Run.Operation).To(Equal(v1.OperationRecover))
}

func TestResultsAreWrittenWhenReconcilesHaveEnded(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, programAndStack()...)
	w.mustReconcile()
	id := w.stack().Status.Run.ID
	w.runner.end(id, run.Cancelled, "the controller is shutting down")
	failures := 2
	w.failWrite = func(int) error {
		if failures--; failures >= 0 {
			return errors.New("connection refused")
		}
		return nil
	}

	g.Expect(w.WriteAll(context.Background(), []run.Ref{{ID: id, Namespace: key.Namespace, Name: key.Name}})).To(Succeed())
	stack := w.stack()
	g.Expect(stack.Status.Run).To(BeNil())
	g.Expect(conditions.GetReason(stack, meta.ReadyCondition)).To(Equal(v1.RunCancelledReason))
	g.Expect(stack.Status.Failures).To(BeZero(), "it was not the program that failed")

	w.failWrite = nil
	w.mustReconcile()
	g.Expect(w.runner.started).To(Equal(2), "run again at once")
}

func TestAStackWaitsForASlot(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, programAndStack()...)
	w.runner.full = true

	w.mustReconcile()
	g.Expect(conditions.GetMessage(w.stack(), meta.ReadyCondition)).To(Equal("Waiting for other runs to end"))
	g.Expect(w.stack().Finalizers).To(BeEmpty())
	w.mustReconcile()
	g.Expect(w.writes).To(Equal(1), "it is said once")

	w.runner.full = false
	w.mustReconcile()
	g.Expect(w.runner.started).To(Equal(1))
}

func TestAProblemIsAnnouncedOnceAndCanBeFixed(t *testing.T) {
	g := NewWithT(t)
	objects := programAndStack()
	w := newWorld(t, objects[1])

	result := w.mustReconcile()
	g.Expect(result.RequeueAfter).To(Equal(v1.DefaultInterval))
	g.Expect(conditions.GetReason(w.stack(), meta.ReadyCondition)).To(Equal(meta.ArtifactFailedReason))
	w.mustReconcile()
	g.Expect(w.writes).To(Equal(1))
	g.Expect(w.events.lines).To(HaveLen(1))
	g.Expect(w.stack().Finalizers).To(BeEmpty(), "nothing was made, so nothing holds the object")

	g.Expect(w.Create(context.Background(), objects[0])).To(Succeed())
	w.mustReconcile()
	g.Expect(w.runner.started).To(Equal(1))
}

func TestInvalidSpecsStall(t *testing.T) {
	tests := map[string]struct {
		edit func(*v1.Stack)
		want string
		why  string
	}{
		"two sources": {func(s *v1.Stack) {
			s.Spec.FluxSource = &v1.FluxSource{SourceRef: v1.SourceReference{Kind: "GitRepository", Name: "app"}}
		}, "exactly one of fluxSource, programRef and projectRepo", v1.InvalidSpecReason},
		"no source":  {func(s *v1.Stack) { s.Spec.ProgramRef = nil }, "exactly one of fluxSource, programRef and projectRepo", v1.InvalidSpecReason},
		"stack name": {func(s *v1.Stack) { s.Spec.Stack = "a/b/c/d" }, "spec.stack", v1.InvalidSpecReason},
		"secret of another namespace": {func(s *v1.Stack) {
			s.Spec.EnvRefs = map[string]v1.ResourceRef{"TOKEN": {
				Type: v1.ResourceRefSecret, Secret: &v1.SecretKeyReference{Namespace: "other", Name: "token", Key: "token"},
			}}
		}, "cross-namespace references have been blocked", "AccessDenied"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			w := newWorld(t, programAndStack()...)
			w.edit(tt.edit)

			result := w.mustReconcile()
			stack := w.stack()
			g.Expect(conditions.IsStalled(stack)).To(BeTrue())
			g.Expect(conditions.GetReason(stack, meta.ReadyCondition)).To(Equal(tt.why))
			g.Expect(conditions.GetMessage(stack, meta.ReadyCondition)).To(ContainSubstring(tt.want))
			g.Expect(stack.Status.ObservedGeneration).To(Equal(stack.Generation))
			g.Expect(result.RequeueAfter).To(BeZero(), "only an edit helps")
			g.Expect(w.runner.started).To(BeZero())
		})
	}
}

func TestTheResultOfADeletedStackIsDropped(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, programAndStack()...)
	w.mustReconcile()
	w.runner.end(w.stack().Status.Run.ID, run.Succeeded, "")
	g.Expect(w.Delete(context.Background(), w.stack())).To(Succeed())
	w.edit(func(s *v1.Stack) { s.Finalizers = nil })

	w.mustReconcile()
	g.Expect(w.runner.results).To(BeEmpty())
}

func TestAResultThatDoesNotFitIntoTheStatusIsAbsorbedWithoutItsOutputs(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, programAndStack()...)
	w.mustReconcile()
	id := w.stack().Status.Run.ID
	w.runner.end(id, run.Succeeded, "")
	w.runner.results[id].Outputs = map[string]json.RawMessage{"big": json.RawMessage(`"..."`)}
	w.failWrite = func(n int) error {
		if n == 3 {
			return errors.New("etcdserver: request is too large")
		}
		return nil
	}

	w.mustReconcile()
	g.Expect(conditions.IsReady(w.stack())).To(BeTrue())
	g.Expect(w.stack().Status.Outputs).To(BeEmpty())
	g.Expect(w.events.lines).To(ConsistOf(ContainSubstring("; 1 output omitted from the status: too large or too many")))
}

func TestASpecThatLeavesNoRoomForTheStatusStalls(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, programAndStack()...)
	w.edit(func(s *v1.Stack) {
		big, err := json.Marshal(strings.Repeat("x", (1 << 20)))
		g.Expect(err).NotTo(HaveOccurred())
		s.Spec.Config = map[string]apiextensionsv1.JSON{"big": {Raw: big}}
	})
	w.mustReconcile()
	g.Expect(conditions.GetReason(w.stack(), meta.ReadyCondition)).To(Equal(v1.InvalidSpecReason))
	g.Expect(w.stack().Finalizers).To(BeEmpty())
	g.Expect(w.runner.started).To(BeZero())

	w.failWrite = func(int) error { return errors.New("etcdserver: request is too large") }
	w.edit(func(s *v1.Stack) { s.Spec.Config = nil })
	_, err := w.reconcile()
	g.Expect(err).To(HaveOccurred())
	g.Expect(w.events.lines).To(ContainElement(ContainSubstring("too large to write its status")), "where the status cannot tell it, an event does")
}

func TestAStackThatIsSuspendedWhileItWaitsSaysSo(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, programAndStack()...)
	w.runner.full = true
	w.mustReconcile()
	w.edit(func(s *v1.Stack) { s.Spec.Suspend = true })

	w.mustReconcile()
	g.Expect(conditions.IsReconciling(w.stack())).To(BeFalse())
	g.Expect(conditions.GetReason(w.stack(), meta.ReadyCondition)).To(Equal(meta.SuspendedReason))
}

func TestTheProjectOfTheLastUpdateIsKnownToTheNext(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, programAndStack()...)
	w.mustReconcile()
	first := w.stack().Status.Run.ID
	g.Expect(w.runner.runs[first].Known).To(BeZero())
	w.runner.end(first, run.Succeeded, "")
	w.mustReconcile()

	g.Expect(w.Create(context.Background(), &v1.Program{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "other"}})).To(Succeed())
	w.edit(func(s *v1.Stack) { s.Spec.ProgramRef.Name = "other" })
	w.mustReconcile()
	next := w.runner.runs[w.stack().Status.Run.ID]
	g.Expect(next.Known.Name).To(Equal("app"))
	g.Expect(next.Project.Name).To(Equal("other"), "the same text as another project is something else")
}

func TestRequests(t *testing.T) {
	request := func(token string) func(*v1.Stack) {
		return func(s *v1.Stack) {
			s.Annotations = map[string]string{meta.ReconcileRequestAnnotation: token}
		}
	}
	g := NewWithT(t)
	w := newWorld(t, programAndStack()...)
	w.mustReconcile()
	first := w.stack().Status.Run.ID

	w.edit(request("one"))
	w.mustReconcile()
	g.Expect(w.stack().Status.LastHandledReconcileAt).To(BeEmpty(), "the run in flight may have started too early for it")

	w.runner.end(first, run.Succeeded, "")
	w.mustReconcile()
	w.mustReconcile()
	stack := w.stack()
	g.Expect(stack.Status.Run.ID).NotTo(Equal(first))
	g.Expect(stack.Status.LastHandledReconcileAt).To(Equal("one"))
	w.runner.end(stack.Status.Run.ID, run.Succeeded, "")
	w.mustReconcile()
	w.mustReconcile()
	g.Expect(w.stack().Status.Run).To(BeNil(), "answered once")

	w.edit(func(s *v1.Stack) { s.Spec.Suspend = true; request("two")(s) })
	w.mustReconcile()
	g.Expect(w.stack().Status.LastHandledReconcileAt).To(Equal("two"), "as Flux does")
	g.Expect(w.stack().Status.Run).To(BeNil())
}
