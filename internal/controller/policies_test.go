// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/observe"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/source"
)

// packSources has the digests of the artifacts of packs, by the name of their source.
type packSources struct {
	mu      sync.Mutex
	digests map[string]string
	// err is that of each of them.
	err error
}

func (s *packSources) Resolve(_ context.Context, _ string, ref v1.SourceReference) (*source.Source, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return nil, s.err
	}
	digest, ok := s.digests[ref.Name]
	if !ok {
		return nil, fmt.Errorf("source '%s/%s/%s' not found: %w", ref.Kind, ref.Namespace, ref.Name, source.ErrNotFound)
	}
	return &source.Source{Revision: "main@" + digest, Digest: digest, URL: "http://sources/" + ref.Name}, nil
}

func (s *packSources) set(name, digest string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.digests[name] = digest; digest == "" {
		delete(s.digests, name)
	}
}

// policySet has a pack from the source of its own name.
func policySet(name string, enforcement v1.PolicyEnforcement, changes ...func(*v1.PolicySet)) *v1.PolicySet {
	set := &v1.PolicySet{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: v1.PolicySetSpec{Enforcement: enforcement, Packs: []v1.PolicyPack{{
			Name: "tags", Dir: "packs/tags", SourceRef: v1.PolicySourceReference{Kind: "GitRepository", Name: name, Namespace: "platform"},
			Config: map[string]apiextensionsv1.JSON{"required-tags": {Raw: []byte(`{"enforcementLevel":"mandatory"}`)}},
		}}},
	}
	for _, change := range changes {
		change(set)
	}
	return set
}

// guardedWorld has a Stack that was applied before there was a PolicySet.
func guardedWorld(t *testing.T, sets ...*v1.PolicySet) (*world, *packSources) {
	t.Helper()
	w := inventoryWorld(t)
	sources := &packSources{digests: map[string]string{}}
	w.PackSources = sources
	w.mustReconcile()
	w.endRun(run.Succeeded, "", run.Changes{Created: 1})
	w.mustReconcile()
	for _, set := range sets {
		sources.set(set.Name, "sha256:1")
		w.createSet(set)
	}
	return w, sources
}

func (w *world) createSet(set *v1.PolicySet) {
	w.t.Helper()
	if err := w.Create(context.Background(), set); err != nil {
		w.t.Fatal(err)
	}
}

// violated is a violation of the pack of the PolicySet.
func violated(set string) run.Violations {
	return run.Violations{
		Listed:    []run.Violation{{Set: set, Pack: "tags", Policy: "required-tags", Level: run.Mandatory, Resource: "urn:a", Message: "it has no owner"}},
		Mandatory: map[string]int{set: 1},
	}
}

// endPolicies ends the run in flight, which has the operation, with what it has found.
func (w *world) endPolicies(operation run.Operation, outcome run.Outcome, message string, found run.Violations) {
	w.t.Helper()
	record := w.stack().Status.Run
	NewWithT(w.t).Expect(record).To(HaveField("Operation", operation))
	w.runner.end(record.ID, outcome, message)
	w.runner.results[record.ID].Violations = found
	w.runner.results[record.ID].EndedAt = w.Now()
	w.mustReconcile()
}

func compliant(stack *v1.Stack) *metav1.Condition {
	return conditions.Get(stack, v1.CompliantCondition)
}

func newPacks(todo run.Run) []string {
	var names []string
	for _, pack := range todo.Policies {
		names = append(names, fmt.Sprintf("%s/%s@%s", pack.Set, pack.Name, pack.Artifact.Digest))
	}
	return names
}

