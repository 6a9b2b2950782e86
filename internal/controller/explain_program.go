// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	programs "github.com/flux-pulumi/pulumi-controller/internal/program"
)

// toldChecks reads in the status of a Program what the controller has found of it: the
// parser of Pulumi YAML, which finds it, is no part of what only looks.
type toldChecks struct {
	// unknown says of which Programs nothing was found yet.
	unknown []string
}

// of makes the text of the Program, as the digest of a run is of it, and takes its
// faults from the status.
func (c *toldChecks) of(object *unstructured.Unstructured) (programs.Checked, error) {
	raw, err := programJSON(object)
	if err != nil {
		return programs.Checked{}, err
	}
	told, err := withoutText(object)
	if err != nil {
		return programs.Checked{}, err
	}
	checked, _, err := programs.Read(raw)
	if err != nil {
		checked.Invalid = oneFault(err.Error())
	}
	ready := conditions.Get(told, meta.ReadyCondition)
	switch {
	case ready == nil || told.Status.ObservedGeneration != told.Generation:
		c.unknown = append(c.unknown, fmt.Sprintf("whether Program %s/%s is valid: the controller has yet to say so in its status, for generation %d",
			told.Namespace, told.Name, told.Generation))
	case ready.Status == metav1.ConditionFalse && ready.Reason == v1.ProgramInvalidReason:
		checked.Invalid = oneFault(ready.Message)
	}
	return checked, nil
}

func oneFault(text string) programs.Faults {
	return programs.Faults{First: []programs.Fault{{Message: text}}}
}
