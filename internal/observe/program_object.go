// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package observe

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

// NewProgramObject returns an empty Program to read into, or to watch.
func NewProgramObject() *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(v1.GroupVersion.WithKind(v1.ProgramKind))
	return object
}

// ProgramCheck validates the JSON text of a Program.
type ProgramCheck func(raw []byte) programs.Checked

// Of validates a Program.
func (c ProgramCheck) Of(object *unstructured.Unstructured) (programs.Checked, error) {
	raw, err := ProgramJSON(object)
	if err != nil {
		return programs.Checked{}, err
	}
	return c(raw), nil
}

// ProgramJSON returns the program of an object as it is stored, with the keys that the API type does not have.
func ProgramJSON(object *unstructured.Unstructured) ([]byte, error) {
	// One stored before the field was required has null here.
	raw, err := json.Marshal(object.Object["program"])
	if err != nil {
		return nil, fmt.Errorf("failed to decode Program %s/%s: %w", object.GetNamespace(), object.GetName(), err)
	}
	return raw, nil
}

// ProgramChecks returns what is found in a Program.
type ProgramChecks interface {
	Of(object *unstructured.Unstructured) (programs.Checked, error)
}

// maxChecks bounds the cached Programs, each with its text.
const maxChecks = 32

// keptChecks caches what was found in Programs, since many Stacks may run the same one
// and each checks it at every reconcile.
type keptChecks struct {
	check ProgramCheck
	kept  *lru.Cache
}

func KeepChecks(check ProgramCheck) *keptChecks { return &keptChecks{check, lru.New(maxChecks)} }

// Of validates a Program, or returns the cached result.
func (c *keptChecks) Of(object *unstructured.Unstructured) (programs.Checked, error) {
	key := fmt.Sprintf("%s/%s/%s/%s", object.GetNamespace(), object.GetName(), object.GetUID(), object.GetResourceVersion())
	if kept, ok := c.kept.Get(key); ok {
		return kept.(programs.Checked), nil
	}
	checked, err := c.check.Of(object)
	if err == nil {
		c.kept.Add(key, checked)
	}
	return checked, err
}

// WithoutText returns a Program without its text, to write its status.
func WithoutText(object *unstructured.Unstructured) (*v1.Program, error) {
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

// ProgramRevision is the revision of a Program at a generation.
func ProgramRevision(generation int64, digest string) string {
	return fmt.Sprintf("%d@%s", generation, digest)
}

// programObject reads a Program. Its project is the one in the name of the stack, or else
// the name of the Program.
func (o *Observer) programObject(ctx context.Context, namespace, name, project string) (Program, error) {
	object := NewProgramObject()
	if err := o.Cached.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, object); err != nil {
		if apierrors.IsNotFound(err) {
			return Program{}, &programMissingError{namespace, name}
		}
		return Program{}, fmt.Errorf("failed to read Program %s/%s: %w", namespace, name, err)
	}
	checked, err := o.Programs.Of(object)
	if err != nil {
		return Program{}, err
	}
	if project == "" {
		project = name
	}
	found := Program{
		Program:       run.Program{YAML: checked.Text, Config: checked.ConfigIn(project), Packages: checked.Packages},
		Revision:      ProgramRevision(object.GetGeneration(), checked.Digest),
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
