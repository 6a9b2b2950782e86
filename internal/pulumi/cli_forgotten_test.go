// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

func TestARecoveryTellsWhatItHasForgotten(t *testing.T) {
	l := newLab(t)
	l.Expect(l.do(t.Context(), l.update(plainProgram)).Outcome).To(Equal(run.Succeeded))
	urn := "urn:pulumi:dev::demo::lab:index:Thing::a"
	recovery := l.update(plainProgram)
	recovery.Operation, recovery.ClearPendingCreates, recovery.UnknownCreates = run.Recover, true, []string{urn}

	failing := recovery
	failing.Backend, failing.KnownBackend = "file://"+t.TempDir(), "file://"+l.backend
	result := l.do(t.Context(), failing)
	l.Expect(result.Outcome).To(Equal(run.Failed))
	l.Expect(result.UnknownCreates).To(Equal([]string{urn}), "the next one has to tell of it")
	l.Expect(result.Forgotten).To(BeEmpty())

	recovery.ID += "-again"
	result = l.do(t.Context(), recovery)
	l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	l.Expect(result.UnknownCreates).To(BeEmpty())
	l.Expect(result.Forgotten).To(Equal([]string{urn}))
}