func TestAStackRunsWithThePacksThatAreEnforced(t *testing.T) {
	g := NewWithT(t)
	w, _ := guardedWorld(t, policySet("guard", v1.PolicyEnforce), policySet("later", v1.PolicyWarn),
		policySet("others", v1.PolicyEnforce, func(set *v1.PolicySet) {
			set.Spec.StackSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"tier": "prod"}}
		}))
	digest := w.stack().Status.LastAppliedDigest
	w.edit(func(s *v1.Stack) { s.Spec.Refresh = true })
	w.mustReconcile()
	record := w.stack().Status.Run
	todo := w.runner.runs[record.ID]
	g.Expect(todo.Operation).To(Equal(run.Update))
	g.Expect(todo.Policies).To(Equal([]run.PolicyPack{{
		Set: "guard", Name: "tags", Revision: "main@sha256:1", Artifact: run.Artifact{URL: "http://sources/guard", Digest: "sha256:1", Dir: "packs/tags"},
		Config: []byte(`{"required-tags":{"enforcementLevel":"mandatory"}}`), Enforced: true,
	}}))
	g.Expect(record.Policies.Sets).To(ConsistOf(HaveField("Name", "guard")))
	g.Expect(record.Policies.Checks).To(BeEmpty(), "a check has the other packs too")
	w.endPolicies(run.Update, run.Succeeded, "", run.Violations{})
	g.Expect(w.stack().Status.Policies).To(BeNil())
	g.Expect(w.stack().Status.LastAppliedDigest).NotTo(Equal(digest))

	w.mustReconcile()
	check := w.stack().Status.Run
	g.Expect(check).To(HaveField("Operation", run.CheckPolicies))
	g.Expect(newPacks(w.runner.runs[check.ID])).To(Equal([]string{"guard/tags@sha256:1", "later/tags@sha256:1"}))
	g.Expect(w.runner.runs[check.ID].Options).To(Equal(run.Options{}), "as it is in the state")
	before := w.stack()
	w.endPolicies(run.CheckPolicies, run.PolicyViolation, "policy required-tags", violated("later"))
	stack := w.stack()
	g.Expect(stack.Status.Run).To(BeNil())
	g.Expect(stack.Status.Policies).To(And(HaveField("Mandatory", BeEquivalentTo(1)), HaveField("Digest", check.Policies.Checks),
		HaveField("Sets", ConsistOf(And(HaveField("Name", "guard"), HaveField("Mandatory", BeZero())), And(HaveField("Name", "later"), HaveField("Mandatory", BeEquivalentTo(1)))))))
	g.Expect(stack.Status.Policies.Violations).To(Equal([]v1.PolicyViolation{{
		PolicySet: "later", Pack: "tags", Policy: "required-tags", Level: "mandatory", Resource: "urn:a", Message: "it has no owner",
	}}))
	g.Expect(compliant(stack)).To(And(HaveField("Status", metav1.ConditionFalse), HaveField("Reason", v1.PolicyViolationReason),
		HaveField("Message", "1 violation of mandatory policies: later/tags/required-tags")))
	for _, kind := range []string{"Ready", "Reconciling", "Stalled"} {
		g.Expect(conditions.Get(stack, kind)).To(Equal(conditions.Get(before, kind)))
	}
	g.Expect(stack.Status.LastRun).To(Equal(before.Status.LastRun))
	g.Expect(w.events.lines[len(w.events.lines)-1]).To(Equal("Warning PolicyViolation 1 violation of mandatory policies: later/tags/required-tags\nrequired-tags: it has no owner (urn:a)"))

	writes := w.writes
	w.mustReconcile()
	g.Expect(w.stack().Status.Run).To(BeNil(), "it was checked")
	g.Expect(w.writes).To(Equal(writes))
}

