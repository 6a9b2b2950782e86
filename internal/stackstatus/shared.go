// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package stackstatus

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/grammar"
)

// Identity identifies the stack that the Stack updates, once a run has found it in its backend. Two Stacks
// with the same undo each other's updates. It is empty before, for a Stack that only previews, which is the
// preview of another one, and where the same text may be another stack: no warning is better than a wrong one.
func Identity(stack *v1.Stack) string {
	info := stack.Status.ProjectInfo
	name, err := grammar.ParseStackName(stack.Spec.Stack)
	if err != nil || info == nil || info.Backend == "" || info.Name == "" || stack.Spec.Preview {
		return ""
	}
	environment := ""
	switch {
	case grammar.IsDIY(info.Backend):
		name.Org = "" // there is one
		if !namesBackend(stack) {
			if environment = environmentOf(stack); environment == "" && stack.Spec.Backend == "" {
				return "" // the program names the backend
			}
		}
	case name.Org == "":
		return "" // it is the default one of the access token
	}
	return strings.Join([]string{stack.Spec.Backend, info.Backend, environment, name.Org, info.Name, name.Stack}, "\n")
}

// namesBackend reports whether spec.backend and what is shown of a DIY backend identify it. The query, which is
// not shown, and environment variables may select another endpoint or account.
func namesBackend(stack *v1.Stack) bool {
	backend, err := url.Parse(stack.Spec.Backend)
	if err != nil {
		return false
	}
	switch grammar.Scheme(stack.Status.ProjectInfo.Backend) {
	case "file":
		return true
	case "gs":
		return stack.Spec.Backend != "" // the names of buckets are global
	case "s3":
		return backend.Query().Has("endpoint")
	case "azblob":
		return backend.Query().Has("storage_account")
	case "postgres":
		return backend.Host != ""
	}
	return false
}

// environmentOf describes where the environment variables of the Stack come from, "" if it has none. Those of two
// Stacks are the same if that is.
func environmentOf(stack *v1.Stack) string {
	spec := &stack.Spec
	if len(spec.Envs)+len(spec.EnvSecrets)+len(spec.EnvRefs) == 0 && spec.WorkspaceTemplate == nil {
		return ""
	}
	sources, err := json.Marshal([]any{stack.Namespace, spec.Envs, spec.EnvSecrets, spec.EnvRefs, spec.WorkspaceTemplate})
	if err != nil {
		return stack.Namespace + "/" + stack.Name // like no other one
	}
	return string(sources)
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
