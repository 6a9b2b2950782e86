// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/mask"
)

// Secrets known first must not hide those learned later.
func TestAMaskerLearns(t *testing.T) {
	g := NewWithT(t)
	e := &events{mask: mask.New([]string{"hunter2"})}
	readAll(e, diagLine("error", "", "in pw-hunter2-end and other-secret"))
	g.Expect(e.errors[0].text).To(Equal("in pw-***-end and other-secret"))
	e.mask.AddSecrets([]string{"pw-hunter2-end", "other-secret", "hunter2"})
	e.remask()
	g.Expect(e.errors[0].text).To(Equal("in *** and ***"))
}

func TestHeldLinesAreBounded(t *testing.T) {
	g := NewWithT(t)
	var h deferredLines
	for range maxHeld + 3 {
		h.add(rawLine{text: newRawText("x")}, false)
	}
	g.Expect(h.lines).To(HaveLen(maxHeld))
	g.Expect(h.left).To(Equal(3))
	h = deferredLines{}
	for range 100 {
		h.add(rawLine{text: newRawText(strings.Repeat("x", maxRawText+1))}, true)
	}
	g.Expect(h.bytes).To(BeNumerically("<=", maxHeldBytes))
	g.Expect(h.left).To(Equal(100 - len(h.lines)))
}
