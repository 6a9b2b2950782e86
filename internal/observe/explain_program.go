// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"fmt"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	programs "github.com/flux-pulumi/pulumi-controller/internal/program"
)

// reportedChecks reads from the status of a Program what the controller found: the read-only
// side does not include the parser of Pulumi YAML.
type reportedChecks struct {
	// unknown lists the Programs that have no result yet.
	unknown []string
}

// Of returns the text of the Program, which is part of the digest of a run, with the
// faults from its status.
func (c *reportedChecks) Of(object *unstructured.Unstructured) (programs.Checked, error) {
	raw, err := ProgramJSON(object)
	if err != nil {
		return programs.Checked{}, err
	}
	reported, err := WithoutText(object)
	if err != nil {
		return programs.Checked{}, err
	}
	checked, _, err := programs.Read(raw)
	if err != nil {
		checked.Invalid = oneFault(err.Error())
	}
	ready := conditions.Get(reported, meta.ReadyCondition)
	switch {
	case ready == nil || reported.Status.ObservedGeneration != reported.Generation:
		c.unknown = append(c.unknown, fmt.Sprintf("whether Program %s/%s is valid: its status does not say so yet for generation %d",
			reported.Namespace, reported.Name, reported.Generation))
	case ready.Status == metav1.ConditionFalse && ready.Reason == v1.ProgramInvalidReason:
		checked.Invalid = oneFault(ready.Message)
	}
	return checked, nil
}

func oneFault(text string) programs.Faults {
	return programs.Faults{First: []programs.Fault{{Message: text}}}
}
