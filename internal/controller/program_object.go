// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/lru"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	programs "github.com/flux-pulumi/pulumi-controller/internal/program"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// Programs are read as stored: decoding into a v1.Program would drop unknown keys, which
// have to be reported, and would fail on a key of the wrong type.

// newProgramObject returns an empty Program to read into, or to watch.
func newProgramObject() *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(v1.GroupVersion.WithKind(v1.ProgramKind))
	return object
}

// ProgramCheck validates the JSON text of a Program.
type ProgramCheck func(raw []byte) programs.Checked

// of validates a Program.
func (c ProgramCheck) of(object *unstructured.Unstructured) (programs.Checked, error) {
	raw, err := programJSON(object)
	if err != nil {
		return programs.Checked{}, err
	}
	return c(raw), nil
}

func programJSON(object *unstructured.Unstructured) ([]byte, error) {
	// One stored before the field was required has null here.
	raw, err := json.Marshal(object.Object["program"])
	if err != nil {
		return nil, fmt.Errorf("failed to read what Program %s/%s says: %w", object.GetNamespace(), object.GetName(), err)
	}
	return raw, nil
}

// programChecks returns what is found in a Program.
type programChecks interface {
	of(object *unstructured.Unstructured) (programs.Checked, error)
}

// maxChecks bounds the cached Programs, each with its text.
const maxChecks = 32

// keptChecks caches what was found in Programs, since many Stacks may run the same one
// and each checks it at every reconcile.
type keptChecks struct {
	check ProgramCheck
	kept  *lru.Cache
}

func keepChecks(check ProgramCheck) *keptChecks { return &keptChecks{check, lru.New(maxChecks)} }

// of validates a Program, or returns the cached result.
func (c *keptChecks) of(object *unstructured.Unstructured) (programs.Checked, error) {
	key := fmt.Sprintf("%s/%s/%s/%s", object.GetNamespace(), object.GetName(), object.GetUID(), object.GetResourceVersion())
	if kept, ok := c.kept.Get(key); ok {
		return kept.(programs.Checked), nil
	}
	checked, err := c.check.of(object)
	if err == nil {
		c.kept.Add(key, checked)
	}
	return checked, err
}

// withoutText returns a Program without its text, to write its status.
func withoutText(object *unstructured.Unstructured) (*v1.Program, error) {
	part := map[string]any{}
	for _, field := range []string{"apiVersion", "kind", "metadata", "status"} {
		if value, ok := object.Object[field]; ok {
			part[field] = value
		}
	}
	program := &v1.Program{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(part, program); err != nil {
		return nil, fmt.Errorf("failed to read the status of Program %s/%s: %w", object.GetNamespace(), object.GetName(), err)
	}
	return program, nil
}

// programRevision is the revision of a Program at a generation.
func programRevision(generation int64, digest string) string {
	return fmt.Sprintf("%d@%s", generation, digest)
}

// programObject reads a Program. Its project is the one in the name of the stack, or else
// the name of the Program.
func (r *StackReconciler) programObject(ctx context.Context, namespace, name, project string) (program, error) {
	object := newProgramObject()
	if err := r.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, object); err != nil {
		if apierrors.IsNotFound(err) {
			return program{}, &programMissingError{namespace, name}
		}
		return program{}, fmt.Errorf("failed to read Program %s/%s: %w", namespace, name, err)
	}
	checked, err := r.checks.of(object)
	if err != nil {
		return program{}, err
	}
	if project == "" {
		project = name
	}
	found := program{
		Program:       run.Program{YAML: checked.Text, Config: checked.ConfigIn(project), Packages: checked.Packages},
		Revision:      programRevision(object.GetGeneration(), checked.Digest),
		Digest:        checked.Digest,
		Project:       run.Project{Name: project, Runtime: "yaml"},
		ResourceNames: checked.ResourceNames,
		Declared:      checked.Declared,
		MadeAt:        object.GetCreationTimestamp().Time,
	}
	if faults := checked.FaultsIn(project); !faults.None() {
		return found, &programInvalidError{namespace, name, faults}
	}
	return found, nil
}

// programInvalidError is a Program that cannot run. Its next edit triggers a reconcile of
// the Stack.
type programInvalidError struct {
	namespace, name string
	faults          programs.Faults
}

func (e *programInvalidError) Error() string {
	return fmt.Sprintf("Program %s/%s is not valid: %s", e.namespace, e.name, e.faults)
}
