// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package watches

import (
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/source"
)

// keptChanged reports whether the GitRepository that is kept for a Stack has changed in a
// way that matters. That includes the state of the fetch, which the Stack reports.
func keptChanged(before, after client.Object) bool {
	a, okBefore := before.(*sourcev1.GitRepository)
	b, okAfter := after.(*sourcev1.GitRepository)
	return okBefore && okAfter && (isKept(a) || isKept(b)) && source.KeptChanged(a, b)
}

func isKept(repo *sourcev1.GitRepository) bool {
	owner := metav1.GetControllerOf(repo)
	return owner != nil && owner.Kind == v1.StackKind
}
