// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package inputs

import (
	"cmp"
	"encoding/json"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/grammar"
)

// ServiceAccount returns the name of the service account that the program of the Stack
// runs as, or "" for none. A Stack with its own kubeconfig does not get the default
// account: a program has one identity, and credentials that nobody asked for should not
// be in the run.
func ServiceAccount(stack *v1.Stack, defaultAccount string) string {
	if _, own := stack.Spec.EnvRefs[grammar.KubeconfigVariable]; own {
		return stack.Spec.ServiceAccountName
	}
	return cmp.Or(stack.Spec.ServiceAccountName, templateAccount(stack), defaultAccount)
}

// templateAccount returns the service account named in the Pulumi operator's workspace
// template.
func templateAccount(stack *v1.Stack) string {
	var template struct {
		Spec struct {
			ServiceAccountName string `json:"serviceAccountName"`
		} `json:"spec"`
	}
	if raw := stack.Spec.WorkspaceTemplate; raw == nil || json.Unmarshal(raw.Raw, &template) != nil {
		return "" // building the pod reports the fault
	}
	return template.Spec.ServiceAccountName
}
