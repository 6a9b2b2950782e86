// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package stackstatus

import (
	"testing"

	. "github.com/onsi/gomega"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

func TestARefusedRecoveryLeavesNoPendingRun(t *testing.T) {
	g := NewWithT(t)
	stack := stackWithRun(v1.OperationRecover)
	DropRecord(stack)
	g.Expect(stack.Status.RunPending).To(BeFalse(), "or what was interrupted would be run again without the wait")
}
