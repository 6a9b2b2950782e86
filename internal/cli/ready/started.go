// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package ready

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Started returns the ID of a Stack's run in flight that does what a reconcile request
// would: it started after before was read, and runs the revision with the current spec.
// It is empty if there is none. It compares no clocks: those of the controller and of the
// caller may differ.
func Started(before, object *unstructured.Unstructured, revision string) string {
	run, _, _ := unstructured.NestedMap(object.Object, "status", "run")
	id, _ := run["id"].(string)
	operation, _ := run["operation"].(string)
	generation, _ := run["generation"].(int64)
	preview, _ := run["previewRequest"].(string)
	switch {
	case revision == "" || run["revision"] != revision || generation != object.GetGeneration():
		return ""
	case operation != "update" && operation != "preview" || preview != "": // a look at the stack, or a preview on request
		return ""
	case id == runID(before):
		return ""
	}
	return id
}

// AfterRun reports whether the run is over, and its failure as an error.
func AfterRun(object *unstructured.Unstructured, id string) (bool, error) {
	if runID(object) == id {
		return false, nil
	}
	over, err := settled(object)
	if !over && err == nil && isLeft(object) {
		err = ErrSuspended
	}
	return over, err
}

func runID(object *unstructured.Unstructured) string {
	id, _, _ := unstructured.NestedString(object.Object, "status", "run", "id")
	return id
}
