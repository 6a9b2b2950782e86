// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package migration

import (
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Operator is a Deployment of the Pulumi operator.
type Operator struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Image     string `json:"image"`
	Replicas  int32  `json:"replicas"`
	// Stop are the commands that stop it, in order.
	Stop []string `json:"stop,omitempty"`
}

// operatorImage is the last part of the name of the operator's image.
const operatorImage = "pulumi-kubernetes-operator"

// OfDeployment returns the operator that a Deployment runs, or nil if it runs something else.
func OfDeployment(deployment *appsv1.Deployment) *Operator {
	for _, container := range deployment.Spec.Template.Spec.Containers {
		name, _, _ := strings.Cut(container.Image[strings.LastIndex(container.Image, "/")+1:], "@")
		name, _, _ = strings.Cut(name, ":")
		if name != operatorImage {
			continue
		}
		found := &Operator{Namespace: deployment.Namespace, Name: deployment.Name, Image: container.Image, Replicas: 1}
		if deployment.Spec.Replicas != nil {
			found.Replicas = *deployment.Spec.Replicas
		}
		if found.Replicas > 0 {
			found.Stop = append(suspension(deployment.Labels),
				fmt.Sprintf("kubectl -n %s scale deployment %s --replicas=0", deployment.Namespace, deployment.Name))
		}
		return found
	}
	return nil
}

// suspension returns the command for what would start the operator again, if that is Flux.
func suspension(labels map[string]string) []string {
	for _, of := range []struct{ group, command string }{
		{"helm.toolkit.fluxcd.io", "helmrelease"}, {"kustomize.toolkit.fluxcd.io", "kustomization"},
	} {
		if name := labels[of.group+"/name"]; name != "" {
			return []string{fmt.Sprintf("flux suspend %s %s -n %s", of.command, name, labels[of.group+"/namespace"])}
		}
	}
	return nil
}

// Left is an object of the operator v2 that has no counterpart here.
type Left struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Stack is the Stack that it is for, "" if someone has made it by hand.
	Stack string `json:"stack,omitempty"`
	// Updating says that it is an update in flight.
	Updating bool `json:"updating,omitempty"`
}

// OfOperatorObject says what a Workspace or an Update is for.
func OfOperatorObject(object *unstructured.Unstructured) Left {
	left := Left{Kind: object.GetKind(), Namespace: object.GetNamespace(), Name: object.GetName()}
	for _, owner := range object.GetOwnerReferences() {
		if owner.Kind == "Stack" && strings.HasPrefix(owner.APIVersion, "pulumi.com/") {
			left.Stack = owner.Name
		}
	}
	listed, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	for _, item := range listed {
		condition, ok := item.(map[string]any)
		left.Updating = left.Updating || (ok && left.Kind == "Update" && condition["type"] == "Progressing" && condition["status"] == "True")
	}
	return left
}
