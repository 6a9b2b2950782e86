// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// maxManagers and maxFields limit what a message names.
const maxManagers, maxFields = 3, 1

// obstacle says why an object is not applied.
type obstacle struct {
	text string
	// forcible is true if --force helps.
	forcible bool
}

// applyOptions returns how an object is applied. Without force, the API server refuses to
// change what somebody else has set.
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
		obstacle, err := try(ctx, api, object, force)
		if err != nil {
			return fmt.Errorf("nothing was applied: %w", err)
		}
		if obstacle == nil {
			continue
		}
		s.Failuref("%s: %s", nameOf(object), obstacle.text)
		found, forcible = true, forcible && obstacle.forcible
	}
	switch {
	case !found:
		return nil
	case forcible:
		return errors.New("nothing was applied, as pulumi-controller was installed or changed in another way: upgrade it that way, " +
			"or replace with --force what was set there")
	default:
		return errors.New("nothing was applied, as the API server refuses it: if pulumi-controller was installed or changed in another way, " +
			"upgrade it that way")
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
	case err == nil && !force && before != nil && !isApplied(before):
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

// quotedManager finds the manager in the message of a conflict.
var quotedManager = regexp.MustCompile(`^conflict with ("(?:[^"\\]|\\.)*")`)

// conflicts returns the fields that an apply would take from each manager.
func conflicts(err error) map[string][]string {
	var status apierrors.APIStatus
	if !apierrors.IsConflict(err) || !errors.As(err, &status) || status.Status().Details == nil {
		return nil
	}
	held := map[string][]string{}
	for _, cause := range status.Status().Details.Causes {
		if cause.Type != metav1.CauseTypeFieldManagerConflict {
			continue
		}
		manager := "another manager"
		if match := quotedManager.FindStringSubmatch(cause.Message); match != nil {
			if name, err := strconv.Unquote(match[1]); err == nil && name != "" {
				manager = name
			}
		}
		if !slices.Contains(held[manager], cause.Field) {
			held[manager] = append(held[manager], cause.Field)
		}
	}
	return held
}

func describe(held map[string][]string) string {
	var texts []string
	for _, manager := range slices.Sorted(maps.Keys(held)) {
		texts = append(texts, manager+" has set "+list(held[manager], maxFields, "field"))
	}
	return list(texts, maxManagers, "manager")
}

// originOf warns of a CRD of the Pulumi operator, which has the same name.
func originOf(object *unstructured.Unstructured) string {
	if object == nil || object.GetKind() != "CustomResourceDefinition" || object.GetLabels()[componentLabel] == controllerName {
		return ""
	}
	return `. It is not of pulumi-controller: read "Migrating from the Pulumi operator" (docs/migration.md) first`
}

// refusal says what the API server refuses, and who has set the rest of the object.
func refusal(before *unstructured.Unstructured, err error) string {
	if before == nil || len(before.GetManagedFields()) == 0 {
		return err.Error()
	}
	return "also set by " + managersOf(before) + ": " + err.Error()
}

// managersOf names who else has set an object.
func managersOf(object *unstructured.Unstructured) string {
	var names []string
	for _, entry := range object.GetManagedFields() {
		if entry.Subresource == "" && !isOwn(entry) && !slices.Contains(names, entry.Manager) {
			names = append(names, entry.Manager)
		}
	}
	if len(names) == 0 {
		return "somebody"
	}
	slices.Sort(names)
	return list(names, maxManagers, "manager")
}

// list joins texts and counts those beyond the limit.
func list(texts []string, limit int, noun string) string {
	more := len(texts) - limit
	switch {
	case more > 1:
		return fmt.Sprintf("%s and %d more %ss", strings.Join(texts[:limit], ", "), more, noun)
	case more == 1:
		return fmt.Sprintf("%s and 1 more %s", strings.Join(texts[:limit], ", "), noun)
	default:
		return strings.Join(texts, ", ")
	}
}
