// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package stackstatus

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/grammar"
)

// Identity identifies the stack that the Stack updates, once a run has found it in its backend. Two Stacks
// with the same undo each other's updates. It is empty before, and for a Stack that only previews: that is
// the preview of another one.
//
// What is shown of a backend lacks its parameters, such as another endpoint, so that spec.backend has to be
// the same as well: no warning is better than a wrong one.
func Identity(stack *v1.Stack) string {
	info := stack.Status.ProjectInfo
	name, err := grammar.ParseStackName(stack.Spec.Stack)
	if err != nil || info == nil || info.Backend == "" || info.Name == "" || stack.Spec.Preview {
		return ""
	}
	if grammar.IsDIY(info.Backend) {
		name.Org = "" // there is one
	}
	return strings.Join([]string{stack.Spec.Backend, info.Backend, name.Org, info.Name, name.Stack}, "\n")
}

// HasOwnFiles reports whether the state is in files, which every pod may have its own of.
func HasOwnFiles(stack *v1.Stack) bool {
	info := stack.Status.ProjectInfo
	return info != nil && grammar.Scheme(info.Backend) == "file"
}

// SharedEvent says that another Stack updates the same stack. One of another namespace is named only if that
// is no secret.
func SharedEvent(stack, other *v1.Stack, isNamed bool) Event {
	who := "A Stack in another namespace"
	if isNamed || other.Namespace == stack.Namespace {
		who = fmt.Sprintf("Stack %s/%s", other.Namespace, other.Name)
	}
	return Event{Type: corev1.EventTypeWarning, Reason: v1.StackSharedReason, Message: fmt.Sprintf("%s updates the same stack, %s, so that each undoes what the "+
		"other does: delete one of the two, with spec.destroyOnFinalize set to false, or set spec.preview in it", who, stack.Spec.Stack)}
}
