// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package inputs

import (
	"cmp"
	"encoding/json"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

// kubeconfigVariable is where programs look for their kubeconfig.
const kubeconfigVariable = "KUBECONFIG"

// ServiceAccount is the name of the service account whose rights the program of
// the Stack has, and empty for none. A Stack that brings a kubeconfig of its own
// does not get the default account: a program has one identity, and one that was
// not asked for should not be lying about in the run.
func ServiceAccount(stack *v1.Stack, defaultAccount string) string {
	if _, own := stack.Spec.EnvRefs[kubeconfigVariable]; own {
		return stack.Spec.ServiceAccountName
	}
	return cmp.Or(stack.Spec.ServiceAccountName, templateAccount(stack), defaultAccount)
}

// templateAccount is the account that a template of the Pulumi operator names.
func templateAccount(stack *v1.Stack) string {
	var template struct {
		Spec struct {
			ServiceAccountName string `json:"serviceAccountName"`
		} `json:"spec"`
	}
	if raw := stack.Spec.WorkspaceTemplate; raw == nil || json.Unmarshal(raw.Raw, &template) != nil {
		return "" // what is wrong with it is told where the pod is made
	}
	return template.Spec.ServiceAccountName
}
