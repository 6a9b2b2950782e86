// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

func TestAStackIsNotifiedOfUnknownCreationsAtOnce(t *testing.T) {
	f := newFixture(t)
	f.Expect(f.runner.Reserve("default", "a")).To(BeTrue())
	f.Expect(f.runner.Start(run.Run{ID: "run-a", Namespace: "default", Name: "a", Timeout: time.Hour})).To(Succeed())
	f.runner.NoteUnknownCreates("run-a", []string{"urn:a"})
	f.Eventually(f.ended).Should(Receive(Equal("default/a")))
	f.Expect(f.runner.UnknownCreates("run-a")).To(Equal([]string{"urn:a"}))
	phase, _ := f.runner.Look(run.Ref{ID: "run-a"})
	f.Expect(phase).To(Equal(run.Running), "it goes on")

	f.runner.NoteUnknownCreates("run-b", []string{"urn:b"})
	f.Expect(f.runner.UnknownCreates("run-b")).To(BeEmpty(), "it is none of this runner")
	f.Consistently(f.ended, "50ms").ShouldNot(Receive())
	close(f.driver.open)
	f.Eventually(f.ended).Should(Receive(Equal("default/a")))
}
