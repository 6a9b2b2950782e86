// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"errors"
	"fmt"

	"github.com/fluxcd/pkg/apis/meta"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/decide"
	"github.com/flux-pulumi/pulumi-controller/internal/grammar"
	"github.com/flux-pulumi/pulumi-controller/internal/inputs"
	"github.com/flux-pulumi/pulumi-controller/internal/localprogram"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// A preview on request may run a local program. That has the inputs and rights of the
// Stack, like any program of it: whoever may annotate the Stack may also edit it to run
// another source.

// localProgramError is a fault of a local program.
type localProgramError struct{ text string }

func (e *localProgramError) Error() string { return e.text }

func localProgramFault(format string, args ...any) error {
	return &localProgramError{fmt.Sprintf(format, args...)}
}

// WithLocalProgram observes the Stack again with the local program in place of its own,
// so that a Stack whose own program is missing or invalid can be previewed. Without a
// local program, it returns seen.
func (o *Observer) WithLocalProgram(ctx context.Context, stack *v1.Stack, seen *Observation) (*Observation, error) {
	value, ok := stack.Annotations[v1.PreviewProgramAnnotation]
	if !ok || previewHindered(seen) {
		return seen, nil
	}
	again := &Observation{Observation: seen.Observation, Account: inputs.ServiceAccount(stack, o.DefaultServiceAccount),
		Workspace: seen.Workspace, Forced: seen.Forced, Packs: seen.Packs, upkept: seen.upkept}
	again.Problem = nil
	err := o.observeLocal(ctx, stack, again, value)
	var fault *localProgramError
	switch again.Problem = problemOf(err); {
	case errors.As(err, &fault):
		again.Problem = &decide.Problem{Reason: meta.ArtifactFailedReason, Message: fault.text}
	case again.Problem == nil && err != nil:
		return nil, err
	}
	return again, nil
}

// previewHindered reports that there can be no preview, whatever the program.
func previewHindered(seen *Observation) bool { return seen.Deleting || seen.Suspended }

func (o *Observer) observeLocal(ctx context.Context, stack *v1.Stack, seen *Observation, annotation string) error {
	if o.RefuseLocalPrograms {
		return localProgramFault("this controller only previews the programs of Stacks (--allow-preview-programs=false): "+
			"remove the annotation %s", v1.PreviewProgramAnnotation)
	}
	ref, err := localprogram.ParseReference(annotation)
	if err != nil {
		return localProgramFault("annotation %s: %s", v1.PreviewProgramAnnotation, err)
	}
	key := localprogram.ArchiveKey
	if stack.Spec.ProgramRef != nil {
		key = localprogram.ProgramKey
	}
	data, err := o.readLocal(ctx, stack.Namespace, ref, key)
	if err != nil {
		return err
	}
	if seen.local, err = localProgram(o.CheckProgram, stack, ref, data); err != nil {
		return err
	}
	return o.observeInputs(ctx, stack, seen)
}

// readLocal reads the local program from the API server: ConfigMaps are not cached.
func (o *Observer) readLocal(ctx context.Context, namespace string, ref localprogram.Reference, key string) ([]byte, error) {
	configMap := &corev1.ConfigMap{}
	err := o.APIReader.Get(ctx, client.ObjectKey{Namespace: namespace, Name: ref.ConfigMap}, configMap)
	if apierrors.IsNotFound(err) || apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) {
		return nil, localProgramFault("ConfigMap %s/%s with the program to preview not found, because the command that created it has "+
			"ended: remove the annotation %s, or preview with --path again", namespace, ref.ConfigMap, v1.PreviewProgramAnnotation)
	}
	if err != nil {
		return nil, fmt.Errorf("failed to read ConfigMap %s/%s with the program to preview: %w", namespace, ref.ConfigMap, err)
	}
	data, err := ref.Read(configMap.Data, configMap.BinaryData, key)
	if err != nil {
		return nil, localProgramFault("ConfigMap %s/%s with the program to preview: %s", namespace, ref.ConfigMap, err)
	}
	return data, nil
}

// localProgram returns the local program, to run in place of that of the Stack.
func localProgram(check ProgramCheck, stack *v1.Stack, ref localprogram.Reference, data []byte) (*Program, error) {
	found := &Program{Revision: ref.Revision(), Digest: ref.Digest}
	if stack.Spec.ProgramRef == nil {
		found.Artifact = &run.Artifact{Digest: ref.Digest, Archive: data}
		return found, nil
	}
	found.Project = run.Project{Name: stack.Spec.ProgramRef.Name, Runtime: "yaml"}
	if name, err := grammar.ParseStackName(stack.Spec.Stack); err == nil && name.Project != "" {
		found.Project.Name = name.Project
	}
	checked := check(data)
	if faults := checked.FaultsIn(found.Project.Name); !faults.None() {
		return nil, localProgramFault("the program to preview is not valid: %s", faults)
	}
	found.Program = run.Program{YAML: checked.Text, Config: checked.ConfigIn(found.Project.Name), Packages: checked.Packages}
	found.ResourceNames, found.Declared = checked.ResourceNames, checked.Declared
	return found, nil
}

// programFor returns the program for a run of the Stack.
func (o *Observer) programFor(ctx context.Context, stack *v1.Stack, seen *Observation, name grammar.StackName) (Program, error) {
	if seen.local != nil {
		return *seen.local, nil
	}
	return o.findProgram(ctx, stack, seen, name)
}
