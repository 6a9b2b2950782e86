// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
)

func TestTraceContinuesPastUnreadableObjects(t *testing.T) {
	w := newWorld(t, "trace-partly")
	w.allow("trace-reader", events, stacks, rbacv1.PolicyRule{APIGroups: []string{"kustomize.toolkit.fluxcd.io"}, Resources: []string{"kustomizations"}})
	w.withSourceElsewhere()
	w.apply("kustomization")
	w.golden("trace_partly", "trace stack network --as trace-reader")
}
