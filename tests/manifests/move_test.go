// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/controlplane"
	"github.com/flux-pulumi/pulumi-controller/tests/operator"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// mover is an API server of its own, whose CRD of Stacks is replaced.
type mover struct {
	*WithT
	t      *testing.T
	config *rest.Config
	client client.Client
	ours   *apiextensionsv1.CustomResourceDefinition
}

func TestManifestsMoveFromTheOperatorAndBack(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	m := &mover{WithT: NewWithT(t), t: t, ours: readCRDs(t)["Stack"]}
	m.SetDefaultEventuallyTimeout(4 * time.Minute)
	plane, err := controlplane.Start(context.WithoutCancel(t.Context()), controlplane.Options{Dir: t.TempDir()})
	m.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { m.Expect(plane.Stop()).To(Succeed()) })
	m.config = plane.RESTConfig()
	scheme := runtime.NewScheme()
	m.Expect(v1.AddToScheme(scheme)).To(Succeed())
	m.Expect(apiextensionsv1.AddToScheme(scheme)).To(Succeed())
	m.client, err = client.New(m.config, client.Options{Scheme: scheme})
	m.Expect(err).NotTo(HaveOccurred())

	first := operator.StackCRD(true)
	// The operator stored v1alpha1 once: a cluster that has had it from the beginning still names it.
	first.Spec.Versions[0].Storage, first.Spec.Versions[1].Storage = false, true
	m.Expect(m.client.Create(t.Context(), first)).To(Succeed())
	m.awaitStored("v1alpha1")
	m.create("old", "v1alpha1", "deprecated")
	m.replaceCRD(operator.StackCRD(true))
	m.awaitStored("v1alpha1", "v1")
	m.create("new", "v1", "")
	before := map[string]*unstructured.Unstructured{"old": m.get("old", "v1"), "new": m.get("new", "v1")}

	m.replaceCRD(m.ours.DeepCopy())
	m.Eventually(func(g Gomega) {
		g.Expect(m.get("new", "v1").Object).To(Equal(before["new"].Object))
	}).Should(Succeed(), "nothing of a Stack is lost")
	m.Expect(m.get("old", "v1").Object).To(Equal(before["old"].Object))
	m.awaitStored("v1alpha1", "v1")
	m.speaksBothVersions()
	m.leave("old")
	m.leave("new")

	m.replaceCRD(operator.StackCRD(true))
	for _, name := range []string{"old", "new"} {
		m.back(name, before[name])
	}
}

// replaceCRD replaces the CRD of Stacks, as kubectl apply --server-side --force-conflicts does, and waits until the API
// server serves the new one.
func (m *mover) replaceCRD(crd *apiextensionsv1.CustomResourceDefinition) {
	m.t.Helper()
	there := &apiextensionsv1.CustomResourceDefinition{}
	m.Expect(m.client.Get(m.t.Context(), client.ObjectKeyFromObject(crd), there)).To(Succeed())
	there.Spec = crd.Spec
	m.Expect(m.client.Update(m.t.Context(), there)).To(Succeed())
	_, ours := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties["suspend"]
	probe := m.stackOf("probe", "v1", map[string]any{"stack": "dev", "programRef": map[string]any{"name": "p"}, "suspend": true})
	m.Eventually(func(g Gomega) {
		made := probe.DeepCopy()
		g.Expect(m.client.Create(m.t.Context(), made, client.DryRunAll)).To(Succeed())
		_, kept, err := unstructured.NestedBool(made.Object, "spec", "suspend")
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(kept).To(Equal(ours))
	}).Should(Succeed())
}

func (m *mover) awaitStored(versions ...string) {
	m.t.Helper()
	m.Eventually(func(g Gomega) {
		crd := &apiextensionsv1.CustomResourceDefinition{}
		g.Expect(m.client.Get(m.t.Context(), client.ObjectKey{Name: "stacks.pulumi.com"}, crd)).To(Succeed())
		g.Expect(crd.Status.StoredVersions).To(ConsistOf(versions))
		var established bool
		for _, condition := range crd.Status.Conditions {
			established = established || condition.Type == apiextensionsv1.Established && condition.Status == apiextensionsv1.ConditionTrue
		}
		g.Expect(established).To(BeTrue())
	}).Should(Succeed())
}

func (m *mover) stackOf(name, version string, spec map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "pulumi.com/" + version, "kind": "Stack",
		"metadata": map[string]any{"name": name, "namespace": "default", "finalizers": []any{v1.StackFinalizer}},
		"spec":     spec,
	}}
}

