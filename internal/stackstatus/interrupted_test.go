// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package stackstatus

import (
	"testing"

	. "github.com/onsi/gomega"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

func TestANewSpecResetsTheFailures(t *testing.T) {
	g := NewWithT(t)
	stack := stackWithRun(v1.OperationUpdate)
	stack.Status.LastAttemptedDigest = "sha256:inputs"
	stack.Status.LastUpdate = &v1.LastUpdate{Generation: 2}
	stack.Status.Failures = 7
	AbsorbResult(stack, result(run.Failed, "no such bucket"))
	g.Expect(stack.Status.Failures).To(BeEquivalentTo(1))

	stack = stackWithRun(v1.OperationRecover)
	stack.Status.LastUpdate = &v1.LastUpdate{Generation: 2}
	stack.Status.Failures = 7
	stack.Status.Interrupted = []v1.InterruptedRun{{ID: "run-0", Failures: 7}}
	AbsorbResult(stack, result(run.Succeeded, ""))
	g.Expect(stack.Status.Failures).To(BeZero(), "what is run next need not wait")
}
