// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package plural

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestOf(t *testing.T) {
	g := NewWithT(t)
	g.Expect(Of(0, "process", "processes")).To(Equal("0 processes"))
	g.Expect(Of(1, "process", "processes")).To(Equal("1 process"))
	g.Expect(Of(2, "process", "processes")).To(Equal("2 processes"))
}
