// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/cloud"
	"github.com/flux-pulumi/pulumi-controller/tests/failure"
)

const (
	patience = 4 * time.Minute
	polling  = 100 * time.Millisecond
)

// team has its own namespace, backend and cloud.
type team struct {
	*failure.Assertions
	*cluster
	test                  *testing.T
	ctx                   context.Context
	namespace             string
	backend, plugins, dir string
	cloud                 *cloud.Cloud
}

func newTeam(test *testing.T) *team {
	test.Helper()
	t := &team{Assertions: failure.NewAssertions(test, shared.ControlPlane.Context()), cluster: shared, test: test, ctx: test.Context()}
	t.SetDefaultEventuallyTimeout(patience)
	t.SetDefaultEventuallyPollingInterval(polling)
	name := regexp.MustCompile("[^a-z0-9]+").ReplaceAllString(strings.ToLower(test.Name()), "-")
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: strings.Trim(name[:min(len(name), 50)], "-") + "-"}}
	t.Expect(t.Client().Create(t.ctx, namespace)).To(Succeed())
	t.namespace = namespace.Name
	t.dir = t.Path("teams", t.namespace)
	t.backend, t.plugins = filepath.Join(t.dir, "backend"), filepath.Join(t.DataDir(), "plugins")
	t.Expect(os.MkdirAll(t.backend, 0o755)).To(Succeed())
	t.cloud = cloud.Open(filepath.Join(t.dir, "cloud"))
	test.Cleanup(t.leave)
	return t
}

// Client distinguishes the methods of the API client from those of the test.
func (t *team) Client() client.Client { return t.WithWatch }

// leave reports the details of a failed test, and releases the Stacks.
func (t *team) leave() {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var stacks v1.StackList
	var jobs batchv1.JobList
	var pods corev1.PodList
	for _, list := range []client.ObjectList{&stacks, &jobs, &pods} {
		if err := t.List(ctx, list, client.InNamespace(t.namespace)); err != nil {
			t.test.Error(err)
		}
		if text, err := yaml.Marshal(list); t.test.Failed() && err == nil {
			t.test.Logf("%s", text)
		}
	}
	for _, pod := range pods.Items {
		if text, err := os.ReadFile(t.kubelet.Log(string(pod.UID))); err == nil && t.test.Failed() {
			t.test.Logf("log of pod %s:\n%s", pod.Name, text)
		}
	}
	if t.test.Failed() {
		t.test.Log("\n" + strings.Join(failure.Describe(ctx, t.Client(), t.namespace, failure.LogFile(t.ControllerLog())), "\n"))
	}
	// The edit may start a cancelled run again, which would hold its slot for ever.
	if err := t.cloud.Release(); err != nil {
		t.test.Error(err)
	}
	for i := range stacks.Items {
		patch := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"destroyOnFinalize":false}}`))
		_ = t.Client().Patch(ctx, &stacks.Items[i], patch)
		_ = t.Client().Delete(ctx, &stacks.Items[i])
	}
	select {
	case <-t.Controller.Done():
		t.test.Errorf("the controller has ended: %v", t.Controller.Wait())
	default:
	}
}

// thing is a program with one thing, named a.
func thing(value string, more ...string) string {
	properties := strings.Join(append([]string{"name: a", "value: " + value}, more...), ", ")
	return `
resources:
  a:
    type: lab:index:Thing
    properties: {` + properties + `}
outputs:
  value: ${a.value}
  hidden: {"fn::secret": "${a.value}"}