func TestOtherPacksLeadToACheckAndToNoUpdate(t *testing.T) {
	g := NewWithT(t)
	w, sources := guardedWorld(t, policySet("guard", v1.PolicyEnforce))
	w.mustReconcile()
	w.endPolicies(run.CheckPolicies, run.Succeeded, "", run.Violations{})
	g.Expect(compliant(w.stack())).To(And(HaveField("Status", metav1.ConditionTrue), HaveField("Reason", v1.PoliciesPassedReason)))
	events := len(w.events.lines)

	sources.set("guard", "sha256:2")
	w.mustReconcile()
	g.Expect(newPacks(w.runner.runs[w.stack().Status.Run.ID])).To(Equal([]string{"guard/tags@sha256:2"}))
	w.endPolicies(run.CheckPolicies, run.PolicyViolation, "no", violated("guard"))
	w.mustReconcile()
	g.Expect(w.stack().Status.Run).To(BeNil())
	g.Expect(conditions.IsReady(w.stack())).To(BeTrue(), "what it has violates the policy, but nothing is due")
	g.Expect(w.events.lines).To(HaveLen(events + 1))

	sources.set("guard", "sha256:3")
	w.mustReconcile()
	w.endPolicies(run.CheckPolicies, run.PolicyViolation, "no", violated("guard"))
	g.Expect(w.events.lines).To(HaveLen(events+1), "the same violation is no news")

	sources.set("guard", "sha256:4")
	w.mustReconcile()
	w.endPolicies(run.CheckPolicies, run.Failed, "the provider does not answer", run.Violations{})
	g.Expect(compliant(w.stack())).To(And(HaveField("Status", metav1.ConditionUnknown), HaveField("Reason", v1.PolicyCheckFailedReason)))
	g.Expect(w.stack().Status.Policies).To(And(HaveField("Mandatory", BeEquivalentTo(1)), HaveField("Failures", BeEquivalentTo(1))))
	w.mustReconcile()
	g.Expect(w.stack().Status.Run).To(BeNil(), "it backs off")
	w.passTime(11 * time.Minute)
	w.mustReconcile()
	w.endPolicies(run.CheckPolicies, run.Succeeded, "", run.Violations{Advisory: map[string]int{"guard": 2}})
	g.Expect(compliant(w.stack())).To(And(HaveField("Status", metav1.ConditionTrue), HaveField("Message", "No mandatory policy is violated (2 violations of advisory policies)")))
	g.Expect(w.events.lines[len(w.events.lines)-1]).To(Equal("Normal PoliciesPassed No mandatory policy is violated any more"))
	g.Expect(w.runner.started).To(Equal(6), "one update")
}

func TestAnUpdateWithAllPacksIsTheCheck(t *testing.T) {
	g := NewWithT(t)
	w, sources := guardedWorld(t, policySet("guard", v1.PolicyEnforce))
	w.edit(func(s *v1.Stack) { s.Spec.Refresh, s.Spec.RetryInterval = true, &metav1.Duration{Duration: time.Hour} })
	w.mustReconcile()
	checks := w.stack().Status.Run.Policies.Checks
	w.endPolicies(run.Update, run.PolicyViolation, "policy required-tags of tags: it has no owner", violated("guard"))
	stack := w.stack()
	g.Expect(conditions.Get(stack, "Ready")).To(And(HaveField("Status", metav1.ConditionFalse), HaveField("Reason", v1.PolicyViolationReason)))
	g.Expect(compliant(stack)).To(And(HaveField("Status", metav1.ConditionFalse), HaveField("Reason", v1.PolicyViolationReason)))
	g.Expect(stack.Status.Policies.Digest).To(And(Equal(checks), Not(BeEmpty())))
	g.Expect(w.events.lines).To(ContainElement(ContainSubstring("Update failed: policy required-tags of tags: it has no owner")))
	events := len(w.events.lines)
	w.mustReconcile()
	g.Expect(w.stack().Status.Run).To(BeNil(), "the update was the check, and is not due again")
	g.Expect(w.events.lines).To(HaveLen(events))

	sources.set("guard", "sha256:2")
	w.mustReconcile()
	g.Expect(w.stack().Status.Run).To(HaveField("Operation", run.Update), "the failed update may succeed with other packs")
	w.endPolicies(run.Update, run.Succeeded, "", run.Violations{})
	g.Expect(compliant(w.stack())).To(HaveField("Status", metav1.ConditionTrue))
	g.Expect(conditions.IsReady(w.stack())).To(BeTrue())
	w.mustReconcile()
	g.Expect(w.stack().Status.Run).To(BeNil())
}

