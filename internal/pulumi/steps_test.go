// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/mask"
)

func TestAPreviewReportsWhatAnUpdateWouldChange(t *testing.T) {
	for op, want := range map[string]string{
		"create": "create", "update": "update", "delete": "delete", "replace": "replace", "import": "import",
		// A program with a lookup reads every time.
		"read": "", "discard": "", "read-replacement": "",
		"same": "", "refresh": "", "create-replacement": "", "delete-replaced": "",
	} {
		t.Run(op, func(t *testing.T) {
			g := NewWithT(t)
			s := &session{events: &events{mask: mask.New(nil), planned: &plannedSteps{}}, mask: mask.New(nil)}
			readAll(s.events, stepLine("resourcePreEvent", op, thingURN, "{}"), stepLine("resOutputsEvent", op, thingURN, "{}"))
			steps, leftOut := s.steps()
			g.Expect(leftOut).To(BeZero())
			if want == "" {
				g.Expect(steps).To(BeEmpty())
				return
			}
			g.Expect(steps).To(HaveLen(1))
			g.Expect(steps[0]).To(And(HaveField("Op", want), HaveField("URN", thingURN)))
		})
	}
}
