// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/tests/process"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// A proposal is no run that has found the stack, so the first approved one inspects it. The plan has
// what the refresh finds, and a refresh of its own would change the state that was approved.
func TestAnApprovedRunThatInspectsFirstDoesNotRefreshBeforeItIsCompared(t *testing.T) {
	t.Parallel()
	for name, operation := range map[string]run.Operation{"an update": run.Propose, "a destroy": run.ProposeDestroy} {
		t.Run(name, func(t *testing.T) {
			if operation == run.ProposeDestroy {
				short.Skip(t)
			}
			t.Parallel()
			l := newLab(t).withProvider()
			program := l.thing("value: one", "value: one")
			l.given(program)
			l.drift("a", "drifted")
			proposal := l.propose(program)
			proposal.Operation, proposal.InspectFirst, proposal.Options.Refresh = operation, true, true
			made := l.proposed(proposal)
			update := approved(proposal, made)
			update.ID += "-approved"
			result := l.do(t.Context(), update)
			l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
			if operation == run.ProposeDestroy {
				l.Expect(l.things()).To(BeZero())
			} else {
				l.Expect(l.valueOf("a")).To(Equal("one"))
			}
		})
	}
}

// The engine does not warn of what another update leaves if it refreshes first.
func TestAnApprovedRunThatRefreshesDoesNotRepeatACreationThatAnotherUpdateHasLeft(t *testing.T) {
	t.Parallel()
	cli, err := process.FindBin("pulumi")
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	b := newBeside(t)
	program := b.thing("value: x", "value: x")
	b.given(b.thing("value: x"))
	proposal := b.propose(program)
	proposal.InspectFirst, proposal.Options.Refresh = true, true
	made := b.proposed(proposal)

	state := b.stackFile()
	before, err := os.ReadFile(state)
	b.Expect(err).NotTo(HaveOccurred())
	b.inFlight(map[string]string{"b": "creating"})
	left := filepath.Join(filepath.Dir(b.calls), "left.json")
	b.Expect(os.Rename(state, left)).To(Succeed())
	b.Expect(os.WriteFile(state, before, 0o600)).To(Succeed())
	b.replacing("--color=never preview", cli+` "$@"; code=$?; cp `+left+" "+state+"; exit $code")

	update := approved(proposal, made)
	update.ID += "-approved"
	result := b.do(t.Context(), update)
	b.Expect(result.Outcome).To(Equal(run.Failed), result.Message)
	b.Expect(result.Message).To(ContainSubstring("has pending creations"))
	b.Expect(result.UnknownCreates).To(Equal([]string{urnOf("b")}))
	b.Expect(result.Interrupted).To(BeFalse())
	b.Expect(b.things()).To(Equal(1))
}
