// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// pageSize is how many objects to list at a time. Each may be as large as etcd allows.
const pageSize = 50

// paged lists objects page by page, and keeps of each only what the cache has: anyone who
// can create objects with the label of a run can create many, and large ones.
type paged struct{ client.Reader }

// List implements client.Reader.
func (p paged) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	var all []runtime.Object
	for token := ""; ; {
		page := list.DeepCopyObject().(client.ObjectList)
		of := append(slices.Clone(options), client.Limit(pageSize), client.Continue(token))
		if err := p.Reader.List(ctx, page, of...); err != nil {
			return err
		}
		err := meta.EachListItem(page, func(object runtime.Object) error {
			_, err := slim(object)
			all = append(all, object)
			return err
		})
		if err != nil {
			return err
		}
		if token = page.GetContinue(); token == "" {
			return meta.SetList(list, all)
		}
	}
}