`
}

func (t *team) setProgram(program *v1.Program, body string) {
	t.test.Helper()
	program.Program = v1.ProgramSpec{}
	t.Expect(yaml.UnmarshalStrict([]byte(body), &program.Program)).To(Succeed())
}

func (t *team) program(name, body string) *v1.Program {
	t.test.Helper()
	program := &v1.Program{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: t.namespace}}
	t.setProgram(program, body)
	t.Expect(t.Client().Create(t.ctx, program)).To(Succeed())
	return program
}

// pod mounts the backend and the plugins, which are directories of the machine.
func (t *team) pod(more map[string]any) *apiextensionsv1.JSON { return t.podWith(more, nil) }

// podWith is like pod, with additions to the workspace and to the patch of the pod.
func (t *team) podWith(more, patch map[string]any) *apiextensionsv1.JSON {
	spec := map[string]any{
		"volumes": []map[string]any{
			{"name": "backend", "hostPath": map[string]any{"path": t.backend}},
			{"name": "plugins", "hostPath": map[string]any{"path": t.plugins}},
		},
		"containers": []map[string]any{{"name": "pulumi", "volumeMounts": []map[string]any{
			{"name": "backend", "mountPath": t.backend}, {"name": "plugins", "mountPath": "/pulumi-plugins"},
		}}},
	}
	maps.Copy(spec, patch)
	workspace := map[string]any{"podTemplate": map[string]any{"spec": spec}}
	maps.Copy(workspace, more)
	raw, err := json.Marshal(map[string]any{"spec": workspace})
	t.Expect(err).NotTo(HaveOccurred())
	return &apiextensionsv1.JSON{Raw: raw}
}

// stack applies a Stack.
func (t *team) stack(name string, change ...func(*v1.Stack)) *v1.Stack {
	t.test.Helper()
	stack := &v1.Stack{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: t.namespace}, Spec: v1.StackSpec{
		Stack:         "dev",
		ProgramRef:    &v1.ProgramReference{Name: name},
		Backend:       "file://" + t.backend,
		EnvRefs:       map[string]v1.ResourceRef{"PULUMI_CONFIG_PASSPHRASE": literal("passphrase-of-the-lab")},
		RetryInterval: &metav1.Duration{Duration: 2 * time.Second},
	}}
	text, err := json.Marshal(filepath.Join(t.dir, "cloud"))
	t.Expect(err).NotTo(HaveOccurred())
	stack.Spec.Config = map[string]apiextensionsv1.JSON{"lab:directory": apiextensionsv1.JSON{Raw: text}}
	stack.Spec.WorkspaceTemplate = t.pod(nil)
	for _, c := range change {
		c(stack)
	}
	t.Expect(t.Client().Create(t.ctx, stack)).To(Succeed())
	return stack
}

func edit[T client.Object](t *team, object T, change func(T)) {
	t.test.Helper()
	t.Eventually(func() error {
		if err := t.Get(t.ctx, client.ObjectKeyFromObject(object), object); err != nil {
			return err
		}
		change(object)
		return t.Client().Update(t.ctx, object)
	}).Should(Succeed())
}

// await waits until the Stack is as expected.
func (t *team) await(stack *v1.Stack, expect func(g Gomega, s *v1.Stack)) {
	t.test.Helper()
	t.Eventually(func(g Gomega) {
		g.Expect(t.Get(t.ctx, client.ObjectKeyFromObject(stack), stack)).To(Succeed())
		expect(g, stack)
	}).Should(Succeed())
}

func (t *team) awaitReady(stack *v1.Stack, value string) {
	t.test.Helper()
	t.await(stack, func(g Gomega, s *v1.Stack) {
		g.Expect(conditions.IsReady(s)).To(BeTrue(), conditions.GetMessage(s, meta.ReadyCondition))
		g.Expect(s.Status.ObservedGeneration).To(Equal(s.Generation))
		g.Expect(string(s.Status.Outputs["value"].Raw)).To(Equal(`"` + value + `"`))
	})
}

// awaitMessage waits until the condition has the reason and the texts.
func (t *team) awaitMessage(stack *v1.Stack, reason string, parts ...string) {
	t.test.Helper()
	t.await(stack, func(g Gomega, s *v1.Stack) {
		g.Expect(conditions.GetReason(s, meta.ReadyCondition)).To(Equal(reason), conditions.GetMessage(s, meta.ReadyCondition))
		for _, part := range parts {
			g.Expect(conditions.GetMessage(s, meta.ReadyCondition)).To(ContainSubstring(part))
		}
	})
}

// awaitJournal waits for the operation in the cloud.
func (t *team) awaitJournal(op, phase string) {
	t.test.Helper()
	t.Eventually(func(g Gomega) {
		entries, err := t.cloud.Journal()
		g.Expect(err).NotTo(HaveOccurred())
		found := false
		for _, entry := range entries {
			found = found || (entry.Op == op && entry.Phase == phase)
		}
		g.Expect(found).To(BeTrue(), "%s %s: %v", op, phase, entries)
	}).Should(Succeed())
}

// releaseWhenToldToStop releases what is held once its run has been told to stop, so that it begins nothing more.
func (t *team) releaseWhenToldToStop() {
	t.test.Helper()
	t.Eventually(t.cloud.ToldToStop).Should(BeTrue())
	t.Expect(t.cloud.Release()).To(Succeed())
}

// count returns how often the operation happened in the cloud.
func (t *team) count(op, phase string) int {
	t.test.Helper()
	entries, err := t.cloud.Journal()
	t.Expect(err).NotTo(HaveOccurred())
	count := 0
	for _, entry := range entries {
		if entry.Op == op && entry.Phase == phase {
			count++
		}
	}
	return count
}

func (t *team) jobs() []batchv1.Job {
	t.test.Helper()
	var list batchv1.JobList
	t.Expect(t.List(t.ctx, &list, client.InNamespace(t.namespace))).To(Succeed())
	return list.Items
}

// runningPod returns the pod of the run in flight.
func (t *team) runningPod(stack *v1.Stack) *corev1.Pod {
	t.test.Helper()
	t.Expect(t.Get(t.ctx, client.ObjectKeyFromObject(stack), stack)).To(Succeed())
	t.Expect(stack.Status.Run).NotTo(BeNil())
	var list corev1.PodList
	t.Expect(t.List(t.ctx, &list, client.InNamespace(t.namespace), client.MatchingLabels{"pulumi.com/run": stack.Status.Run.ID})).To(Succeed())
	t.Expect(list.Items).To(HaveLen(1))
	return &list.Items[0]
}

// noLocks expects that no lock is left.
func (t *team) noLocks() {
	t.test.Helper()
	locks, err := filepath.Glob(filepath.Join(t.backend, ".pulumi", "locks", "organization", "*", "*", "*.json"))
	t.Expect(err).NotTo(HaveOccurred())
	t.Expect(locks).To(BeEmpty())
}

func literal(value string) v1.ResourceRef {
	return v1.ResourceRef{Type: v1.ResourceRefLiteral, Literal: &v1.LiteralValue{Value: value}}
}
