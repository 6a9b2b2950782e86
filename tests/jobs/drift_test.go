// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/tests/atonce"
	"github.com/flux-pulumi/pulumi-controller/tests/cloud"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
	"github.com/flux-pulumi/pulumi-controller/tests/sources"
)

// concurrentChecks is the default of --concurrent-drift-checks.
const concurrentChecks = 2

// TestPodsCheckForDriftWithoutTheProgram needs an installation for each run of the program, and deletes the source before the
// checks: their pods have neither.
func TestPodsCheckForDriftWithoutTheProgram(t *testing.T) {
	short.Skip(t)
	u := newTeam(t)
	u.repository("app", sources.Files{"Pulumi.yaml": "name: app\nruntime: lab\n", "program.json": `{"things": ["a", "b"]}`})
	stack := u.stack("app", func(s *v1.Stack) {
		s.Spec.ProgramRef, s.Spec.Drift = nil, &v1.Drift{Interval: &metav1.Duration{Duration: time.Hour}}
		s.Spec.FluxSource = &v1.FluxSource{SourceRef: v1.SourceReference{APIVersion: sourcev1.GroupVersion.String(), Kind: sourcev1.GitRepositoryKind, Name: "app"}}
	})
	u.await(stack, func(g Gomega, s *v1.Stack) {
		g.Expect(conditions.IsReady(s)).To(BeTrue(), conditions.GetMessage(s, meta.ReadyCondition))
	})
	source := &sourcev1.GitRepository{ObjectMeta: metav1.ObjectMeta{Namespace: u.namespace, Name: "app"}}
	u.Expect(u.Client().Delete(u.ctx, source)).To(Succeed())
	u.Eventually(func() error { return u.Get(u.ctx, client.ObjectKeyFromObject(source), source) }).Should(Satisfy(apierrors.IsNotFound))
	before := u.written()

	u.checksOnSchedule(stack)
	u.awaitDrifted(stack, metav1.ConditionFalse, "No drift was found")

	u.changeThing("a")
	u.checkNow(stack, "changed")
	u.awaitDrifted(stack, metav1.ConditionTrue, "Found drift: 1 changed")
	u.Expect(stack.Status.Drift).To(And(HaveField("Changed", BeEquivalentTo(1)), HaveField("Deleted", BeZero()), HaveField("ConfigMap", "app-drift")))
	u.Expect(u.Get(u.ctx, client.ObjectKey{Namespace: u.namespace, Name: "app-drift"}, &corev1.ConfigMap{})).To(Succeed(), "the pod has handed back what differs")
	u.awaitEvent(v1.DriftDetectedReason, "1 changed outside of Pulumi")

	edit(u, stack, func(s *v1.Stack) {
		s.Spec.Drift.Ignore = []v1.IgnoredDrift{{Type: "lab:index:Thing", Paths: []string{"value"}}}
	})
	u.checkNow(stack, "ignored")
	u.awaitDrifted(stack, metav1.ConditionFalse, "No drift was found that counts (1 ignored)")

	u.Expect(u.cloud.Remove(u.thingNamed("b").ID)).To(Succeed())
	u.checkNow(stack, "gone")
	u.awaitDrifted(stack, metav1.ConditionTrue, "Found drift: 1 deleted (1 ignored)")

	u.Expect(u.written()).To(Equal(before), "neither the state nor the cloud was written")
	u.Expect(u.operations()).To(Equal(map[string]int{"update": 1, "check-drift": 4}))
	u.Expect(strings.Count(u.logs(), "installed the dependencies of the program")).To(Equal(1), "the update alone installs")
}

