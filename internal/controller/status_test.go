// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"encoding/json"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/stackstatus"
)

const (
	gitRevision = "main@sha1:67e2c98a60dc92283531412a9e604dd4bae005a9"
	ociRevision = "latest@sha256:2d2b8d1ecb5a4e6d6f6b3f0d8f8b9c4f5a6e7d8c9b0a1f2e3d4c5b6a79808172"
	gitCommit40 = "67e2c98a60dc92283531412a9e604dd4bae005a9"
)

var started = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func stackWithRun(operation v1.Operation) *v1.Stack {
	stack := &v1.Stack{ObjectMeta: metav1.ObjectMeta{Name: "app", Namespace: "default", Generation: 3}}
	stack.Status.ObservedGeneration = 2
	stackstatus.RecordRun(stack, v1.RunStatus{
		ID:         "run-1",
		Operation:  operation,
		Generation: 3,
		Revision:   gitRevision,
		Digest:     "sha256:inputs",
		StartedAt:  metav1.Time{Time: started},
		Holder:     v1.RunHolder{Host: "pod-1", Instance: "a"},
	})
	return stack
}

func result(outcome run.Outcome, message string) *run.Result {
	return &run.Result{
		Outcome:   outcome,
		Message:   message,
		Outputs:   map[string]json.RawMessage{"url": json.RawMessage(`"http://example.com"`)},
		Changes:   run.Changes{Created: 2, Same: 1},
		Project:   run.Project{Name: "app", Runtime: "yaml"},
		StartedAt: started,
		EndedAt:   started.Add(14 * time.Second),
	}
}
