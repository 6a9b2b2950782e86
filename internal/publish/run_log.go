// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package publish

import (
	"context"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/runlog"
)

// Log writes the log of a run, and returns its status.
func (p Publisher) Log(ctx context.Context, stack *v1.Stack, runID string, log *run.Log) (*v1.RunLogStatus, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	data, err := runlog.Encode(log)
	if err != nil {
		return nil, err
	}
	name, digest, err := p.putConfigMap(ctx, stack, "-log", runlog.Key, data)
	if err != nil {
		return nil, err
	}
	return &v1.RunLogStatus{Run: runID, ConfigMap: name, Digest: digest}, nil
}