// TestACheckInAPodThatFails follows two ways in which a check does not see all: a provider that fails in the middle of it,
// and a pod that is killed.
func TestACheckInAPodThatFails(t *testing.T) {
	short.Skip(t)
	u := newTeam(t)
	program := u.program("app", thing("one"))
	stack := u.stack("app", func(s *v1.Stack) {
		s.Spec.RetryInterval = &metav1.Duration{Duration: time.Hour}
		s.Spec.Drift = &v1.Drift{Interval: &metav1.Duration{Duration: time.Hour}}
	})
	u.awaitReady(stack, "one")
	u.changeThing("a")
	u.checkNow(stack, "first")
	u.awaitDrifted(stack, metav1.ConditionTrue, "1 changed")
	found := stack.Status.Drift.Digest

	edit(u, program, func(p *v1.Program) { u.setProgram(p, thing("two", `failures: {read: no luck}`)) })
	u.awaitReady(stack, "two")
	u.changeThing("a")
	before := u.written()
	u.checkNow(stack, "second")
	u.awaitDrifted(stack, metav1.ConditionUnknown, "no luck")
	u.Expect(conditions.GetMessage(stack, v1.DriftedCondition)).To(ContainSubstring("of 1 resource, 0 could be read"))
	u.Expect(stack.Status.Drift).To(And(HaveField("Result", v1.DriftCheckFailedReason), HaveField("Digest", found)), "what was found before is kept")
	u.Expect(conditions.IsReady(stack)).To(BeTrue())
	u.awaitEvent(v1.DriftCheckFailedReason, "no luck")
	u.Expect(u.written()).To(Equal(before))

	edit(u, program, func(p *v1.Program) { u.setProgram(p, thing("three", "hold: read")) })
	u.awaitReady(stack, "three")
	before = u.written()
	reads := u.count("read", "begin")
	u.checkNow(stack, "third")
	u.Eventually(func() int { return u.count("read", "begin") }).Should(BeNumerically(">", reads))
	u.noLocks()
	u.killPod(stack)
	u.awaitDrifted(stack, metav1.ConditionUnknown, "exit code 137")
	u.Expect(conditions.IsReady(stack)).To(BeTrue(), "an interrupted check is nothing to recover from")
	u.Expect(stack.Status.Interrupted).To(BeEmpty())
	u.Expect(u.written()).To(Equal(before))
	u.Expect(u.operations()).NotTo(HaveKey("recover"))
}

// TestChecksInPodsHoldUpNothing asks for more checks at once than there are slots for, updates a Stack whose check waits, and edits
// one that is checked.
func TestChecksInPodsHoldUpNothing(t *testing.T) {
	short.Skip(t)
	// One team alone could not have more runs anyway: --concurrent-runs-per-namespace.
	teams := []*team{newTeam(t), newTeam(t)}
	u := teams[0]
	var stacks []*ofTeam
	for _, of := range teams {
		for _, name := range []string{"one", "two"} {
			stacks = append(stacks, &ofTeam{of, of.program(name, thing("one", "hold: read")), of.stack(name)})
		}
	}
	for _, s := range stacks {
		s.awaitReady(s.stack, "one")
	}
	for _, s := range stacks {
		s.checkNow(s.stack, "now")
	}
	u.Eventually(func() int { return teams[0].count("read", "begin") + teams[1].count("read", "begin") }).Should(Equal(concurrentChecks))
	checked, waiting := split(stacks)
	u.Expect(checked).To(HaveLen(concurrentChecks), "all slots for checks are taken")

	edit(waiting[0].team, waiting[0].program, func(p *v1.Program) { u.setProgram(p, thing("two", "hold: read")) })
	waiting[0].awaitReady(waiting[0].stack, "two")
	still, _ := split(stacks)
	u.Expect(still).To(Equal(checked), "an update has a slot of its own")

	edit(checked[0].team, checked[0].program, func(p *v1.Program) { u.setProgram(p, thing("two")) })
	checked[0].releaseWhenToldToStop()
	for _, of := range teams {
		u.Expect(of.cloud.Release()).To(Succeed())
	}
	checked[0].awaitReady(checked[0].stack, "two")
	for _, s := range stacks {
		s.awaitDrifted(s.stack, metav1.ConditionFalse, "No drift was found")
	}
	u.Expect(atonce.Most(append(teams[0].podsOf(run.CheckDrift), teams[1].podsOf(run.CheckDrift)...))).To(Equal(concurrentChecks), "--concurrent-drift-checks")
	teams[0].noLocks()
	teams[1].noLocks()
}

// ofTeam is a Stack of a team.
type ofTeam struct {
	*team
	program *v1.Program
	stack   *v1.Stack
}

