// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/stackstatus"
)

// maxShared bounds the Stacks that are named as updating the same stack.
const maxShared = 5

// Shared says which other Stacks update the same stack, for a reader that is not the controller: it names all that
// its client may list. What that may not list is unreadable.
func Shared(ctx context.Context, api client.Reader, stack *v1.Stack, options Options) (shared []string, unreadable string, err error) {
	identity := stackstatus.Identity(stack)
	if identity == "" || (options.Jobs && stackstatus.HasOwnFiles(stack)) {
		return nil, "", nil
	}
	shared, err = readShared(ctx, api, stack, identity)
	if apierrors.IsForbidden(err) {
		unreadable = err.Error()
		shared, err = readShared(ctx, api, stack, identity, client.InNamespace(stack.Namespace))
	}
	return shared, unreadable, err
}

// readShared pages through the Stacks.
func readShared(ctx context.Context, api client.Reader, stack *v1.Stack, identity string, where ...client.ListOption) ([]string, error) {
	var shared []string
	for next := ""; ; {
		var page v1.StackList
		if err := api.List(ctx, &page, append([]client.ListOption{client.Limit(pageSize), client.Continue(next)}, where...)...); err != nil {
			return nil, fmt.Errorf("failed to list the Stacks that update the same stack as Stack %s/%s: %w", stack.Namespace, stack.Name, err)
		}
		for i := range page.Items {
			other := &page.Items[i]
			if client.ObjectKeyFromObject(other) != client.ObjectKeyFromObject(stack) && stackstatus.Identity(other) == identity {
				shared = append(shared, stackstatus.SharedEvent(stack, other, true).Message)
			}
		}
		if next = page.Continue; next == "" || len(shared) >= maxShared {
			return shared[:min(len(shared), maxShared)], nil
		}
	}
}
