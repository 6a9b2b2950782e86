// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// obstacle says why an object is not applied.
type obstacle struct {
	text string
	// forcible is true if --force helps.
	forcible bool
}

// applyOptions returns how an object is applied. Without force, the API server refuses to
// change what someone else has set.
func applyOptions(force bool) []client.ApplyOption {
	options := []client.ApplyOption{fieldOwner}
	if force {
		options = append(options, client.ForceOwnership)
	}
	return options
}

// tryAll finds out whether all objects can be applied before any is: an installation of
// which a part is replaced is worse than either. It changes nothing.
func (s *session) tryAll(ctx context.Context, api client.Client, objects []*unstructured.Unstructured, force bool) error {
	found, forcible := false, true
	for _, object := range objects {
		hindered, err := try(ctx, api, object, force)
		if err != nil {
			return fmt.Errorf("nothing was applied: %w", err)
		}
		if hindered == nil {
			continue
		}
		s.Failuref("%s: %s", nameOf(object), hindered.text)
		found, forcible = true, forcible && hindered.forcible
	}
	switch {
	case !found:
		return nil
	case forcible:
		return errors.New("nothing was applied, because pulumi-controller was installed or changed in another way: upgrade it that " +
			"way, or overwrite what was set there with --force")
	default:
		return errors.New("nothing was applied, because the API server rejects it: if pulumi-controller was installed or changed in another " +
			"way, upgrade it that way")
	}
}

// try applies an object in a dry run.
func try(ctx context.Context, api client.Client, object *unstructured.Unstructured, force bool) (*obstacle, error) {
	before, err := target{object.GroupVersionKind(), client.ObjectKeyFromObject(object)}.get(ctx, api)
	if client.IgnoreNotFound(err) != nil {
		return nil, err
	}
	after := object.DeepCopy()
	err = api.Apply(ctx, client.ApplyConfigurationFromUnstructured(after), append(applyOptions(force), client.DryRunAll)...)
	switch held := conflicts(err); {
	case err == nil && !force && before != nil && isApplied(before):
		return moved(before, after), nil
	case err == nil && !force && before != nil:
		return additions(before, after), nil
	case err == nil:
		return nil, nil
	case len(held) > 0:
		return &obstacle{describe(held) + originOf(before), true}, nil
	case apierrors.IsInvalid(err):
		return &obstacle{text: refusal(before, err)}, nil
	case isMissingReference(err):
		return nil, nil
	default:
		return nil, fmt.Errorf("applying %s: %w", nameOf(object), err)
	}
}

// isMissingReference reports whether an object is refused because of another that was not
// applied in a dry run, such as the role of a binding. The namespace is not among what is
// applied.
func isMissingReference(err error) bool {
	var status apierrors.APIStatus
	if !apierrors.IsNotFound(err) || !errors.As(err, &status) {
		return false
	}
	details := status.Status().Details
	return details != nil && details.Kind != "namespaces"
}

// isApplied reports whether this program has applied an object before.
func isApplied(object *unstructured.Unstructured) bool {
	return slices.ContainsFunc(object.GetManagedFields(), isOwn)
}

// isOwn reports whether an entry tells of what this program has applied.
func isOwn(entry metav1.ManagedFieldsEntry) bool {
	return entry.Manager == string(fieldOwner) && entry.Operation == metav1.ManagedFieldsOperationApply
}

// additions returns the fields that another way of installing has left out on purpose, such
// as the labels of a role that is not to be aggregated: nobody has set them, so they are no
// conflict.
func additions(before, after *unstructured.Unstructured) *obstacle {
	fields := differences("", content(before), content(after))
	if len(fields) == 0 {
		return nil
	}
	return &obstacle{managersOf(before) + " has set it without " + list(fields, maxFields, "field"), true}
}

// moved returns that a ClusterRoleBinding, of which there is one in a cluster, is of an
// installation in another namespace, whose controller would lose its rights.
func moved(before, after *unstructured.Unstructured) *obstacle {
	is, wanted := subjectNamespaces(before), subjectNamespaces(after)
	if slices.Equal(is, wanted) {
		return nil
	}
	return &obstacle{fmt.Sprintf("the controller is installed in the namespace %s and would lose its permissions there: use --namespace=%[1]s, or uninstall it there first",
		strings.Join(is, ", ")), true}
}

// subjectNamespaces returns the namespaces of those that a ClusterRoleBinding binds, and
// nothing for any other object.
func subjectNamespaces(object *unstructured.Unstructured) []string {
	if object.GetKind() != "ClusterRoleBinding" {
		return nil
	}
	var binding rbacv1.ClusterRoleBinding
	if runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &binding) != nil {
		return nil
	}
	var namespaces []string
	for _, subject := range binding.Subjects {
		namespaces = append(namespaces, subject.Namespace)
	}
	slices.Sort(namespaces)
	return slices.Compact(namespaces)
}

// content is what people set of an object.
func content(object *unstructured.Unstructured) map[string]any {
	object = object.DeepCopy()
	object.SetManagedFields(nil)
	object.SetResourceVersion("")
	object.SetGeneration(0)
	delete(object.Object, "status")
	return object.Object
}

func differences(path string, before, after any) []string {
	a, isMap := before.(map[string]any)
	b, both := after.(map[string]any)
	if !isMap || !both {
		if reflect.DeepEqual(before, after) {
			return nil
		}
		return []string{path}
	}
	keys := maps.Clone(a)
	maps.Copy(keys, b)
	var fields []string
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		fields = append(fields, differences(path+"."+key, a[key], b[key])...)
	}
	return fields
}
