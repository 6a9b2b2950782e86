// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/dependency"
	"github.com/flux-pulumi/pulumi-controller/internal/observe"
	"github.com/flux-pulumi/pulumi-controller/internal/program/check"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

const gitCommit40 = "67e2c98a60dc92283531412a9e604dd4bae005a9"

// started is the time of the tests.
var started = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// testRunner is a run.Runner whose runs do nothing, and end on command.
type testRunner struct {
	full    bool
	refuse  bool
	mu      sync.Mutex
	runs    map[string]run.Run
	results map[string]*run.Result
	started int
	slots   int
	// background are the slots of the runs in the background.
	background testSlots
	// postponed counts the slots that were given back for now.
	postponed int
	// unreadable has it find no result, as if the API server could not be asked.
	unreadable bool
	// cancels has the cancelled runs, and whether they were cancelled at once.
	cancels map[string]bool
	// progress and those below, if set, are what the runs in flight report.
	progress       func(id string) run.Progress
	unknownCreates func(id string) []string
	found          func(id string) run.Found
	withdrawable   func(id string) bool
	unproven       string
	noted          map[string]run.Found
	forgotten      []string
}

func newTestRunner() *testRunner {
	return &testRunner{runs: map[string]run.Run{}, results: map[string]*run.Result{}}
}

func (r *testRunner) Reserve(string, string) bool {
	if !r.full {
		r.slots++
	}
	return !r.full
}

func (r *testRunner) Release(string, string) { r.slots = 0 }

func (r *testRunner) Postpone(string, string) {
	r.slots = 0
	r.postponed++
}

func (r *testRunner) Background() run.Slots { return &r.background }

// testSlots are there unless they are full.
type testSlots struct {
	full  bool
	taken int
}

func (s *testSlots) Reserve(string, string) bool {
	if !s.full {
		s.taken++
	}
	return !s.full
}

func (s *testSlots) Release(string, string)  { s.taken = 0 }
func (s *testSlots) Postpone(string, string) { s.taken = 0 }

func (r *testRunner) Start(todo run.Run) error {
	if r.refuse {
		return fmt.Errorf("the controller ends: %w", run.ErrRefused)
	}
	r.runs[todo.ID] = todo
	r.started++
	return nil
}

func (r *testRunner) Look(of run.Ref) (run.Phase, *run.Result) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if result, ok := r.results[of.ID]; ok && !r.unreadable {
		return run.Ended, result
	}
	if _, ok := r.runs[of.ID]; ok {
		return run.Running, nil
	}
	return run.Unknown, nil
}

func (r *testRunner) Cancel(of run.Ref, now bool) error {
	id := of.ID
	if r.cancels == nil {
		r.cancels = map[string]bool{}
	}
	if _, running := r.runs[id]; running {
		r.cancels[id] = r.cancels[id] || now
	}
	return nil
}

func (r *testRunner) Report(of run.Ref) run.Report {
	report := run.Report{Unproven: r.unproven}
	if r.progress != nil {
		report.Progress = r.progress(of.ID)
	}
	if r.unknownCreates != nil {
		report.UnknownCreates = r.unknownCreates(of.ID)
	}
	if r.found != nil {
		report.Found = r.found(of.ID)
	}
	if r.withdrawable != nil {
		report.Withdrawable = r.withdrawable(of.ID)
	}
	return report
}

func (r *testRunner) ConfirmFound(of run.Ref, found run.Found) {
	if r.noted == nil {
		r.noted = map[string]run.Found{}
	}
	r.noted[of.ID] = found
}

func (r *testRunner) Closed() bool { return false }

func (r *testRunner) Ended() []run.Ref {
	var ended []run.Ref
	for id := range r.results {
		ended = append(ended, run.Ref{ID: id, Namespace: key.Namespace, Name: key.Name})
	}
	return ended
}

func (r *testRunner) Forget(of run.Ref) error {
	id := of.ID
	r.mu.Lock()
	defer r.mu.Unlock()
	r.forgotten = append(r.forgotten, id)
	delete(r.runs, id)
	delete(r.results, id)
	return nil
}

func (r *testRunner) end(id string, outcome run.Outcome, message string) {
	r.results[id] = &run.Result{
		Operation: r.runs[id].Operation, Approved: r.runs[id].Approved, Outcome: outcome, Message: message, Project: run.Project{Name: "app", Runtime: "yaml"},
		StartedAt: started, EndedAt: started.Add(time.Second),
	}
}

// testJobs says of Jobs what the test sets, and records which are withdrawn.
type testJobs struct {
	fault         error
	withdrawn     []string
	namespaceEnds func(namespace string) (bool, error)
}

func (j *testJobs) Check(run.Run) error            { return j.fault }
func (j *testJobs) JobName(id string) string       { return "job-" + id }
func (j *testJobs) WaitsFor(string, string) string { return "" }
func (j *testJobs) Withdraw(of run.Ref)            { j.withdrawn = append(j.withdrawn, of.ID) }

