// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"encoding/json"
	"testing"

	. "github.com/onsi/gomega"
)

// A file is not made by what is only read.
func TestAResourceThatIsReadDoesNotChange(t *testing.T) {
	t.Parallel()
	for steps, want := range map[string]bool{
		`["same"]`: false, `["read-replacement", "discard-replaced"]`: false, `["remove-pending-replace"]`: false,
		`["refresh", "update"]`: true, `["create-replacement", "replace", "delete-replaced"]`: true,
	} {
		var planned resourcePlan
		g := NewWithT(t)
		g.Expect(json.Unmarshal([]byte(`{"steps": `+steps+`}`), &planned)).To(Succeed())
		g.Expect(planned.changes()).To(Equal(want), steps)
	}
}
