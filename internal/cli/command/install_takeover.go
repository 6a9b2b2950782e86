// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// takeOver makes this program the only manager of the fields that it has applied. A forced
// apply takes only fields with other values: what others have set to the same value would be
// a conflict in the next upgrade. All else that they have set stays theirs.
func takeOver(ctx context.Context, api client.Client, applied *unstructured.Unstructured) error {
	object := applied
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		if object == nil {
			var err error
			if object, err = (target{applied.GroupVersionKind(), client.ObjectKeyFromObject(applied)}).get(ctx, api); err != nil {
				return err
			}
		}
		entries, err := withoutShared(object.GetManagedFields())
		if err != nil || entries == nil {
			return err
		}
		patch, err := json.Marshal([]map[string]any{
			{"op": "replace", "path": "/metadata/managedFields", "value": entries},
			{"op": "replace", "path": "/metadata/resourceVersion", "value": object.GetResourceVersion()},
		})
		if err != nil {
			return fmt.Errorf("writing a patch: %w", err)
		}
		err = api.Patch(ctx, object.DeepCopy(), client.RawPatch(types.JSONPatchType, patch), fieldOwner)
		object = nil // a retry reads it again
		return err
	})
}

// withoutShared removes from the fields of other managers those of this program, and returns
// nil if there are none.
func withoutShared(entries []metav1.ManagedFieldsEntry) ([]metav1.ManagedFieldsEntry, error) {
	own := slices.IndexFunc(entries, isOwn)
	if own < 0 {
		return nil, nil
	}
	ours, err := fieldsOf(entries[own])
	if err != nil {
		return nil, err
	}
	var left []metav1.ManagedFieldsEntry
	shared := false
	for _, entry := range entries {
		if isOwn(entry) || entry.Subresource == "status" || entry.FieldsV1 == nil {
			left = append(left, entry)
			continue
		}
		theirs, err := fieldsOf(entry)
		if err != nil {
			return nil, err
		}
		rest := theirs.Difference(ours)
		if rest.Equals(theirs) {
			left = append(left, entry)
			continue
		}
		shared = true
		if rest.Empty() {
			continue
		}
		raw, err := rest.ToJSON()
		if err != nil {
			return nil, fmt.Errorf("writing the fields of %q: %w", entry.Manager, err)
		}
		entry.FieldsV1 = metav1.NewFieldsV1(string(raw))
		left = append(left, entry)
	}
	if !shared {
		return nil, nil
	}
	return left, nil
}

func fieldsOf(entry metav1.ManagedFieldsEntry) (*fieldpath.Set, error) {
	set := &fieldpath.Set{}
	if err := set.FromJSON(entry.FieldsV1.GetRawReader()); err != nil {
		return nil, fmt.Errorf("reading the fields of %q: %w", entry.Manager, err)
	}
	return set, nil
}