func (j *testJobs) NamespaceEnds(_ context.Context, namespace string) (bool, error) {
	if j.namespaceEnds == nil {
		return false, nil
	}
	return j.namespaceEnds(namespace)
}

// prover says that every other process is gone, or is not, or why it cannot tell.
type prover struct {
	gone  bool
	fault error
}

func (p *prover) Gone(context.Context, v1.RunHolder, time.Time) (bool, error) { return p.gone, p.fault }

// eventLog records the events that were sent.
type eventLog struct {
	mu sync.Mutex
	// lines are the events for people, and commitStatuses those for git forges.
	lines, commitStatuses []string
	// metadata of all of them, in order.
	metadata []map[string]string
}

func (l *eventLog) AnnotatedEventf(_ runtime.Object, metadata map[string]string, kind, reason, format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	line := fmt.Sprintf("%s %s %s", kind, reason, fmt.Sprintf(format, args...))
	l.metadata = append(l.metadata, metadata)
	if metadata["pulumi.com/commit_status"] != "" {
		l.commitStatuses = append(l.commitStatuses, line)
		return
	}
	l.lines = append(l.lines, line)
}

// world is a reconciler and everything around it.
type world struct {
	*StackReconciler
	t      *testing.T
	runner *testRunner
	events *eventLog
	others *prover
	mu     sync.Mutex
	writes int
	// writing, if set, may hold up a write to the Stack.
	writing func(name string)
	// failWrite, if set, may refuse a write to the API server.
	failWrite func(nth int) error
	// afterWrite, if set, may lose the response to a write that was done.
	afterWrite func(nth int) error
}

var key = client.ObjectKey{Namespace: "default", Name: "app"}

// worldScheme has only what the controller uses: the fake client looks through all kinds of all groups at each patch, which
// took half the time of the tests.
var worldScheme = sync.OnceValues(func() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, sourcev1.AddToScheme, v1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	return scheme, nil
})

func newWorld(t *testing.T, objects ...client.Object) *world {
	t.Helper()
	scheme, err := worldScheme()
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, runner: newTestRunner(), events: &eventLog{}, others: &prover{}}
	count := func(ctx context.Context) error {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.writes++
		if w.failWrite != nil {
			return w.failWrite(w.writes)
		}
		return ctx.Err()
	}
	builder := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithStatusSubresource(&v1.Stack{}, &v1.Program{})
	for field, index := range stackIndexes() {
		builder.WithIndex(&v1.Stack{}, field, index)
	}
	api := builder.
		WithInterceptorFuncs(interceptor.Funcs{
			Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
				if err := count(ctx); err != nil {
					return err
				}
				return c.Patch(ctx, o, p, opts...)
			},
			SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
				if w.writing != nil {
					w.writing(o.GetName())
				}
				if err := count(ctx); err != nil {
					return err
				}
				err := c.SubResource(sub).Patch(ctx, o, p, opts...)
				if err == nil && w.afterWrite != nil {
					return w.afterWrite(w.writes)
				}
				return err
			},
		}).Build()
	w.StackReconciler = &StackReconciler{
		Client: api, APIReader: api, Events: w.events, Runner: w.runner,
		Holder:       v1.RunHolder{Host: "pod-1", Instance: "a"},
		Holders:      w.others,
		Options:      observe.Options{NoCrossNamespaceRefs: true},
		Jitter:       func(d time.Duration) time.Duration { return d },
		Now:          func() time.Time { return started },
		CheckProgram: check.Check,
		expressions:  dependency.NewExpressions(maxExpressions),
		checks:       observe.ProgramCheck(check.Check),
	}
	return w
}

func (w *world) reconcile() (ctrl.Result, error) {
	return w.Reconcile(context.Background(), ctrl.Request{NamespacedName: key})
}

func (w *world) mustReconcile() ctrl.Result {
	w.t.Helper()
	result, err := w.reconcile()
	if err != nil {
		w.t.Fatal(err)
	}
	return result
}

func (w *world) stack() *v1.Stack {
	w.t.Helper()
	stack := &v1.Stack{}
	if err := w.Get(context.Background(), key, stack); err != nil {
		w.t.Fatal(err)
	}
	return stack
}

func (w *world) edit(change func(*v1.Stack)) {
	w.t.Helper()
	stack := w.stack()
	change(stack)
	if err := w.Update(context.Background(), stack); err != nil {
		w.t.Fatal(err)
	}
}

func programAndStack() []client.Object {
	return []client.Object{
		&v1.Program{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "app", Generation: 1}},
		&v1.Stack{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "app", Generation: 1},
			Spec: v1.StackSpec{
				Stack:             "dev",
				Backend:           "file:///state",
				ProgramRef:        &v1.ProgramReference{Name: "app"},
				DestroyOnFinalize: true,
			},
		},
	}
}
