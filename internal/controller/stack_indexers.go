// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/gitsource"
	"github.com/flux-pulumi/pulumi-controller/internal/inputs"
	"github.com/flux-pulumi/pulumi-controller/internal/observe"
	"github.com/flux-pulumi/pulumi-controller/internal/watches"
)

// The indexes find the Stacks that refer to an object.
const (
	sourceIndex    = ".metadata.source"
	programIndex   = ".metadata.program"
	secretIndex    = ".metadata.secret"
	configMapIndex = ".metadata.configMap"
	previewedIndex = ".metadata.previewed"
)

func stackIndexes() map[string]client.IndexerFunc {
	return map[string]client.IndexerFunc{
		sourceIndex:             indexStacks(sourceKeys),
		programIndex:            indexStacks(programKeys),
		secretIndex:             indexStacks(secretKeys),
		configMapIndex:          indexStacks(keysOf(inputs.ConfigMapRefs)),
		previewedIndex:          indexStacks(previewedKeys),
		identityIndex:           indexStacks(identityKeys),
		observe.DependencyIndex: indexStacks(dependencyKeys),
	}
}

func indexStacks(keys func(*v1.Stack) []string) client.IndexerFunc {
	return func(object client.Object) []string {
		stack, ok := object.(*v1.Stack)
		if !ok {
			return nil
		}
		return keys(stack)
	}
}

func sourceKeys(stack *v1.Stack) []string {
	if stack.Spec.ProjectRepo != "" {
		return []string{sourceKey(sourcev1.GitRepositoryKind, stack.Namespace, gitsource.Name(stack.Name))}
	}
	if stack.Spec.FluxSource == nil {
		return nil
	}
	ref := stack.Spec.FluxSource.SourceRef
	namespace := ref.Namespace
	if namespace == "" {
		namespace = stack.Namespace
	}
	return []string{sourceKey(ref.Kind, namespace, ref.Name)}
}

func sourceKey(kind, namespace, name string) string {
	return fmt.Sprintf("%s/%s/%s", kind, namespace, name)
}

func programKeys(stack *v1.Stack) []string {
	if stack.Spec.ProgramRef == nil {
		return nil
	}
	return []string{types.NamespacedName{Namespace: stack.Namespace, Name: stack.Spec.ProgramRef.Name}.String()}
}

func previewedKeys(stack *v1.Stack) []string {
	if stack.Spec.PreviewOf == nil {
		return nil
	}
	return []string{observe.PreviewedStack(stack).String()}
}

// keysOf returns the keys of the objects that a Stack refers to.
func keysOf(refsOf func(*v1.Stack) []types.NamespacedName) func(*v1.Stack) []string {
	return func(stack *v1.Stack) []string {
		refs := refsOf(stack)
		keys := make([]string, 0, len(refs))
		for _, ref := range refs {
			keys = append(keys, ref.String())
		}
		return keys
	}
}

// secretRefs returns the Secrets that a Stack refers to.
func secretRefs(stack *v1.Stack) []types.NamespacedName {
	return append(inputs.SecretRefs(stack), gitsource.SecretRefs(stack)...)
}

// secretKeys also indexes the Stack by the Secret it writes, so that a change of that
// triggers a reconcile.
func secretKeys(stack *v1.Stack) []string {
	keys := keysOf(secretRefs)(stack)
	if to := stack.Spec.WriteOutputsToSecret; to != nil {
		keys = append(keys, stack.Namespace+"/"+to.Name)
	}
	return keys
}

// objectKey returns the key of an object in the index of its kind.
func objectKey(object client.Object) string {
	return client.ObjectKeyFromObject(object).String()
}

// stacksThatUse maps an object to the Stacks that refer to it.
func (r *StackReconciler) stacksThatUse(index string, key func(client.Object) string) handler.MapFunc {
	return func(ctx context.Context, object client.Object) []ctrl.Request {
		var stacks v1.StackList
		if err := r.List(ctx, &stacks, client.MatchingFields{index: key(object)}); err != nil {
			ctrl.LoggerFrom(ctx).Error(err, "failed to list the Stacks that refer to an object", "index", index, "key", key(object))
			return nil
		}
		requests := make([]ctrl.Request, 0, len(stacks.Items))
		for i := range stacks.Items {
			requests = append(requests, ctrl.Request{NamespacedName: client.ObjectKeyFromObject(&stacks.Items[i])})
		}
		return requests
	}
}

// stacksFrom maps a source of the kind to the Stacks whose program, or a pack that guards them, is
// in it.
func (r *StackReconciler) stacksFrom(kind string) handler.MapFunc {
	key := func(o client.Object) string { return sourceKey(kind, o.GetNamespace(), o.GetName()) }
	return eachOf(r.stacksThatUse(sourceIndex, key), r.stacksOfSetsThatUse(watches.UsesSource(kind)))
}
