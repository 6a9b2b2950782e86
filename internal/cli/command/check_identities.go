// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/identity"
	"github.com/flux-pulumi/pulumi-controller/internal/lockdown"
)

// maxIgnoredIdentities bounds how many service accounts are named.
const maxIgnoredIdentities = 5

// warnOfIdentities names the service accounts of Stacks that have annotations for clouds, which have no effect without
// the feature gate. Nothing else would say so: a program may have its credentials from elsewhere.
func (s *session) warnOfIdentities(ctx context.Context, api client.Reader, deployment string, flags lockdown.Flags) {
	if flags.WorkloadIdentity {
		return
	}
	stacks := &v1.StackList{}
	if err := api.List(ctx, stacks); err != nil {
		return // checkCRD says why
	}
	var ignored []string
	users := accountsOf(stacks.Items, flags.DefaultServiceAccount)
	for _, name := range slices.SortedFunc(maps.Keys(users), compareNames) {
		account := &corev1.ServiceAccount{}
		switch err := api.Get(ctx, name, account); {
		case apierrors.IsNotFound(err):
			continue // the Stack says so
		case err != nil:
			s.Warningf("%s: cannot read the service accounts of Stacks: %v", deployment, err)
			return
		}
		if unused := identity.Unused(account.Annotations, flags.Runner != lockdown.LocalRunner); len(unused) > 0 {
			ignored = append(ignored, fmt.Sprintf("service account %s of Stack %s has %s, which has no effect on runs", name, users[name], strings.Join(unused, ", ")))
		}
	}
	for _, text := range ignored[:min(len(ignored), maxIgnoredIdentities)] {
		s.Warningf("%s: %s: set --feature-gates=ObjectLevelWorkloadIdentity=true", deployment, text)
	}
	if more := len(ignored) - maxIgnoredIdentities; more > 0 {
		s.Warningf("%s: %d more service accounts have such annotations", deployment, more)
	}
}

// accountsOf returns the service accounts of programs, each with the first Stack that has it.
func accountsOf(stacks []v1.Stack, byDefault string) map[types.NamespacedName]types.NamespacedName {
	accounts := map[types.NamespacedName]types.NamespacedName{}
	for i := range stacks {
		stack := client.ObjectKeyFromObject(&stacks[i])
		account := types.NamespacedName{Namespace: stack.Namespace, Name: cmp.Or(stacks[i].Spec.ServiceAccountName, byDefault)}
		if earlier, known := accounts[account]; account.Name != "" && (!known || compareNames(stack, earlier) < 0) {
			accounts[account] = stack
		}
	}
	return accounts
}

func compareNames(a, b types.NamespacedName) int {
	return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
}