func TestAPackThatIsEnforcedAndCannotBeUsed(t *testing.T) {
	g := NewWithT(t)
	w, sources := guardedWorld(t, policySet("guard", v1.PolicyEnforce))
	w.mustReconcile()
	w.endPolicies(run.CheckPolicies, run.Succeeded, "", run.Violations{})
	sources.set("guard", "")
	w.mustReconcile()
	g.Expect(w.stack().Status.Run).To(BeNil())
	g.Expect(conditions.IsReady(w.stack())).To(BeTrue(), "nothing is due")
	g.Expect(compliant(w.stack())).To(And(HaveField("Status", metav1.ConditionUnknown), HaveField("Reason", v1.PolicyCheckFailedReason),
		HaveField("Message", ContainSubstring("PolicyPackFailed: pack tags of PolicySet guard: source 'GitRepository/platform/guard' not found"))))
	w.edit(func(s *v1.Stack) {
		s.CreationTimestamp = metav1.NewTime(started)
		s.Spec.Refresh, s.Spec.Drift = true, &v1.Drift{Interval: &metav1.Duration{Duration: time.Hour}}
	})
	w.mustReconcile()
	g.Expect(w.stack().Status.Run).To(BeNil())
	g.Expect(conditions.Get(w.stack(), "Ready")).To(And(HaveField("Status", metav1.ConditionFalse), HaveField("Reason", v1.PolicyPackFailedReason),
		HaveField("Message", ContainSubstring("pack tags of PolicySet guard: source 'GitRepository/platform/guard' not found"))))

	w.edit(func(s *v1.Stack) { s.Annotations = map[string]string{v1.PreviewRequestAnnotation: "now"} })
	w.mustReconcile()
	g.Expect(w.stack().Status.Run).To(BeNil())
	g.Expect(w.stack().Status.Preview.Message).To(HavePrefix("PolicyPackFailed: pack tags of PolicySet guard"))

	w.passTime(66 * time.Minute)
	w.mustReconcile()
	w.endCheck(run.Succeeded, "", &run.Drift{})

	sources.set("guard", "sha256:2")
	w.mustReconcile()
	g.Expect(w.stack().Status.Run).To(HaveField("Operation", run.Update))
	w.runner.end(w.stack().Status.Run.ID, run.Failed, "killed")
	w.runner.results[w.stack().Status.Run.ID].Interrupted = true
	w.mustReconcile()
	sources.set("guard", "")
	w.mustReconcile()
	g.Expect(w.stack().Status.Run).To(HaveField("Operation", run.Recover))
	g.Expect(w.runner.runs[w.stack().Status.Run.ID].Policies).To(BeEmpty())
	w.endRun(run.Succeeded, "", run.Changes{})
	w.mustReconcile()
	g.Expect(conditions.GetReason(w.stack(), "Ready")).To(Equal(v1.PolicyPackFailedReason))

	g.Expect(w.Delete(context.Background(), w.stack())).To(Succeed())
	w.mustReconcile()
	g.Expect(w.stack().Status.Run).To(HaveField("Operation", run.Destroy))
	g.Expect(w.runner.runs[w.stack().Status.Run.ID].Policies).To(BeEmpty())
}

func TestAnErrorOfTheAPIServerInAPackStopsNothingElse(t *testing.T) {
	for enforcement, isReady := range map[v1.PolicyEnforcement]bool{v1.PolicyEnforce: false, v1.PolicyWarn: true} {
		t.Run(string(enforcement), func(t *testing.T) {
			g := NewWithT(t)
			w, sources := guardedWorld(t, policySet("guard", enforcement))
			w.mustReconcile()
			w.endPolicies(run.CheckPolicies, run.Succeeded, "", run.Violations{})
			sources.err = errors.New(`invalid resource name "a/b"`)
			w.edit(func(s *v1.Stack) { s.Spec.Refresh = true })
			result := w.mustReconcile()
			g.Expect(w.stack().Status.Run == nil).To(Equal(!isReady))
			if !isReady {
				g.Expect(conditions.Get(w.stack(), "Ready")).To(And(HaveField("Reason", v1.PolicyPackFailedReason), HaveField("Message", ContainSubstring(`pack tags of PolicySet guard: invalid resource name "a/b"`))))
				g.Expect(result.RequeueAfter).To(BeNumerically("<=", 15*time.Second), "no event says when it has passed")
				sources.err = nil
				w.mustReconcile()
				sources.err = errors.New("timeout")
			}
			record := w.stack().Status.Run
			g.Expect(record).To(HaveField("Operation", run.Update))
			w.runner.end(record.ID, run.Failed, "killed")
			w.runner.results[record.ID].Interrupted = true
			w.mustReconcile()
			w.mustReconcile()
			g.Expect(w.stack().Status.Run).To(HaveField("Operation", run.Recover))
			w.endRun(run.Succeeded, "", run.Changes{})

			w.edit(func(s *v1.Stack) { s.Spec.Suspend = true })
			w.mustReconcile()
			g.Expect(w.stack().Status.Run).To(BeNil())
		})
	}
}

