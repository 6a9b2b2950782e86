// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"errors"
	"fmt"

	"github.com/flux-pulumi/pulumi-controller/internal/bounded"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// StepsKey of the data in a ConfigMap: Steps in gzipped JSON.
const StepsKey = "steps.json.gz"

// Steps is what an update would do.
type Steps struct {
	Steps []run.Step `json:"steps"`
	// LeftOut is the number of steps left out.
	LeftOut int `json:"leftOut,omitempty"`
}

// EncodeSteps returns the data for steps, without the last ones if they are too big.
func EncodeSteps(steps Steps) ([]byte, error) { return encodeSteps(steps, MaxData) }

func encodeSteps(steps Steps, limit int) ([]byte, error) {
	for {
		data, size, err := bounded.Pack(steps)
		if err != nil {
			return nil, fmt.Errorf("packing the steps: %w", err)
		}
		if isReadable(size, limit) {
			return data, nil
		}
		if len(steps.Steps) == 0 {
			return nil, errors.New("the steps cannot be made small enough")
		}
		keep := keepOf(len(steps.Steps), size, limit)
		steps.LeftOut += len(steps.Steps) - keep
		steps.Steps = steps.Steps[:keep]
	}
}

// DecodeSteps reads the data of a ConfigMap.
func DecodeSteps(data []byte) (Steps, error) {
	var steps Steps
	if err := bounded.Unpack(data, most(), &steps); err != nil {
		return Steps{}, fmt.Errorf("reading the steps in the ConfigMap: %w", err)
	}
	return steps, nil
}
