// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/operator"
)

// back is the section of the guide that leads from this controller to the operator.
const back = "Migrate back"

// ours sets each field of spec that the operator does not have.
func ours() map[string]string {
	return map[string]string{
		"interval": `"1h"`, "retryInterval": `"2m"`, "timeout": `"1h"`, "pendingCreates": `"Stop"`, "suspend": `true`,
		"dependsOn": `[{"name": "proven"}]`, "writeOutputsToSecret": `{"name": "outputs"}`,
	}
}

// onlyInV2 lists the fields of spec that v1 drops.
func onlyInV2() (fields []string) {
	ofV1 := operator.SpecV1()
	for field := range operator.SpecV2() {
		if ofV1[field] == "" {
			fields = append(fields, field)
		}
	}
	return fields
}

// droppedFields lists the fields of spec, without those inside of others, that the table says an operator does not have.
func (m *migration) droppedFields() (fields []string) {
	for _, row := range regexp.MustCompile("(?m)^ *\\| ((?:`\\w+`(?:, )?)+) \\|").FindAllStringSubmatch(m.wayBack.section(back), -1) {
		for _, field := range strings.Split(row[1], ", ") {
			fields = append(fields, strings.Trim(field, "`"))
		}
	}
	return fields
}

// goBack ends where one starts the operator.
func (m *migration) goBack() {
	m.test.Helper()
	unfinished := m.wayBack.command(back, "kubectl get stacks -A -o custom-columns=")
	m.finished(unfinished)
	m.release()
	m.usesOurs()
	m.isRequested(m.proven)
	m.waits(m.failed)
	never := m.neverRan()
	m.specs[never.Name] = m.stored("v1")[never.Name]
	m.stop(unfinished)
	m.clear(never)

	m.kubectl(m.wayBack.command(back, "kubectl apply --server-side --force-conflicts -f ", "<file>", m.crds))
	m.keepsAll()
	m.Expect(m.Create(m.ctx, m.longNamed())).To(MatchError(ContainSubstring("no more than 42 characters")))
	for _, stack := range []*v1.Stack{m.proven, m.failed, m.setAside} {
		m.operatorTakes(stack)
	}
	m.Expect(m.things()).To(HaveLen(5), "nothing was destroyed")
	m.kubectl(m.wayBack.command(back, "kubectl delete gitrepositories"))
}

// stop ends the controller, and looks again whether everything is finished.
func (m *migration) stop(unfinished string) {
	m.test.Helper()
	m.kubectl(m.wayBack.command(back, "kubectl -n flux-system scale "))
	m.Eventually(func() string { return m.kubectl("kubectl -n flux-system get pods") }).Should(HavePrefix("No resources found"))
	m.Expect(m.kubectl(m.wayBack.command(back, "kubectl get deployments -A "))).To(MatchRegexp(`(?m)^flux-system +pulumi-controller +0/0 `))
	m.Expect(m.Controller.Stop()).To(Succeed())
	m.finished(unfinished)
	m.showsWhatIsUnfinished(unfinished)
}

// clear removes from the status what would mislead the operator.
func (m *migration) clear(never *v1.Stack) {
	m.test.Helper()
	m.wasRecovered(m.setAside)
	m.kubectl(m.wayBack.command(back, "clear_status() {"))
	m.Expect(m.Get(m.ctx, keyOf(never), never)).To(Succeed())
	m.Expect(never.Status.LastUpdate).To(BeNil(), "v2 sends one that is empty with a time that is null, which is refused")
	m.Expect(never.Status.Conditions).To(BeEmpty())
	for _, stack := range []*v1.Stack{m.proven, m.failed, m.setAside} {
		m.Expect(m.Get(m.ctx, keyOf(stack), stack)).To(Succeed())
		m.Expect(stack.Status.LastUpdate.State).To(Equal(v1.UpdateSucceeded), stack.Name)
		m.Expect(stack.Status.LastUpdate.Message).To(BeEmpty(), stack.Name)
		m.Expect(stack.Status.LastUpdate.LastSuccessfulCommit).To(BeEmpty(), "with that of an interrupted run, the operator runs nothing for %s", stack.Name)
		m.Expect(stack.Status.ProjectInfo == nil).To(Equal(stack == m.setAside), "v2 takes what it has for all that it needs")
	}
}

// finished expects the command to show that nothing is in flight or unknown.
func (m *migration) finished(command string) {
	m.test.Helper()
	rows := strings.Split(strings.TrimSpace(m.kubectl(command)), "\n")
	m.Expect(rows).To(HaveLen(1+len(m.specs)), "a header and a row for each Stack")
	m.Expect(rows[1:]).To(HaveEach(MatchRegexp(`^` + m.namespace + ` +\S+ +<none> +<none> +<none> +<none>$`)))
}

