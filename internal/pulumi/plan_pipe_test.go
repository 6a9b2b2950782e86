// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"io"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

// The CLI would wait until the timeout of the run.
func TestAPlanIsReadToItsEndEvenIfItsReaderPanics(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	from, to := io.Pipe() // each write waits for its reader, as in a pipe that is full
	reader := readToEnd(from, func() { panic("no such thing") })
	written := make(chan error, 1)
	go func() {
		_, err := io.Copy(to, strings.NewReader("{}"))
		_ = to.Close()
		written <- err
	}()
	g.Eventually(written, "30s").Should(Receive(Not(HaveOccurred())))
	g.Expect(reader.Wait).To(PanicWith(MatchError("no such thing")))
}

func TestTheTextOfAPlanIsBounded(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	piece := []byte(strings.Repeat("x", maxPlanText/2))
	var text planText
	for range 2 {
		g.Expect(text.Write(piece)).To(Equal(len(piece)))
	}
	g.Expect(text.String()).To(HaveLen(maxPlanText))
	g.Expect(text.tooLarge).To(BeFalse())
	for range 2 {
		g.Expect(text.Write(piece[:1])).To(Equal(1))
	}
	g.Expect(text.String()).To(BeEmpty())
	g.Expect(text.tooLarge).To(BeTrue())
}
