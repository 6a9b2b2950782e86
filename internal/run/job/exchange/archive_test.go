// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package exchange

import (
	"crypto/rand"
	"encoding/hex"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/localprogram"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// TestALocalProgramHasRoom hands over the largest archive allowed. It is random: packing
// does not make it smaller.
func TestALocalProgramHasRoom(t *testing.T) {
	g := NewWithT(t)
	archive, other := make([]byte, localprogram.MaxSize), make([]byte, 48<<10)
	for _, random := range [][]byte{archive, other} {
		_, err := rand.Read(random)
		g.Expect(err).NotTo(HaveOccurred())
	}
	todo := run.Run{Program: run.Program{Artifact: &run.Artifact{Archive: archive}}, Secrets: map[string]string{"a": hex.EncodeToString(other)}}
	data, digest, err := EncodeInput(Input{Run: todo})
	g.Expect(err).NotTo(HaveOccurred())
	read, err := DecodeInput(data, digest)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(read.Run.Program.Artifact.Archive).To(Equal(archive))
	t.Logf("%d bytes are handed over as %d", len(archive)+len(other), len(data))
}
