// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package steplog

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestAStepComesBackFromItsLine(t *testing.T) {
	for _, step := range []Step{
		{"aws:s3/bucket:Bucket", "logs", "create", Started},
		{"pulumi:providers:aws", "default_5_42_0", "create", Done},
		{"lab:index:Thing", "a (b): create done", "delete-replaced", Failed},
		{"lab:index:Thing", "with space and ü", "refresh", Done},
		{"lab:index:Thing", "a", "update", Planned},
	} {
		t.Run(step.Line(), func(t *testing.T) {
			g := NewWithT(t)
			found, ok := Parse(step.Line())
			g.Expect(ok).To(BeTrue())
			g.Expect(found).To(Equal(step))
		})
	}
}

func TestOtherLinesAreNoSteps(t *testing.T) {
	for _, text := range []string{
		"", "update starts", "lab:index:Thing (a): the quota is exceeded", "lab:index:Thing (a): create done.", "create done",
		"lab:index:Thing (): create done", "lab:index:Thing (a): create done\nlab:index:Thing (b): create done", "lab:index:Thing (a\nb): create done",
		"error: lab:index:Thing (a): create failed", "lab:index:Thing (a): CREATE done",
	} {
		_, ok := Parse(text)
		NewWithT(t).Expect(ok).To(BeFalse(), text)
	}
}
