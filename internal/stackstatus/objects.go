// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package stackstatus

import (
	"fmt"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

// The functions in this file record the objects that are kept for a Stack.

// MarkGitKept records the GitRepository of a projectRepo, before it is created.
func MarkGitKept(stack *v1.Stack, name string) {
	if stack.Status.GitRepository != name {
		stack.Status.GitRepository = name
		markEdited(stack, fmt.Sprintf("Created or updated GitRepository %s/%s for spec.projectRepo", stack.Namespace, name))
	}
}

// MarkGitDeleted records that there is no GitRepository any more.
func MarkGitDeleted(stack *v1.Stack) {
	stack.Status.GitRepository = ""
	markEdited(stack, "Released the GitRepository, which spec.projectRepo no longer needs")
}

// MarkOutputsReleased records that the Secret with outputs that the spec no longer names is
// gone.
func MarkOutputsReleased(stack *v1.Stack) {
	name := stack.Status.OutputsSecret.Name
	stack.Status.OutputsSecret = nil
	markEdited(stack, fmt.Sprintf("Released Secret %s, which spec.writeOutputsToSecret no longer names", name))
}

// WithoutOutputsSecret returns a copy of the Stack that knows of no Secret with outputs.
func WithoutOutputsSecret(stack *v1.Stack) *v1.Stack {
	without := stack.DeepCopy()
	without.Status.OutputsSecret = nil
	return without
}

// RecordInventory records an inventory that could not be written before.
func RecordInventory(stack *v1.Stack, inventory *v1.InventoryStatus) {
	stack.Status.Inventory = inventory
}
