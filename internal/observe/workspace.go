// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"encoding/json"
	"fmt"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/inputs"
)

// validate checks the spec, except for a template that is supported here: that is checked
// with the run it is foo.
func (o *Observer) validate(stack *v1.Stack) error {
	if o.Jobs && stack.Spec.WorkspaceTemplate != nil {
		stack = stack.DeepCopy()
		stack.Spec.WorkspaceTemplate = nil
	}
	return inputs.Validate(stack)
}

// workspaceOf returns the template as it is in the spec, if it is supported here. An
// empty one counts as none, and starts no run when it is added or removed.
func (o *Observer) workspaceOf(stack *v1.Stack) json.RawMessage {
	if !o.Jobs || !inputs.HasJob(stack.Spec) {
		return nil
	}
	return stack.Spec.WorkspaceTemplate.Raw
}

// workspaceText returns the template with its keys sorted, for the digest of a run:
// another image or environment may give another result.
func (o *Observer) workspaceText(stack *v1.Stack) (string, error) {
	raw := o.workspaceOf(stack)
	if len(raw) == 0 {
		return "", nil
	}
	var value any
	if err := json.Unmarshal(raw, &value); err != nil {
		return "", &invalidSpecError{fmt.Errorf("spec.workspaceTemplate cannot be read: %w", err)}
	}
	text, err := json.Marshal(value)
	if err != nil {
		return "", fmt.Errorf("digest of spec.workspaceTemplate: %w", err)
	}
	return string(text), nil
}
