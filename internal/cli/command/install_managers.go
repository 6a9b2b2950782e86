// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// maxManagers and maxFields limit what a message names.
const maxManagers, maxFields = 3, 1

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
	return `. It belongs to something else than pulumi-controller: read "Migrating from the Pulumi operator" (docs/migration.md) first`
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
		return "another manager"
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
