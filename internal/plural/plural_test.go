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

func TestSome(t *testing.T) {
	g := NewWithT(t)
	g.Expect(Some(nil, 2)).To(BeEmpty())
	g.Expect(Some([]string{"a", "b"}, 2)).To(Equal("a, b"))
	g.Expect(Some([]string{"a", "b", "c"}, 2)).To(Equal("a, b and 1 more"))
	g.Expect(First([]string{"a", "b"}, 12)).To(Equal("a, b and 10 more"))
}
