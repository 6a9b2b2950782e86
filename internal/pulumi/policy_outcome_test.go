// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

func TestAProgramThatFailsIsNotTakenForAPolicyPack(t *testing.T) {
	const text = "failed to run policy: error reading from server: EOF"
	for name, test := range map[string]struct {
		errors []diagnostic
		want   run.Outcome
	}{
		"a pack has died":     {[]diagnostic{{text: "update failed"}, {text: "error: " + text, urn: "urn:pulumi:dev::demo::lab:index:Thing::a"}}, run.PolicyPackFailed},
		"a program prints it": {[]diagnostic{{text: "error: " + text, printed: true}}, run.Failed},
		"a program throws it": {[]diagnostic{{text: "Running program '/x' failed with an unhandled exception:\nError: " + text}}, run.Failed},
		"its own error":       {[]diagnostic{{text: "no such region"}, {text: text}}, run.Failed},
	} {
		t.Run(name, func(t *testing.T) {
			outcome, _ := outcomeOf(ending{operation: run.Update, last: exit{code: 255}, packs: []*policyPack{{}}, events: events{began: true, errors: test.errors}})
			NewWithT(t).Expect(outcome).To(Equal(test.want))
		})
	}
}
