// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// StepsKey of the data in a ConfigMap: Steps in JSON, compressed by gzip.
const StepsKey = "steps.json.gz"

// Steps are what an update would do.
type Steps struct {
	Steps []run.Step `json:"steps"`
	// LeftOut is how many more there are.
	LeftOut int `json:"leftOut,omitempty"`
}

// EncodeSteps makes data of steps: without the last of them, where they are too big.
func EncodeSteps(steps Steps) ([]byte, error) { return encodeSteps(steps, MaxData) }

func encodeSteps(steps Steps, limit int) ([]byte, error) {
	for {
		var packed bytes.Buffer
		writer := gzip.NewWriter(&packed)
		if err := errors.Join(json.NewEncoder(writer).Encode(steps), writer.Close()); err != nil {
			return nil, fmt.Errorf("packing the steps: %w", err)
		}
		if packed.Len() <= limit {
			return packed.Bytes(), nil
		}
		if len(steps.Steps) == 0 {
			return nil, errors.New("the steps cannot be made small enough")
		}
		keep := len(steps.Steps) * limit / packed.Len() * 19 / 20
		steps.LeftOut += len(steps.Steps) - keep
		steps.Steps = steps.Steps[:keep]
	}
}

// DecodeSteps reads the data of a ConfigMap.
func DecodeSteps(data []byte) (Steps, error) {
	var steps Steps
	text, err := unpack(data)
	if err != nil {
		return steps, err
	}
	if err := json.Unmarshal(text, &steps); err != nil {
		return steps, fmt.Errorf("reading the steps: %w", err)
	}
	return steps, nil
}
