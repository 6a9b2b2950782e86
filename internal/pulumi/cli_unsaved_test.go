// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// The CLI ends by itself once it has tried to save the state for a minute. The next update would only warn of the creation in flight
// that is left in there, and create it once more.
func TestARunThatCannotSaveTheStateIsRecoveredFrom(t *testing.T) {
	t.Parallel()
	for name, kept := range map[string]string{
		"though it could remove its lock": filepath.Join(".pulumi", "stacks"),
		"and cannot remove its lock":      ".pulumi",
	} {
		t.Run(name, func(t *testing.T) {
			if kept == ".pulumi" {
				short.Skip(t)
			}
			t.Parallel()
			b := newBeside(t)
			b.withStack()
			lost := b.update(b.thing("value: x\n      hold: create"))
			results := make(chan run.Result, 1)
			go func() { results <- b.do(t.Context(), lost) }()
			b.awaitCreate()
			place, away := filepath.Join(b.backend, kept), filepath.Join(b.backend, "away")
			b.Expect(os.Rename(place, away)).To(Succeed())
			b.Expect(os.WriteFile(place, nil, 0o600)).To(Succeed()) // no directory, so that even root cannot write there
			b.release()
			var result run.Result
			b.Eventually(results).Should(Receive(&result))
			b.Expect(os.Remove(place)).To(Succeed())
			b.Expect(os.Rename(away, place)).To(Succeed())
			b.Expect(result.Outcome).To(Equal(run.Failed), result.Message)
			b.Expect(result.Message).To(ContainSubstring("failed to save snapshot"))
			b.Expect(result.Interrupted).To(BeTrue())
			b.Expect(b.state()).To(ContainSubstring("pending_operations"))

			result = b.do(t.Context(), b.recovery(lost))
			b.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
			b.Expect(result.UnknownCreates).To(Equal([]string{urnOf("a")}))
			b.Expect(b.locks()).To(BeEmpty())
		})
	}
}