// showsWhatIsUnfinished expects the command to show each thing that the operator must not come upon.
func (m *migration) showsWhatIsUnfinished(command string) {
	m.test.Helper()
	for _, unfinished := range []struct {
		status v1.StackStatus
		row    string
	}{
		{v1.StackStatus{Run: &v1.RunStatus{ID: "the-run", Operation: v1.OperationUpdate, StartedAt: metav1.Now()}}, `the-run +<none> +<none>`},
		{v1.StackStatus{Interrupted: []v1.InterruptedRun{{ID: "the-run", Operation: v1.OperationUpdate, Host: "node"}}}, `<none> +the-run +<none>`},
		{v1.StackStatus{UnknownCreates: []string{"urn:one", "urn:two"}}, `<none> +<none> +urn:one,urn:two`},
		{v1.StackStatus{CancelledRun: &v1.CancelledRun{ID: "the-run", Operation: v1.OperationUpdate}}, `<none> +<none> +<none> +the-run`},
	} {
		edited := m.proven.DeepCopy()
		m.Expect(m.Get(m.ctx, keyOf(edited), edited)).To(Succeed())
		before := edited.DeepCopy()
		edited.Status.Run, edited.Status.Interrupted = unfinished.status.Run, unfinished.status.Interrupted
		edited.Status.UnknownCreates, edited.Status.CancelledRun = unfinished.status.UnknownCreates, unfinished.status.CancelledRun
		m.Expect(m.Status().Patch(m.ctx, edited, client.MergeFrom(before))).To(Succeed())
		m.Expect(m.kubectl(command)).To(MatchRegexp(`(?m)^` + m.namespace + ` +proven +` + unfinished.row + ` *`))
		m.Expect(m.Status().Patch(m.ctx, before, client.RawPatch(types.MergePatchType,
			[]byte(`{"status":{"run":null,"interrupted":null,"unknownCreates":null,"cancelledRun":null}}`)))).To(Succeed())
	}
	m.finished(command)
}

// longNamed is a Stack with a name that the operator v2 refuses, for what the one that was set aside has created.
func (m *migration) longNamed() *v1.Stack {
	stack := m.setAside.DeepCopy()
	stack.ObjectMeta = metav1.ObjectMeta{
		Name: strings.Repeat("x", 43), Namespace: m.namespace, Finalizers: []string{v1.StackFinalizer},
	}
	stack.Status = v1.StackStatus{}
	return stack
}

// release has the controller release a Stack that cannot come along.
func (m *migration) release() {
	m.test.Helper()
	stack := m.longNamed()
	m.apply(stack)
	m.awaitReady(stack)
	m.kubectl(m.wayBack.command(back, "kubectl -n <namespace> patch ", "<namespace>", stack.Namespace, "<name>", stack.Name))
	m.awaitGone(stack)
	m.Expect(m.resourcesInState("set-aside", "dev")).To(Equal([]string{"d"}), "the stack stays in the backend")
	m.releaseCancelled()
}

// releaseCancelled does the same with a Stack whose update someone has cancelled, and which is to go no further.
func (m *migration) releaseCancelled() {
	m.test.Helper()
	program, stack := m.programNamed("cancelled", `{resources: {
    e: {type: "lab:index:Thing", properties: {name: e, value: x, hold: create}},
    f: {type: "lab:index:Thing", properties: {name: f, value: "${e.value}"}}}}`)
	m.apply(program)
	m.apply(stack)
	m.awaitJournal("create", "begin", "e")
	m.Expect(m.Get(m.ctx, keyOf(stack), stack)).To(Succeed())
	m.annotate(stack, v1.CancelRunAnnotation, stack.Status.Run.ID)
	m.Eventually(m.cloud.ToldToStop).Should(BeTrue())
	m.Expect(m.cloud.Release()).To(Succeed())
	m.awaitStalled(stack, v1.CancelRequestedReason, "was cancelled on request")

	edited, deleted, _ := strings.Cut(m.wayBack.command(back, "kubectl -n <namespace> patch ", "<namespace>", stack.Namespace, "<name>", stack.Name), "\n")
	m.kubectl(edited)
	m.Consistently(func(g Gomega) {
		g.Expect(m.Get(m.ctx, keyOf(stack), stack)).To(Succeed())
		g.Expect(stack.Status.Run).To(BeNil())
	}, 2*time.Second).Should(Succeed(), "someone takes the time to read between the two commands")
	m.kubectl(deleted)
	m.awaitGone(stack)
	m.Expect(m.resourcesInState("cancelled", "cancelled")).To(Equal([]string{"e"}), "the update did not continue")
	m.delete(program)
}

// usesOurs sets all fields that the operator does not have, on one Stack.
func (m *migration) usesOurs() {
	m.test.Helper()
	m.Expect(m.droppedFields()).To(ConsistOf(append(onlyInV2(), slices.Collect(maps.Keys(ours()))...)))
	var fields []string
	for name, value := range ours() {
		fields = append(fields, `"`+name+`":`+value)
	}
	patch := client.RawPatch(types.MergePatchType, []byte(`{"spec":{`+strings.Join(fields, ",")+`}}`))
	m.Expect(client.WithFieldValidation(m.WithWatch, metav1.FieldValidationStrict).Patch(m.ctx, m.setAside, patch)).To(Succeed())
}

