// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/mask"
)

func TestTheLastPrintedLinesAreKept(t *testing.T) {
	g := NewWithT(t)
	var p printedLines
	long := strings.Repeat("x", 1000)
	for range 100 {
		p.add(long + "\n")
	}
	p.add("the last")
	text := p.masked(mask.New(nil))
	g.Expect(len(text)).To(BeNumerically("<=", maxPrinted))
	g.Expect(text).To(HaveSuffix("the last"))
}

// A crash of Go prints the stacks of all goroutines after its reason.
func TestTheBeginningOfACrashIsKept(t *testing.T) {
	g := NewWithT(t)
	var p printedLines
	line := strings.Repeat("x", 1000)
	for range 100 {
		p.add(line)
	}
	p.add("panic: boom")
	for range 100 {
		p.add(line)
	}
	text := p.masked(mask.New(nil))
	g.Expect(len(text)).To(BeNumerically("<=", maxPrinted))
	g.Expect(text).To(ContainSubstring("\npanic: boom\n"))
}

func TestPrintedSecretsAreMasked(t *testing.T) {
	g := NewWithT(t)
	secret := "first line of a key\nsecond line of a key\nthird line of a key"
	m := mask.New([]string{secret})
	var p printedLines
	for _, line := range strings.Split(secret, "\n") {
		p.add(line + "\n")
	}
	g.Expect(p.masked(m)).To(Equal("***"))

	p = printedLines{}
	p.add("first line of a key")
	p.add("second line of a key")
	for range 40 {
		p.add(strings.Repeat("x", 1000))
	}
	g.Expect(p.masked(m)).NotTo(ContainSubstring("key"))
}
