// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"

	"github.com/flux-pulumi/pulumi-controller/internal/mask"
)

// Nothing else holds a destroy to its plan.
func TestARunIsStoppedAtWhatItsPlanMayNotHave(t *testing.T) {
	t.Parallel()
	const urn = "urn:pulumi:dev::demo::lab:index:Thing::"
	for name, test := range map[string]struct {
		events string
		// isDirectory has the events not be readable at all.
		isDirectory bool
		unwatched   bool
		stopped     string
	}{
		"an approved step":             {events: createdEvents("a")},
		"another step":                 {events: createdEvents("a") + createdEvents("b"), stopped: "Thing (b): create"},
		"an event that cannot be read": {events: createdEvents("a") + "{\n", stopped: "could not be read"},
		"events that cannot be read":   {isDirectory: true, stopped: "could not be read"},
		"a run that is not watched":    {events: createdEvents("b") + "{\n", unwatched: true},
		"its events cannot be read":    {isDirectory: true, unwatched: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			path := filepath.Join(t.TempDir(), "events.jsonl")
			if test.isDirectory {
				g.Expect(os.Mkdir(path, 0o700)).To(Succeed())
			} else {
				g.Expect(os.WriteFile(path, []byte(test.events), 0o600)).To(Succeed())
			}
			stopped := 0
			f := &follower{path: path, events: &events{mask: mask.New(nil)}, say: func(string) {}}
			if !test.unwatched {
				f.events.approved = &approvedSteps{ops: map[string][]apitype.OpType{urn + "a": {apitype.OpCreate}}}
				f.stopOther = func() { stopped++ }
			}
			f.poll()
			f.poll()
			f.close()
			if test.stopped == "" {
				g.Expect(stopped).To(BeZero())
				g.Expect(f.events.refusal()).NotTo(HaveOccurred())
				return
			}
			g.Expect(stopped).To(Equal(1))
			g.Expect(f.events.refusal()).To(MatchError(ContainSubstring(test.stopped)))
		})
	}
}

func TestNothingIsApprovedOfMoreResourcesThanAreKept(t *testing.T) {
	t.Parallel()
	step := func(op apitype.OpType, n int) *stepEvent {
		event := &stepEvent{}
		event.Metadata.Op, event.Metadata.URN, event.Metadata.New = op, fmt.Sprintf("urn:%d", n), &stepState{Custom: true}
		return event
	}
	steps := &approvedSteps{}
	for n := range maxKeptSteps + 1 {
		steps.note(step(apitype.OpUpdate, n))
	}
	steps.note(step(apitype.OpReplace, 1))
	g := NewWithT(t)
	g.Expect(steps.approve(step(apitype.OpUpdate, 0))).To(BeTrue())
	g.Expect(steps.approve(step(apitype.OpDelete, 0))).To(BeFalse(), "its steps are known")
	g.Expect(steps.approve(step(apitype.OpReplace, 1))).To(BeTrue())
	g.Expect(steps.approve(step(apitype.OpUpdate, maxKeptSteps))).To(BeFalse(), "it is not known")
	g.Expect(steps.isOver()).To(BeTrue(), "and no run begins")
}
