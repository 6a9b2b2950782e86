// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

// Kind is a kind that commands work on.
type Kind struct {
	schema.GroupVersionKind
	// Singular and Plural names, in commands and in sentences.
	Singular, Plural string
	// OfCluster says that the objects are in no namespace.
	OfCluster bool
	newList   func() client.ObjectList
	items     func(client.ObjectList) []client.Object
}

// Stack is the kind v1.Stack.
func Stack() Kind {
	return Kind{
		GroupVersionKind: v1.GroupVersion.WithKind("Stack"), Singular: "stack", Plural: "stacks",
		newList: func() client.ObjectList { return &v1.StackList{} },
		items: func(list client.ObjectList) []client.Object {
			var objects []client.Object
			for i := range list.(*v1.StackList).Items {
				objects = append(objects, &list.(*v1.StackList).Items[i])
			}
			return objects
		},
	}
}

// Program is the kind v1.Program.
func Program() Kind {
	return Kind{
		GroupVersionKind: v1.GroupVersion.WithKind("Program"), Singular: "program", Plural: "programs",
		newList: func() client.ObjectList { return &v1.ProgramList{} },
		items: func(list client.ObjectList) []client.Object {
			var objects []client.Object
			for i := range list.(*v1.ProgramList).Items {
				objects = append(objects, &list.(*v1.ProgramList).Items[i])
			}
			return objects
		},
	}
}

// PolicySet is the kind v1.PolicySet.
func PolicySet() Kind {
	return Kind{
		GroupVersionKind: v1.GroupVersion.WithKind(v1.PolicySetKind), Singular: "policyset", Plural: "policysets", OfCluster: true,
		newList: func() client.ObjectList { return &v1.PolicySetList{} },
		items: func(list client.ObjectList) []client.Object {
			var objects []client.Object
			for i := range list.(*v1.PolicySetList).Items {
				objects = append(objects, &list.(*v1.PolicySetList).Items[i])
			}
			return objects
		},
	}
}

// NewList returns an empty list of the kind, to be read or watched.
func (k Kind) NewList() client.ObjectList { return k.newList() }

// List returns the objects of the kind. It sets their kind, which the API server leaves
// out of lists.
func (k Kind) List(ctx context.Context, api client.Reader, options ...client.ListOption) ([]client.Object, error) {
	list := k.newList()
	if err := api.List(ctx, list, options...); err != nil {
		return nil, Explain(err)
	}
	objects := k.items(list)
	for _, object := range objects {
		object.GetObjectKind().SetGroupVersionKind(k.GroupVersionKind)
	}
	return objects, nil
}

// ListRaw returns the objects of the kind as the API server has them, including fields
// that this program does not know.
func (k Kind) ListRaw(ctx context.Context, api client.Reader, options ...client.ListOption) ([]unstructured.Unstructured, error) {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(k.GroupVersion().WithKind(k.Kind + "List"))
	if err := api.List(ctx, list, options...); err != nil {
		return nil, Explain(err)
	}
	return list.Items, nil
}

// Names returns the names with the prefix, for completion.
func Names(ctx context.Context, api client.Reader, kind schema.GroupVersionKind, namespace, prefix string) ([]string, error) {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
	if err := api.List(ctx, list, client.InNamespace(namespace)); err != nil {
		return nil, Explain(fmt.Errorf("listing names of kind %s: %w", kind.Kind, err))
	}
	var names []string
	for i := range list.Items {
		if name := list.Items[i].Name; strings.HasPrefix(name, prefix) {
			names = append(names, name)
		}
	}
	return names, nil
}
