// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package stackstatus

import (
	"testing"

	. "github.com/onsi/gomega"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

func TestWhyDriftIsNotUndone(t *testing.T) {
	g := NewWithT(t)
	stack := &v1.Stack{}
	for _, step := range []func(*v1.Stack){
		ended(update, run.Succeeded), watch(v1.DriftPropose), ended(check, run.Succeeded), ended(ofDrift, run.Failed),
	} {
		step(stack)
	}
	found := stack.Status.Drift.Digest
	g.Expect(stack.Status.Drift).To(And(HaveField("Message", "Nothing could be proposed that undoes the drift: boom"), HaveField("AttemptedDigest", found)))
	ended(check, run.Succeeded)(stack)
	g.Expect(stack.Status.Drift.Message).To(Equal("Nothing could be proposed that undoes the drift: boom"), "it is the same drift")
	g.Expect(observeDrift(stack, started).Correction.Drift).To(BeEmpty())

	stack.Annotations = map[string]string{v1.CheckDriftAnnotation: "now"}
	startRun(stack, check, "asked", "sha256:inputs")
	stack.Status.Run.CheckRequest = CheckRequest(stack)
	stack.Status.Drift.CheckPending = true
	AbsorbResult(stack, ofRun(run.Succeeded))
	g.Expect(stack.Status.Drift).To(And(HaveField("Message", ""), HaveField("AttemptedDigest", ""), HaveField("CheckPending", false)))
	g.Expect(observeDrift(stack, started).Correction.Drift).To(Equal(found), "it is tried again on request")
}
