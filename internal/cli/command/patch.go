// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// mergePatch changes only the given fields of an object.
func mergePatch(ctx context.Context, api client.Client, object *unstructured.Unstructured, fields map[string]any) error {
	patch, err := json.Marshal(fields)
	if err != nil {
		return fmt.Errorf("writing a patch of %s %s: %w", object.GetKind(), object.GetName(), err)
	}
	if err := api.Patch(ctx, object.DeepCopy(), client.RawPatch("application/merge-patch+json", patch), fieldOwner); err != nil {
		return fmt.Errorf("changing %s %s: %w", object.GetKind(), object.GetName(), err)
	}
	return nil
}
