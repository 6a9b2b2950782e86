// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
)

// maxState bounds the state that a recovery looks into, in bytes.
const maxState = 512 << 20

// pendingCreates reads the creations in flight from an exported state.
func pendingCreates(path string) ([]string, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errors.New("the state of the stack was not exported")
	}
	if err != nil {
		return nil, fmt.Errorf("reading the state of the stack: %w", err)
	}
	if info.Size() > maxState {
		return nil, fmt.Errorf("the state of the stack is bigger than %d bytes", maxState)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the state of the stack: %w", err)
	}
	return parsePendingCreates(text)
}

// parsePendingCreates reads only what is asked for: the properties of resources
// are left as they are.
func parsePendingCreates(text []byte) ([]string, error) {
	var state struct {
		Deployment struct {
			Pending []struct {
				Type     apitype.OperationType `json:"type"`
				Resource struct {
					URN string `json:"urn"`
				} `json:"resource"`
			} `json:"pending_operations"`
		} `json:"deployment"`
	}
	if err := json.Unmarshal(text, &state); err != nil {
		return nil, fmt.Errorf("reading the state of the stack: %w", err)
	}
	var creates []string
	for _, operation := range state.Deployment.Pending {
		if operation.Type == apitype.OperationTypeCreating {
			creates = append(creates, operation.Resource.URN)
		}
	}
	return creates, nil
}