// operatorSpec sets each field of the operator, but for those that exclude others.
func operatorSpec() map[string]any {
	secret := map[string]any{"type": "Secret", "secret": map[string]any{"name": "s", "key": "k"}}
	return map[string]any{
		"stack": "acme/app/dev", "backend": "s3://state", "projectRepo": "https://example.com/infra", "branch": "main", "repoDir": "app",
		"shallow": true, "gitAuth": map[string]any{"accessToken": secret}, "gitAuthSecret": "git",
		"accessTokenSecret": "token", "envs": []any{"c"}, "envSecrets": []any{"s"},
		"envRefs": map[string]any{
			"A": secret, "B": map[string]any{"type": "Literal", "literal": map[string]any{"value": "x"}},
			"C": map[string]any{"type": "Env", "env": map[string]any{"name": "HOME"}},
			"D": map[string]any{"type": "FS", "filesystem": map[string]any{"path": "/etc/token"}},
		},
		"config":    map[string]any{"aws:region": "eu-west-1", "tree": map[string]any{"a": []any{int64(1), true}}},
		"configRef": map[string]any{"x": map[string]any{"name": "c", "key": "k", "json": true}},
		"secrets":   map[string]any{"password": "p"}, "secretsRef": map[string]any{"token": secret}, "secretsProvider": "passphrase",
		"environment": []any{"acme/dev"}, "refresh": true, "expectNoRefreshChanges": true, "targets": []any{"urn:pulumi:*"},
		"targetDependents": true, "continueResyncOnCommitMatch": true, "destroyOnFinalize": true, "runProgram": true,
		"retryOnUpdateConflict": true, "useLocalStackOnly": true, "resyncFrequencySeconds": int64(60), "retryMaxBackoffDurationSeconds": int64(600),
		"preview": false, "serviceAccountName": "deployer", "workspaceReclaimPolicy": "Delete",
		"prerequisites":     []any{map[string]any{"name": "a", "requirement": map[string]any{"succeededWithinDuration": "1h"}}},
		"workspaceTemplate": map[string]any{"spec": map[string]any{"image": "pulumi/pulumi"}},
		"updateTemplate":    map[string]any{"spec": map[string]any{"remove": true}},
	}
}

// operatorStatus is what the operator v2 writes.
func operatorStatus() map[string]any {
	at := "2026-01-02T03:04:05Z"
	return map[string]any{
		"observedGeneration": int64(1), "observedReconcileRequest": "one",
		"outputs":       map[string]any{"url": "https://example.com", "password": "[secret]"},
		"projectInfo":   map[string]any{"name": "app", "runtime": "nodejs"},
		"currentUpdate": map[string]any{"generation": int64(1), "reconcileRequest": "one", "name": "app-2", "commit": "abc"},
		"lastUpdate": map[string]any{
			"generation": int64(1), "reconcileRequest": "one", "name": "app-1", "type": "up", "state": "succeeded", "message": "m",
			"lastAttemptedCommit": "abc", "lastSuccessfulCommit": "abc", "permalink": "https://app.pulumi.com/x", "lastResyncTime": at,
			"failures": int64(2),
		},
		"conditions": []any{map[string]any{
			"type": "Ready", "status": "True", "reason": "ProcessingCompleted", "message": "the stack has been processed", "lastTransitionTime": at,
		}},
	}
}

// create makes a Stack as the operator has it. The warning is what the API server says of the version.
func (m *mover) create(name, version, warning string) {
	m.t.Helper()
	warnings := &warningLog{}
	config := rest.CopyConfig(m.config)
	config.WarningHandler = warnings
	speaker, err := client.New(config, client.Options{})
	m.Expect(err).NotTo(HaveOccurred())
	object := m.stackOf(name, version, operatorSpec())
	m.Eventually(func() error { return speaker.Create(m.t.Context(), object.DeepCopy()) }).Should(Succeed())
	if warning != "" {
		m.Expect(warnings.all()).To(ContainSubstring(warning))
	}
	m.Expect(speaker.Get(m.t.Context(), client.ObjectKeyFromObject(object), object)).To(Succeed())
	object.Object["status"] = operatorStatus()
	m.Expect(speaker.Status().Update(m.t.Context(), object)).To(Succeed())
}

// get reads a Stack, without who wrote it.
func (m *mover) get(name, version string) *unstructured.Unstructured {
	m.t.Helper()
	object := m.stackOf(name, version, nil)
	m.Expect(m.client.Get(m.t.Context(), client.ObjectKeyFromObject(object), object)).To(Succeed())
	object.SetManagedFields(nil)
	return object
}

