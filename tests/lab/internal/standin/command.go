// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package standin

import (
	"context"
	"fmt"
	"os/exec"

	"github.com/pulumi/pulumi/sdk/v3/go/property"
)

// command runs commands where the program runs.
func command() Package {
	return Package{
		Name: "command", Version: "1.0.1",
		Resources: map[string]Resource{
			"command:local:Command": {Inputs: map[string]Property{"create": required(text)}},
		},
		Open: func(property.Map) (Place, error) { return shell{}, nil },
	}
}

// shell runs a command when its resource is created, which then only exists in the state.
type shell struct{ nowhere }

func (s shell) Create(ctx context.Context, thing Thing) (string, error) {
	if text, err := exec.CommandContext(ctx, "/bin/sh", "-c", thing.text("create")).CombinedOutput(); err != nil {
		return "", fmt.Errorf("running the command: %w: %s", err, text)
	}
	return s.nowhere.Create(ctx, thing)
}