func TestAConfigMapOfAPackThatMayNotBeRead(t *testing.T) {
	g := NewWithT(t)
	w, _ := guardedWorld(t, policySet("guard", v1.PolicyEnforce, configFrom))
	w.APIReader = forbidding{w.Client, aConfigMap}
	w.edit(func(s *v1.Stack) { s.Spec.Refresh = true })
	w.mustReconcile()
	g.Expect(w.stack().Status.Run).To(BeNil())
	g.Expect(conditions.Get(w.stack(), "Ready")).To(And(HaveField("Reason", v1.PolicyPackFailedReason),
		HaveField("Message", And(ContainSubstring("ConfigMap platform/config"), ContainSubstring("grant the controller permission to get configmaps")))))
}

func TestARunThatNoPodHasStartedIsWithdrawnWhenItsPacksChange(t *testing.T) {
	guard, later := policySet("guard", v1.PolicyEnforce), policySet("later", v1.PolicyWarn)
	for name, tt := range map[string]struct {
		sets      []*v1.PolicySet
		change    func(w *world, sources *packSources)
		withdrawn bool
	}{
		"a new PolicySet": {nil, func(w *world, sources *packSources) {
			sources.set("guard", "sha256:1")
			w.createSet(guard.DeepCopy())
		}, true},
		"another pack":               {[]*v1.PolicySet{guard}, func(_ *world, sources *packSources) { sources.set("guard", "sha256:2") }, true},
		"a pack that cannot be used": {[]*v1.PolicySet{guard}, func(_ *world, sources *packSources) { sources.set("guard", "") }, true},
		"an error of the API server": {[]*v1.PolicySet{guard}, func(_ *world, sources *packSources) { sources.err = errors.New("timeout") }, false},
		"the same packs":             {[]*v1.PolicySet{guard}, func(*world, *packSources) {}, false},
		"another pack that only warns": {[]*v1.PolicySet{guard, later}, func(_ *world, sources *packSources) {
			sources.set("later", "sha256:2")
		}, false},
		"a PolicySet that is gone": {[]*v1.PolicySet{guard}, func(w *world, _ *packSources) {
			NewWithT(w.t).Expect(w.Delete(context.Background(), guard.DeepCopy())).To(Succeed())
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			w := inventoryWorld(t)
			jobs, sources := &testJobs{}, &packSources{digests: map[string]string{}}
			w.runner.withdrawable = func(string) bool { return len(jobs.withdrawn) == 0 }
			w.PackSources, w.Jobs = sources, jobs
			for _, set := range tt.sets {
				sources.set(set.Name, "sha256:1")
				w.createSet(set.DeepCopy())
			}
			w.mustReconcile()
			record := w.stack().Status.Run
			g.Expect(record).To(HaveField("Operation", run.Update))
			tt.change(w, sources)
			result := w.mustReconcile()
			g.Expect(len(jobs.withdrawn) == 1).To(Equal(tt.withdrawn))
			if sources.err != nil {
				g.Expect(result.RequeueAfter).To(BeNumerically("<=", 15*time.Second))
			}
			if !tt.withdrawn || name == "a pack that cannot be used" {
				return
			}
			w.runner.end(record.ID, run.Cancelled, "withdrawn")
			w.mustReconcile()
			w.mustReconcile()
			next := w.stack().Status.Run
			g.Expect(next).To(HaveField("Operation", run.Update))
			g.Expect(next.Policies).NotTo(Equal(record.Policies))
			g.Expect(w.stack().Status.Failures).To(BeZero())
		})
	}
}

