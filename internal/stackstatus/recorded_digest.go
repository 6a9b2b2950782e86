// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package stackstatus

import (
	"strings"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// recordedDigest returns the digest of the inputs of a run as the status has it. An earlier
// version of this controller takes an operation that it does not know for an update: after a
// rollback, it would take what was only proposed for applied. With the operation before it,
// the digest is to that version the one of other inputs, so that it runs these.
func recordedDigest(operation v1.Operation, digest string) string {
	if digest == "" || run.KindOf(operation).InAllVersions {
		return digest
	}
	return string(operation) + ":" + digest
}

// inputsDigest is the inverse of recordedDigest. What an earlier version has recorded as an
// update with such a digest stays the digest of other inputs.
func inputsDigest(operation v1.Operation, recorded string) string {
	return strings.TrimPrefix(recorded, string(operation)+":")
}

// inputsOf returns the digest of the inputs of a recorded run.
func inputsOf(record *v1.RunStatus) string { return inputsDigest(record.Operation, record.Digest) }

// attemptedInputs returns the digest of the inputs that were last attempted. The last run may
// be a later one, which is none of inputs.
func attemptedInputs(stack *v1.Stack) string {
	recorded := stack.Status.LastAttemptedDigest
	if last := LastRun(stack); last != nil && run.KindOf(last.Operation).RunsInputs {
		return inputsDigest(last.Operation, recorded)
	}
	for _, kind := range run.Kinds() {
		recorded = inputsDigest(kind.Operation, recorded)
	}
	return recorded
}
