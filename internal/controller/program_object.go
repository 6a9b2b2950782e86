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

// Programs are read as they are stored: a v1.Program would drop the keys that it
// does not know, which are what is to be told of, and could not be read at all where
// a key has another type.

// newProgramObject is an empty Program to read into, or to watch.
func newProgramObject() *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(v1.GroupVersion.WithKind(v1.ProgramKind))
	return object
}

// ProgramCheck finds out what is wrong with what a Program says, in JSON.
type ProgramCheck func(raw []byte) programs.Checked

// of checks a Program.
func (c ProgramCheck) of(object *unstructured.Unstructured) (programs.Checked, error) {
	raw, err := programJSON(object)
	if err != nil {
		return programs.Checked{}, err
	}
	return c(raw), nil
}

func programJSON(object *unstructured.Unstructured) ([]byte, error) {
	// One that was stored before it had to have a program has null here.
	raw, err := json.Marshal(object.Object["program"])
	if err != nil {
		return nil, fmt.Errorf("failed to read what Program %s/%s says: %w", object.GetNamespace(), object.GetName(), err)
	}
	return raw, nil
}

// programChecks tells what is found of a Program.
type programChecks interface {
	of(object *unstructured.Unstructured) (programs.Checked, error)
}

// maxChecks bounds the Programs whose checks are kept, each with its text.
const maxChecks = 32

// keptChecks keeps what was found of Programs, as many Stacks may run the same and each
// looks at it at every reconcile.
type keptChecks struct {
	check ProgramCheck
	kept  *lru.Cache
}

func keepChecks(check ProgramCheck) *keptChecks { return &keptChecks{check, lru.New(maxChecks)} }

// of checks a Program, or remembers it.
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

// withoutText is a Program without what it says, for its status.
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

// programRevision names what a Program says at a generation.
func programRevision(generation int64, digest string) string {
	return fmt.Sprintf("%d@%s", generation, digest)
}

// programObject reads a Program. Its project is the one in the name of the
// stack, and has the Program's own name where that tells none.
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
		Program:       run.Program{YAML: checked.Text, Config: checked.ProjectConfig, Packages: checked.Packages},
		Revision:      programRevision(object.GetGeneration(), checked.Digest),
		Digest:        checked.Digest,
		Project:       run.Project{Name: project, Runtime: "yaml"},
		ResourceNames: checked.ResourceNames,
		Declared:      checked.Declared,
		MadeAt:        object.GetCreationTimestamp().Time,
	}
	if faults := checked.Invalid.With(checked.Reaches); !faults.None() {
		return found, &programInvalidError{namespace, name, faults}
	}
	return found, nil
}

// programInvalidError is a Program that cannot be run. The Stack is woken by its
// next edit.
type programInvalidError struct {
	namespace, name string
	faults          programs.Faults
}

func (e *programInvalidError) Error() string {
	return fmt.Sprintf("Program %s/%s is not valid: %s", e.namespace, e.name, e.faults)
}