// split returns the Stacks with a check in flight, and the others.
func split(stacks []*ofTeam) (checked, others []*ofTeam) {
	for _, s := range stacks {
		s.Expect(s.Get(s.ctx, client.ObjectKeyFromObject(s.stack), s.stack)).To(Succeed())
		if record := s.stack.Status.Run; record != nil && record.Operation == run.CheckDrift {
			checked = append(checked, s)
		} else {
			others = append(others, s)
		}
	}
	return checked, others
}

// podsOf are the pods of all runs of that kind, which have ended.
func (t *team) podsOf(operation run.Operation) []corev1.Pod {
	t.test.Helper()
	var list corev1.PodList
	t.Eventually(func(g Gomega) {
		g.Expect(t.List(t.ctx, &list, client.InNamespace(t.namespace), client.MatchingLabels{"pulumi.com/operation": string(operation)})).To(Succeed())
		g.Expect(list.Items).To(And(Not(BeEmpty()), HaveEach(HaveField("Status.Phase", BeElementOf(corev1.PodSucceeded, corev1.PodFailed)))))
	}).Should(Succeed())
	return list.Items
}

// checkNow asks for a check, as flux pulumi reconcile --check-drift does.
func (t *team) checkNow(stack *v1.Stack, request string) {
	t.test.Helper()
	t.annotate(stack, v1.CheckDriftAnnotation, request)
}

// checksOnSchedule has the last check of the Stack an hour ago, so that one is due.
func (t *team) checksOnSchedule(stack *v1.Stack) {
	t.test.Helper()
	t.Eventually(func() error {
		if err := t.Get(t.ctx, client.ObjectKeyFromObject(stack), stack); err != nil {
			return err
		}
		stack.Status.Drift = &v1.DriftStatus{LastCheckedAt: &metav1.Time{Time: time.Now().Add(-2 * time.Hour)}}
		return t.Client().Status().Update(t.ctx, stack)
	}).Should(Succeed())
}

// awaitDrifted waits for the result of a check for drift that answers all requests.
func (t *team) awaitDrifted(stack *v1.Stack, status metav1.ConditionStatus, text string) {
	t.test.Helper()
	t.await(stack, func(g Gomega, s *v1.Stack) {
		g.Expect(s.Status.Run).To(BeNil())
		g.Expect(s.Status.Drift).NotTo(BeNil())
		g.Expect(s.Status.Drift.LastHandledCheck).To(Equal(s.Annotations[v1.CheckDriftAnnotation]))
		g.Expect(conditions.Get(s, v1.DriftedCondition)).To(And(HaveField("Status", status), HaveField("Message", ContainSubstring(text))))
	})
}

// awaitEvent waits for an event of Kubernetes.
func (t *team) awaitEvent(reason, text string) {
	t.test.Helper()
	t.Eventually(func(g Gomega) {
		var events corev1.EventList
		g.Expect(t.List(t.ctx, &events, client.InNamespace(t.namespace))).To(Succeed())
		g.Expect(events.Items).To(ContainElement(And(HaveField("Reason", reason), HaveField("Message", ContainSubstring(text)))))
	}).Should(Succeed())
}

// thingNamed is the only thing of that name.
func (t *team) thingNamed(name string) cloud.Thing {
	t.test.Helper()
	things, err := t.cloud.Things()
	t.Expect(err).NotTo(HaveOccurred())
	t.Expect(things).To(ContainElement(HaveField("Name", name)))
	for _, found := range things {
		if found.Name == name {
			return found
		}
	}
	return cloud.Thing{}
}

// changeThing changes a thing outside of Pulumi.
func (t *team) changeThing(name string) {
	t.test.Helper()
	byHand := "by hand"
	t.Expect(t.cloud.Edit(t.thingNamed(name).ID, func(thing *cloud.Thing) { thing.Value = &byHand })).To(Succeed())
}

// written is all that a run could have written: the files of the backend, and the changes in the cloud.
func (t *team) written() map[string]string {
	t.test.Helper()
	files := map[string]string{}
	t.Expect(filepath.WalkDir(t.backend, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		files[path] = string(text)
		return err
	})).To(Succeed())
	entries, err := t.cloud.Journal()
	t.Expect(err).NotTo(HaveOccurred())
	for i, entry := range entries {
		if entry.Op != cloud.Read {
			files[fmt.Sprintf("change %d", i)] = fmt.Sprint(entry)
		}
	}
	return files
}
