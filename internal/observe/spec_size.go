// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"encoding/json"
	"fmt"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

// maxSpec bounds the spec of a Stack, in bytes of JSON. etcd takes objects of 1.5 MiB,
// and the status needs room next to the spec: a run whose end cannot be written would
// block its Stack forever.
const maxSpec = 1 << 20

// checkSize refuses a spec that leaves no room for the status.
func checkSize(stack *v1.Stack) error {
	text, err := json.Marshal(stack.Spec)
	if err != nil {
		return fmt.Errorf("the spec cannot be written as JSON: %w", err)
	}
	if len(text) > maxSpec {
		return fmt.Errorf("spec has %d bytes, the limit is %d: move large values of spec.config into the program", len(text), maxSpec)
	}
	return nil
}
