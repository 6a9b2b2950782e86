// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package records

import (
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/history"
	"github.com/flux-pulumi/pulumi-controller/internal/plan"
)

func TestNotMoreOfAHistoryIsReadThanIsShown(t *testing.T) {
	g := NewWithT(t)
	packed, err := history.Encode(history.Change{Plan: plan.Plan{Steps: []plan.Step{{Op: plan.OpCreate, URN: "urn:a"}}}})
	g.Expect(err).NotTo(HaveOccurred())
	kept, err := of(map[string][]byte{history.Key("a"): packed, history.Key("b"): packed}, nil)
	g.Expect(err).NotTo(HaveOccurred())
	room := 1
	changes := kept.Changes(meta.Snapshot{Metadata: map[string]string{"run": "b", "changedIn": "b,a"}}, &room)
	g.Expect(changes[0].Plan).NotTo(BeNil())
	g.Expect(changes[1]).To(Equal(Change{Run: "a", Message: "the details of the runs before are too large to show these too"}))
}

func TestARunIsFoundByTheBeginningOfItsID(t *testing.T) {
	kept := &Records{Entries: meta.History{
		{Metadata: map[string]string{"run": "abc"}}, {Metadata: map[string]string{"run": "abd", "changedIn": "abd,xyz"}}, {Metadata: map[string]string{"run": "ab"}},
	}}
	for begin, want := range map[string]string{"abc": "abc", "abd": "abd", "x": "xyz", "ab": "ab"} {
		g := NewWithT(t)
		g.Expect(kept.Find(begin)).To(Equal(want))
		_, err := kept.Log(want)
		g.Expect(err).To(MatchError(ErrNoLog))
	}
	for begin, want := range map[string]string{"a": "more than one", "q": "no record of run"} {
		_, err := kept.Find(begin)
		NewWithT(t).Expect(err).To(MatchError(ContainSubstring(want)))
	}
}
