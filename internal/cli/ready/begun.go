// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package ready

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Begun is the ID of the run of a Stack in flight that does what a reconcile request
// would: it has begun since before was seen, with the revision and with the spec as it is
// now. It is empty where there is none. No clocks are compared: those of the controller
// and of whoever asks may differ.
func Begun(before, object *unstructured.Unstructured, revision string) string {
	run, _, _ := unstructured.NestedMap(object.Object, "status", "run")
	id, _ := run["id"].(string)
	operation, _ := run["operation"].(string)
	generation, _ := run["generation"].(int64)
	preview, _ := run["previewRequest"].(string)
	switch {
	case revision == "" || run["revision"] != revision || generation != object.GetGeneration():
		return ""
	case operation != "update" && operation != "preview" || preview != "": // it tells of the Stack, or is asked for by somebody
		return ""
	case id == runID(before):
		return ""
	}
	return id
}

// AfterRun tells whether the run is over, and what came of it. A failure is an error.
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
