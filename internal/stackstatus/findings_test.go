// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package stackstatus

import (
	"fmt"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

func TestTheStatusNamesOnlyAsManyCreationsAsFit(t *testing.T) {
	g := NewWithT(t)
	stack, long := &v1.Stack{}, strings.Repeat("x", 1000)
	for i := range 2000 {
		AddUnknownCreates(stack, []string{fmt.Sprintf("urn-%d-%s", i, long)})
	}
	reported := stack.Status.UnknownCreates
	g.Expect(len(reported)).To(And(BeNumerically(">", 400), BeNumerically("<", 600)))
	g.Expect(reported).To(ContainElement("urn-0-"+long), "nothing that was named is taken back")
}
