// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"errors"
	"fmt"
	"testing"

	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

func key(name string) client.ObjectKey { return client.ObjectKey{Namespace: "default", Name: name} }

func stackOf(namespace, name string, dependsOn ...v1.DependencyReference) *v1.Stack {
	return &v1.Stack{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: v1.StackSpec{DependsOn: dependsOn}}
}

// pagedReader returns one Stack per page.
type pagedReader struct {
	client.Reader
	stacks []*v1.Stack
	asked  []client.ListOptions
	// forbidden denies listing across all namespaces.
	forbidden bool
}

func (r *pagedReader) List(_ context.Context, list client.ObjectList, options ...client.ListOption) error {
	asked := (&client.ListOptions{}).ApplyOptions(options)
	r.asked = append(r.asked, *asked)
	if r.forbidden && asked.Namespace == "" {
		return apierrors.NewForbidden(schema.GroupResource{Resource: "stacks"}, "", errors.New("not yours"))
	}
	at := 0
	if asked.Continue != "" {
		if _, err := fmt.Sscan(asked.Continue, &at); err != nil {
			return err
		}
	}
	stacks, ok := list.(*v1.StackList)
	if !ok {
		return errors.New("not a list of Stacks")
	}
	stacks.Items = []v1.Stack{*r.stacks[at]}
	if at+1 < len(r.stacks) {
		stacks.Continue = fmt.Sprint(at + 1)
	}
	return nil
}

func TestDependentsAreReadPageByPage(t *testing.T) {
	stacks := []*v1.Stack{
		stackOf("default", "b", v1.DependencyReference{Name: "a"}), stackOf("default", "c", v1.DependencyReference{Name: "b"}),
		stackOf("other", "d", v1.DependencyReference{Name: "a", Namespace: "default"}), stackOf("default", "e", v1.DependencyReference{Name: "a"}),
	}
	for _, test := range []struct {
		name              string
		denied, forbidden bool
		namespaces        []string
	}{
		{"of all namespaces", false, false, []string{"", "", "", ""}},
		{"of one namespace where others do not count", true, false, []string{"default", "default", "default", "default"}},
		{"of one namespace where others may not be read", false, true, []string{"", "default", "default", "default", "default"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			g := NewWithT(t)
			reader := &pagedReader{stacks: stacks, forbidden: test.forbidden}
			o := &Observer{APIReader: reader, Options: Options{PartialCache: true, NoCrossNamespaceRefs: test.denied}}
			found, err := o.allDependents(t.Context(), key("a"))
			g.Expect(err).NotTo(HaveOccurred())
			want := []client.ObjectKey{key("b"), {Namespace: "other", Name: "d"}, key("e")}
			if test.denied {
				want = []client.ObjectKey{key("b"), key("e")}
			}
			g.Expect(found).To(Equal(want))
			var namespaces []string
			for _, asked := range reader.asked {
				g.Expect(asked.Limit).To(BeEquivalentTo(pageSize))
				namespaces = append(namespaces, asked.Namespace)
			}
			g.Expect(namespaces).To(Equal(test.namespaces))
		})
	}
}