// speaksBothVersions writes one version and reads the other.
func (m *mover) speaksBothVersions() {
	m.t.Helper()
	warnings := &warningLog{}
	config := rest.CopyConfig(m.config)
	config.WarningHandler = warnings
	speaker, err := client.New(config, client.Options{})
	m.Expect(err).NotTo(HaveOccurred())
	name := strings.Repeat("long-", 50) + "v1" // of 252 characters
	object := m.stackOf(name, "v1alpha1", map[string]any{"stack": "dev", "programRef": map[string]any{"name": "p"}, "suspend": true})
	object.SetFinalizers(nil)
	m.Expect(client.WithFieldValidation(speaker, metav1.FieldValidationStrict).Create(m.t.Context(), object)).To(Succeed())
	m.Expect(warnings.all()).To(ContainSubstring("pulumi.com/v1alpha1 Stack is deprecated: use pulumi.com/v1"))
	read := &v1.Stack{}
	m.Expect(m.client.Get(m.t.Context(), client.ObjectKeyFromObject(object), read)).To(Succeed())
	m.Expect(read.Spec.Suspend).To(BeTrue())
	m.Expect(read.Status.ObservedGeneration).To(BeEquivalentTo(-1))
	m.Expect(m.get(name, "v1alpha1").Object["spec"]).To(Equal(m.get(name, "v1").Object["spec"]))
}

// leave writes the status that this controller writes, with all that it may have, and its own fields of spec.
func (m *mover) leave(name string) {
	m.t.Helper()
	stack := &v1.Stack{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	own := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"suspend":true,"timeout":"1h","dependsOn":[{"name":"a"}]}}`))
	m.Expect(m.client.Patch(m.t.Context(), stack, own)).To(Succeed())
	now := metav1.Now()
	stack.Status.CurrentUpdate = nil
	stack.Status.ObservedGeneration = stack.Generation
	stack.Status.LastAppliedDigest, stack.Status.LastAppliedRevision = "sha256:x", "main@sha1:abc"
	stack.Status.ProjectInfo = &v1.ProjectInfo{} // the least that it may say
	stack.Status.Resources = &v1.ResourcesStatus{Total: 3}
	stack.Status.Run = &v1.RunStatus{ID: "run-2", Operation: v1.OperationUpdate, StartedAt: now, Holder: v1.RunHolder{Host: "h", Instance: "i"}}
	stack.Status.LastUpdate = &v1.LastUpdate{
		Generation: stack.Generation, Name: "run-1", Type: v1.UpdateTypeUp, State: v1.UpdateSucceeded, Reason: "r",
		LastAttemptedCommit: "abc", LastSuccessfulCommit: "abc", LastResyncTime: &now,
	}
	stack.Status.Conditions = []metav1.Condition{{
		Type: "Ready", Status: metav1.ConditionTrue, Reason: "ReconciliationSucceeded", Message: "Applied revision: main@sha1:abc", LastTransitionTime: now,
	}}
	m.Expect(m.client.Status().Update(m.t.Context(), stack)).To(Succeed())
}

// back looks whether the operator can work with what this controller has left.
func (m *mover) back(name string, before *unstructured.Unstructured) {
	m.t.Helper()
	object := m.get(name, "v1")
	m.Expect(object.GetFinalizers()).To(ConsistOf(v1.StackFinalizer))
	m.Expect(object.Object["spec"]).To(Equal(before.Object["spec"]), "what the operator does not know is dropped, and no more")
	status, found, err := unstructured.NestedMap(object.Object, "status")
	m.Expect(err).NotTo(HaveOccurred())
	m.Expect(found).To(BeTrue())
	m.Expect(slices.Collect(maps.Keys(status))).To(ConsistOf("conditions", "lastUpdate", "observedGeneration", "observedReconcileRequest", "outputs", "projectInfo"))
	last, _, err := unstructured.NestedMap(status, "lastUpdate")
	m.Expect(err).NotTo(HaveOccurred())
	m.Expect(last).To(And(HaveKeyWithValue("state", "succeeded"), HaveKeyWithValue("type", "up"),
		HaveKeyWithValue("lastSuccessfulCommit", "abc"), HaveKeyWithValue("generation", object.GetGeneration()), Not(HaveKey("reason"))))
	// The operator writes the object and its status.
	object.SetAnnotations(map[string]string{"written": "by the operator"})
	m.Expect(m.client.Update(m.t.Context(), object)).To(Succeed())
	m.Expect(unstructured.SetNestedField(object.Object, "failed", "status", "lastUpdate", "state")).To(Succeed())
	m.Expect(m.client.Status().Update(m.t.Context(), object)).To(Succeed())
	object.SetFinalizers(nil)
	m.Expect(m.client.Update(m.t.Context(), object)).To(Succeed())
}

// warningLog keeps the warnings of an API server.
type warningLog struct {
	mu    sync.Mutex
	texts []string
}

func (l *warningLog) HandleWarningHeader(_ int, _, text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.texts = append(l.texts, text)
}

func (l *warningLog) all() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.texts, "\n")
}
