// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"context"
	"errors"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

func TestARecoveryReportsWhatItHasForgotten(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	l := newLab(t)
	l.given(plainProgram)
	urn := "urn:pulumi:dev::demo::lab:index:Thing::a"
	recovery := l.update(plainProgram)
	recovery.Operation, recovery.ClearPendingCreates, recovery.UnknownCreates = run.Recover, true, []string{urn}

	failing := recovery
	failing.Backend, failing.KnownBackend = "file://"+t.TempDir(), "file://"+l.backend
	result := l.do(t.Context(), failing)
	l.Expect(result.Outcome).To(Equal(run.Failed))
	l.Expect(result.UnknownCreates).To(Equal([]string{urn}), "the next one has to report it")
	l.Expect(result.Forgotten).To(BeEmpty())

	recovery.ID += "-again"
	result = l.do(t.Context(), recovery)
	l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	l.Expect(result.UnknownCreates).To(BeEmpty())
	l.Expect(result.Forgotten).To(Equal([]string{urn}))
}

func TestARecoveryReportsWhatTheStateHasForgotten(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	l := newLab(t).withProvider().withStack()
	l.driver.Grace = Grace{Settle: patience, Finish: 2 * time.Second, Abort: patience}
	ctx, cancel := context.WithCancelCause(t.Context())
	results := l.start(ctx, l.update(l.thing("hold: create")))
	l.awaitCreate()
	cancel(errors.New("the controller is shutting down"))
	l.Eventually(results).Should(Receive())
	l.Expect(l.state()).To(ContainSubstring("pending_operations"))

	recovery := l.update("")
	recovery.Operation, recovery.ClearPendingCreates = run.Recover, true
	result := l.do(t.Context(), recovery)
	l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	l.Expect(result.Forgotten).To(BeEmpty(), "nobody has reported it before")
	l.Expect(result.UnknownCreates).To(ConsistOf(HaveSuffix("lab:index:Thing::a")))
	recovery.UnknownCreates = result.UnknownCreates
	recovery.ID += "-again"
	result = l.do(t.Context(), recovery)
	l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	l.Expect(result.Forgotten).To(ConsistOf(HaveSuffix("lab:index:Thing::a")))
	l.Expect(result.UnknownCreates).To(BeEmpty())
	l.Expect(l.state()).NotTo(ContainSubstring("pending_operations"))
}