// isRequested has the controller run a Stack at a request, which is then gone, as if Flux had removed the annotation.
func (m *migration) isRequested(stack *v1.Stack) {
	m.test.Helper()
	edit(m.tenant, stack, func(s *v1.Stack) { metav1.SetMetaDataAnnotation(&s.ObjectMeta, v1.ReconcileRequestAnnotation, "now") })
	m.Eventually(func(g Gomega) {
		g.Expect(m.Get(m.ctx, keyOf(stack), stack)).To(Succeed())
		g.Expect(stack.Status.LastUpdate.ReconcileRequest).To(Equal("now"))
	}).Should(Succeed())
	edit(m.tenant, stack, func(s *v1.Stack) { delete(s.Annotations, v1.ReconcileRequestAnnotation) })
}

// waits has a run of a Stack wait for a dependency, which the operator does not know: its conditions are not Ready alone.
func (m *migration) waits(stack *v1.Stack) {
	m.test.Helper()
	edit(m.tenant, stack, func(s *v1.Stack) {
		s.Spec.DependsOn = []v1.DependencyReference{{Name: "nobody"}}
		metav1.SetMetaDataAnnotation(&s.ObjectMeta, meta.ReconcileRequestAnnotation, "now")
	})
	m.Eventually(func(g Gomega) {
		g.Expect(m.Get(m.ctx, keyOf(stack), stack)).To(Succeed())
		g.Expect(conditions.IsReconciling(stack)).To(BeTrue())
		g.Expect(conditions.IsFalse(stack, meta.ReadyCondition)).To(BeTrue())
	}).Should(Succeed())
}

// neverRan makes a Stack that waits for its Program.
func (m *migration) neverRan() *v1.Stack {
	m.test.Helper()
	_, stack := m.programNamed("never", "")
	stack.Spec.Interval, stack.Spec.RetryInterval = nil, nil // as with the operator, which drops them
	stack.Finalizers = []string{v1.StackFinalizer}
	m.apply(stack)
	m.Eventually(func(g Gomega) {
		g.Expect(m.Get(m.ctx, keyOf(stack), stack)).To(Succeed())
		g.Expect(conditions.IsFalse(stack, meta.ReadyCondition)).To(BeTrue())
	}).Should(Succeed())
	return stack
}

// wasRecovered leaves what is known of a Stack with a source that was taken over without a run, and of one after a recovery.
func (m *migration) wasRecovered(stack *v1.Stack) {
	m.test.Helper()
	patch := client.RawPatch(types.MergePatchType, []byte(`{"status":{"projectInfo":{"runtime":""},"lastUpdate":{"type":"refresh","lastSuccessfulCommit":"0a1b"}}}`))
	m.Expect(m.Status().Patch(m.ctx, stack.DeepCopy(), patch)).To(Succeed())
}

// operatorTakes writes the status of a Stack as the operator v2 does from v2.6 on, while it runs an update and afterwards,
// and expects nothing of this controller to be left that means something to it.
func (m *migration) operatorTakes(stack *v1.Stack) {
	m.test.Helper()
	m.operatorApplies(stack, metav1.ConditionFalse, condition(meta.ReconcilingCondition, metav1.ConditionTrue))
	m.operatorApplies(stack, metav1.ConditionTrue)
	m.Expect(m.Get(m.ctx, keyOf(stack), stack)).To(Succeed())
	m.Expect(stack.Status.Conditions).To(HaveLen(1), stack.Name)
	m.Expect(conditions.IsReady(stack)).To(BeTrue())
	m.Expect(stack.Status.LastUpdate.ReconcileRequest).To(BeEmpty(), "v2 runs %s until this is the annotation", stack.Name)
}

// operatorApplies is saveStatus of the operator: what it leaves out, it gives up.
func (m *migration) operatorApplies(stack *v1.Stack, ready metav1.ConditionStatus, others ...any) {
	m.test.Helper()
	applied := &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{
		"observedGeneration": stack.Generation,
		"conditions":         append([]any{condition(meta.ReadyCondition, ready)}, others...),
		"lastUpdate": map[string]any{
			"generation": stack.Generation, "name": stack.Name + "-18a9f0c2d3f", "type": string(v1.UpdateTypeUp), "state": string(v1.UpdateSucceeded),
		},
	}}}
	applied.SetGroupVersionKind(v1.GroupVersion.WithKind(v1.StackKind))
	applied.SetNamespace(stack.Namespace)
	applied.SetName(stack.Name)
	m.Expect(m.Status().Apply(m.ctx, client.ApplyConfigurationFromUnstructured(applied),
		client.FieldOwner("pulumi-kubernetes-operator/stack-status"), client.ForceOwnership)).To(Succeed())
}

// condition is one of the operator's.
func condition(kind string, status metav1.ConditionStatus) any {
	return map[string]any{
		"type": kind, "status": string(status), "reason": "ProcessingUpdate", "message": "by the operator",
		"lastTransitionTime": time.Now().Format(time.RFC3339),
	}
}
