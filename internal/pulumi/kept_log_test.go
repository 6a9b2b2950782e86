// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/mask"
)

func TestTheKeptLogIsMaskedWithAllThatIsKnownAtTheEnd(t *testing.T) {
	g := NewWithT(t)
	masker, logged := mask.New(nil), []string{}
	kept := keptLog{log: func(line string) { logged = append(logged, line) }}
	for _, line := range []string{"the program prints CANARYlate17", "a long line that ends in CANARYla...", "create done"} {
		kept.add(line)
	}
	masker.AddSecrets([]string{"CANARYlate17"})

	var texts []string
	for _, line := range kept.masked(masker).Lines {
		g.Expect(line.At).NotTo(BeZero())
		texts = append(texts, line.Text)
	}
	g.Expect(texts).To(Equal([]string{"the program prints ***", "a long line that ends in ***...", "create done"}))
	g.Expect(logged[0]).To(ContainSubstring("CANARYlate17"), "it is logged at once")
	g.Expect((&keptLog{}).masked(masker)).To(BeNil())
}
