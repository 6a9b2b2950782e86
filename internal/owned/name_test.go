// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package owned

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/util/validation"
)

// TestTheNamesOfOwnedObjectsAreValid, wherever the name of the Stack is cut.
func TestTheNamesOfOwnedObjectsAreValid(t *testing.T) {
	g := NewWithT(t)
	for _, sign := range []string{".", "-", "a.", ".a", "a-.a", "--a"} {
		for before := 200; before < 250; before++ {
			name := strings.Trim((strings.Repeat("a", before) + strings.Repeat(sign, 53))[:validation.DNS1123SubdomainMaxLength], "-.")
			name += strings.Repeat("b", validation.DNS1123SubdomainMaxLength-len(name))
			if len(validation.IsDNS1123Subdomain(name)) > 0 {
				continue
			}
			owned := Name(name, "-inventory")
			g.Expect(validation.IsDNS1123Subdomain(owned)).To(BeEmpty(), owned)
		}
	}
}
