// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package history

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

const (
	// Label and Retained mark the records that outlive their Stacks, so that people find them.
	Label, Retained = "pulumi.com/history", "retained"
	// stackAnnotation has the name of the Stack, which may be too long for a label.
	stackAnnotation = "pulumi.com/stack"
)

// IsRetained reports whether the ConfigMap is the record of a Stack of that name that outlives it. It then belongs to
// whichever Stack has the name.
func IsRetained(kept metav1.Object, stack string) bool {
	return metav1.GetControllerOf(kept) == nil && kept.GetLabels()[Label] == Retained && kept.GetAnnotations()[stackAnnotation] == stack
}

// Retain marks a record that outlives its Stack.
func Retain(kept metav1.Object, stack string) {
	labels, annotations := kept.GetLabels(), kept.GetAnnotations()
	if labels == nil {
		labels = make(map[string]string)
	}
	if annotations == nil {
		annotations = make(map[string]string)
	}
	labels[Label], annotations[stackAnnotation] = Retained, stack
	kept.SetLabels(labels)
	kept.SetAnnotations(annotations)
}

// Release removes the marks of Retain.
func Release(kept metav1.Object) {
	labels, annotations := kept.GetLabels(), kept.GetAnnotations()
	delete(labels, Label)
	delete(annotations, stackAnnotation)
	kept.SetLabels(labels)
	kept.SetAnnotations(annotations)
}