func TestAPackThatIsNotEnforcedAndCannotBeUsed(t *testing.T) {
	g := NewWithT(t)
	w, sources := guardedWorld(t, policySet("later", v1.PolicyWarn))
	sources.set("later", "")
	w.mustReconcile()
	g.Expect(w.stack().Status.Run).To(BeNil())
	g.Expect(conditions.IsReady(w.stack())).To(BeTrue())
	g.Expect(compliant(w.stack())).To(And(HaveField("Status", metav1.ConditionUnknown), HaveField("Message", ContainSubstring("pack tags of PolicySet later: source"))))
	g.Expect(w.runner.background.taken).To(BeZero())
	w.mustReconcile()
	g.Expect(w.stack().Status.Policies.Failures).To(BeEquivalentTo(1), "it backs off")

	w.edit(func(s *v1.Stack) { s.Spec.Refresh = true })
	w.mustReconcile()
	g.Expect(w.runner.runs[w.stack().Status.Run.ID].Policies).To(BeEmpty())
	w.endPolicies(run.Update, run.Succeeded, "", run.Violations{})
	sources.set("later", "sha256:1")
	w.mustReconcile()
	w.endPolicies(run.CheckPolicies, run.Succeeded, "", run.Violations{})
	g.Expect(compliant(w.stack())).To(HaveField("Status", metav1.ConditionTrue))
}

func TestPoliciesGoWithTheirPolicySets(t *testing.T) {
	g := NewWithT(t)
	w, _ := guardedWorld(t, policySet("guard", v1.PolicyEnforce))
	w.mustReconcile()
	w.endPolicies(run.CheckPolicies, run.PolicyViolation, "no", violated("guard"))
	g.Expect(w.Delete(context.Background(), policySet("guard", v1.PolicyEnforce))).To(Succeed())
	w.mustReconcile()
	g.Expect(w.stack().Status.Policies).To(BeNil())
	g.Expect(compliant(w.stack())).To(BeNil())
	g.Expect(w.stack().Status.Run).To(BeNil())
	writes := w.writes
	w.mustReconcile()
	g.Expect(w.writes).To(Equal(writes))
}

func TestAPolicySetSelectsByTheLabelsOfNamespaces(t *testing.T) {
	g := NewWithT(t)
	byTeam := func(set *v1.PolicySet) {
		set.Spec.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"team": "a"}}
	}
	w, _ := guardedWorld(t, policySet("guard", v1.PolicyEnforce, byTeam))
	w.edit(func(s *v1.Stack) { s.Spec.Refresh = true })
	w.mustReconcile()
	g.Expect(w.stack().Status.Run).To(BeNil(), "it could go unguarded")
	g.Expect(conditions.GetMessage(w.stack(), "Ready")).To(ContainSubstring("failed to read the labels of namespace default"))
	w.edit(func(s *v1.Stack) { s.Spec.Refresh = false })
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	g.Expect(w.Create(context.Background(), namespace)).To(Succeed())
	w.mustReconcile()
	g.Expect(w.stack().Status.Run).To(BeNil())
	namespace.Labels = map[string]string{"team": "a"}
	g.Expect(w.Update(context.Background(), namespace)).To(Succeed())
	w.mustReconcile()
	g.Expect(w.stack().Status.Run).To(HaveField("Operation", run.CheckPolicies))
}

func TestAPlanIsOfThePacksItWasMadeWith(t *testing.T) {
	g := NewWithT(t)
	plan := func(sets ...*v1.PolicySet) (planInputs, digest string) {
		w, _ := guardedWorld(t, sets...)
		w.edit(func(s *v1.Stack) { s.Spec.Approval = &v1.Approval{Require: v1.ApprovalAlways}; s.Spec.Refresh = true })
		w.mustReconcile()
		record := w.stack().Status.Run
		g.Expect(record).To(HaveField("Operation", run.Propose))
		return w.runner.runs[record.ID].PlanInputs, record.Digest
	}
	without, digest := plan()
	with, same := plan(policySet("guard", v1.PolicyEnforce))
	g.Expect(with).NotTo(Equal(without))
	g.Expect(same).To(Equal(digest), "packs are no inputs")
	warned, _ := plan(policySet("guard", v1.PolicyWarn))
	g.Expect(warned).To(Equal(without), "an update does not run with these")
}

func TestPoliciesAreExplained(t *testing.T) {
	g := NewWithT(t)
	w, _ := guardedWorld(t, policySet("guard", v1.PolicyEnforce))
	explained, err := explain(w.Client, w.stack(), observe.Options{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(explained.Checks).To(ContainElement(And(HaveField("About", "policy packs"), HaveField("Found", ContainSubstring("PolicyPackFailed")))), "the plugin reads the source itself")
}
