// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/operator"
)

// operatorDeployment is what runs the operator v2, as in its install.yaml.
const operatorDeployment = `apiVersion: v1
kind: Namespace
metadata: {name: pulumi-kubernetes-operator}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: controller-manager, namespace: pulumi-kubernetes-operator}
spec:
  selector:
    matchLabels: {control-plane: controller-manager}
  template:
    metadata:
      labels: {control-plane: controller-manager}
    spec:
      containers:
        - {name: manager, image: pulumi/pulumi-kubernetes-operator}
`

// installOperator installs the CRDs and the Deployment of the operator v2, and returns the file with the CRDs.
func (m *migration) installOperator() (crds string) {
	m.test.Helper()
	text, err := operator.Manifest()
	m.Expect(err).NotTo(HaveOccurred())
	crds = filepath.Join(m.dir, "crds.yaml")
	m.Expect(os.WriteFile(crds, text, 0o644)).To(Succeed())
	m.kubectl("kubectl apply --server-side -f " + crds)
	m.kubectl("kubectl wait --for=condition=Established --timeout=" + patience.String() + " -f " + crds)
	deployment := filepath.Join(m.dir, "operator.yaml")
	m.Expect(os.WriteFile(deployment, []byte(operatorDeployment), 0o644)).To(Succeed())
	m.kubectl("kubectl apply --server-side -f " + deployment)
	return crds
}

// operatorRan makes a Program, and its Stack in that version of the API, with what the operator v2 leaves after a run: the
// things that are there, and its status.
func (m *migration) operatorRan(name, version string, there, all []string, state v1.UpdateState) *v1.Stack {
	m.test.Helper()
	program, stack := m.programNamed(name, thingsNamed(all...), func(s *v1.Stack) {
		s.Spec.Stack, s.Spec.Interval, s.Spec.RetryInterval = "dev", nil, nil
		s.Finalizers = []string{v1.StackFinalizer}
	})
	m.apply(program)
	m.bare.write(project(name, thingsNamed(there...)))
	m.bare.run("", "stack", "init", "dev")
	m.bare.run("", "config", "set", "lab:directory", m.place, "--stack", "dev")
	m.bare.run("", "up", "--yes", "--skip-preview", "--stack", "dev")

	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(stack)
	m.Expect(err).NotTo(HaveOccurred())
	object := &unstructured.Unstructured{Object: fields}
	object.SetGroupVersionKind(schema.GroupVersionKind{Group: v1.GroupVersion.Group, Version: version, Kind: v1.StackKind})
	m.Expect(m.Create(m.ctx, object)).To(Succeed())
	m.Expect(m.Get(m.ctx, keyOf(stack), stack)).To(Succeed())
	stack.Status = operatorStatus(stack, program, state)
	m.Expect(m.Status().Update(m.ctx, stack)).To(Succeed())
	return stack
}

// operatorStatus is what the operator v2 says of a Stack after the update of a Program.
func operatorStatus(stack *v1.Stack, program *v1.Program, state v1.UpdateState) v1.StackStatus {
	now := metav1.Time{Time: time.Now().Truncate(time.Second)}
	attempted := fmt.Sprint(program.Generation)
	last := &v1.LastUpdate{
		Generation: stack.Generation, Name: stack.Name + "-18a9f0c2d3e", Type: v1.UpdateTypeUp, State: state, LastResyncTime: &now,
		LastAttemptedCommit: attempted,
	}
	ready := metav1.Condition{
		Type: meta.ReadyCondition, Status: metav1.ConditionFalse, Reason: "NotReadyInProgress",
		Message: "reconciliation is in progress", LastTransitionTime: now,
	}
	if state == v1.UpdateSucceeded {
		last.LastSuccessfulCommit = attempted
		ready.Status, ready.Reason, ready.Message = metav1.ConditionTrue, "ProcessingCompleted", "the stack has been processed and is up to date"
	}
	return v1.StackStatus{
		ObservedGeneration: stack.Generation, ProjectInfo: &v1.ProjectInfo{Name: program.Name, Runtime: "yaml"},
		LastUpdate: last, Conditions: []metav1.Condition{ready},
	}
}

// thingsNamed is the body of a program with these things.
func thingsNamed(names ...string) string {
	body := "resources:\n"
	for _, name := range names {
		body += fmt.Sprintf("  %s:\n    type: lab:index:Thing\n    properties: {name: %s, value: one}\n", name, name)
	}
	return body
}

// leftBehind makes what the operator v2 has for a Stack: the Workspace with what it owns, and two Updates, of which the
// last has a finalizer, with the outputs.
func (m *migration) leftBehind(stack *v1.Stack) {
	m.test.Helper()
	workspace := m.auto("Workspace", stack.Name, nil)
	labels := map[string]string{"app": stack.Name}
	m.apply(&appsv1.StatefulSet{
		ObjectMeta: owned(workspace, stack.Name+"-workspace"),
		Spec: appsv1.StatefulSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "pulumi", Image: "pulumi/pulumi"}}},
			},
		},
	})
	m.apply(&corev1.Service{ObjectMeta: owned(workspace, stack.Name+"-workspace"), Spec: corev1.ServiceSpec{
		Selector: labels, Ports: []corev1.ServicePort{{Port: 50051}},
	}})
	m.auto("Update", stack.Name+"-18a9f0c0000", nil)
	last := m.auto("Update", stack.Status.LastUpdate.Name, []string{v1.StackFinalizer})
	m.apply(&corev1.Secret{ObjectMeta: owned(last, last.GetName()+"-stack-outputs")})
}

// auto creates an object of auto.pulumi.com, which is complete.
func (m *migration) auto(kind, name string, finalizers []string) *unstructured.Unstructured {
	m.test.Helper()
	object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "auto.pulumi.com/v1alpha1", "kind": kind}}
	object.SetName(name)
	object.SetFinalizers(finalizers)
	m.apply(object)
	var conditions []any
	for kind, status := range map[string]string{"Progressing": "False", "Failed": "False", "Complete": "True"} {
		conditions = append(conditions, map[string]any{
			"type": kind, "status": status, "reason": kind, "message": "", "lastTransitionTime": time.Now().UTC().Format(time.RFC3339),
		})
	}
	object.Object["status"] = map[string]any{"conditions": conditions}
	m.Expect(m.Status().Update(m.ctx, object)).To(Succeed())
	return object
}

// owned is the metadata of an object that the garbage collector deletes with its owner.
func owned(owner *unstructured.Unstructured, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(owner, owner.GroupVersionKind())}}
}
