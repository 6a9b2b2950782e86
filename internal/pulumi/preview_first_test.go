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
	"github.com/flux-pulumi/pulumi-controller/internal/plan"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

func createdEvents(name string) string {
	const step = `{"op":"create","urn":"urn:pulumi:dev::demo::lab:index:Thing::%s","type":"lab:index:Thing","provider":"p::1","new":{"custom":true,"id":"%s"}}`
	return fmt.Sprintf(`{"resourcePreEvent":{"metadata":`+step+"}}\n"+`{"resOutputsEvent":{"metadata":`+step+"}}\n", name, name, name, name)
}

// heldSession is a session with a follower of a CLI that previews first.
func heldSession(t *testing.T) (*session, *follower, func(text string)) {
	path := filepath.Join(t.TempDir(), "events.jsonl")
	s := &session{mask: mask.New(nil)}
	s.events = &events{mask: s.mask, deferLog: s.deferred.add}
	f := &follower{path: path, events: s.events, say: func(string) {}}
	s.previewFirst(f)
	t.Cleanup(f.close)
	return s, f, func(text string) {
		NewWithT(t).Expect(os.WriteFile(path, []byte(text), 0o600)).To(Succeed()) // truncates, as the CLI does
		f.poll()
	}
}

func TestOnlyTheUpdateAfterItsPreviewCounts(t *testing.T) {
	g := NewWithT(t)
	s, f, write := heldSession(t)
	var progress []run.Progress
	f.onProgress = func(now run.Progress) { progress = append(progress, now) }
	write(createdEvents("a") + createdEvents("b") + createdEvents("c") + `{"diagnosticEvent":{"severity":"warning","message":"deprecated"}}` + "\n" + `{"summaryEvent":{"isPreview":true}}` + "\n")
	g.Expect(progress).To(BeEmpty(), "nothing is done")
	g.Expect(f.previewsFirst).To(BeTrue())

	write(`{"diagnosticEvent":{"severity":"warning","message":"deprecated"}}` + "\n" + createdEvents("a"))
	write(`{"diagnosticEvent":{"severity":"warning","message":"deprecated"}}` + "\n" + createdEvents("a") + `{"summaryEvent":{}}` + "\n")
	s.endPreview(exit{})
	g.Expect(s.events.changes()).To(Equal(run.Changes{Created: 1}))
	g.Expect(s.events.summary).NotTo(BeNil())
	g.Expect(s.events.missed).To(BeFalse())
	g.Expect(s.deferred.lines).To(HaveLen(1), "a warning of both is logged once")
	g.Expect(progress).NotTo(BeEmpty())
}

func TestAnUpdateThatFailsInItsPreviewHasDoneNothing(t *testing.T) {
	g := NewWithT(t)
	s, _, write := heldSession(t)
	write(createdEvents("a") + `{"diagnosticEvent":{"severity":"error","message":"resource violates plan"}}` + "\n")
	s.endPreview(exit{code: 255})
	g.Expect(s.events.changes()).To(Equal(run.Changes{}))
	g.Expect(s.events.errors).To(HaveLen(1), "why it failed")
	g.Expect(s.events.resources.known).To(BeEmpty())
}

func TestAnUpdateThatNobodyHasSeenIsNotTakenForItsPreview(t *testing.T) {
	g := NewWithT(t)
	s, _, write := heldSession(t)
	s.run.Operation = run.Update
	write(createdEvents("a"))
	s.endPreview(exit{})
	g.Expect(s.events.changes().Unknown).To(BeTrue())
	g.Expect(s.done()).To(HaveValue(Equal(plan.Plan{Incomplete: true})))
}

// With policy packs, an update previews first also if Pulumi is not held to a plan.
func TestAnUpdateIsWatchedAfterItsPreviewToo(t *testing.T) {
	const a = "urn:pulumi:dev::demo::lab:index:Thing::a"
	onlyA := func(s *session, f *follower) (stopped *bool) {
		s.changing, s.approved = true, &approvedSteps{ops: map[string][]apitype.OpType{a: {apitype.OpCreate}}}
		s.events.approved = s.approved
		stopped = new(bool)
		f.stopOther = func() { *stopped = true }
		return stopped
	}
	t.Run("in the update", func(t *testing.T) {
		g := NewWithT(t)
		s, f, write := heldSession(t)
		stopped := onlyA(s, f)
		write(createdEvents("a") + `{"diagnosticEvent":{"severity":"warning","message":"deprecated"}}` + "\n" + `{"summaryEvent":{"isPreview":true}}` + "\n")
		write(createdEvents("a"))
		g.Expect(*stopped).To(BeFalse())
		write(createdEvents("a") + createdEvents("b"))
		g.Expect(*stopped).To(BeTrue())
		s.endPreview(exit{code: 255})
		g.Expect(s.events.refusal()).To(MatchError(ContainSubstring("lab:index:Thing (b): create")))
	})
	t.Run("an event of the update cannot be read", func(t *testing.T) {
		g := NewWithT(t)
		s, f, write := heldSession(t)
		stopped := onlyA(s, f)
		write(createdEvents("a") + createdEvents("a"))
		write(createdEvents("a"))
		s.events.missed = true
		f.poll()
		g.Expect(*stopped).To(BeTrue())
		g.Expect(s.events.refusal()).To(MatchError(errNotWatched))
	})
	t.Run("in the preview", func(t *testing.T) {
		g := NewWithT(t)
		s, f, write := heldSession(t)
		stopped := onlyA(s, f)
		write(createdEvents("a") + createdEvents("b"))
		g.Expect(*stopped).To(BeTrue())
		s.endPreview(exit{code: 255})
		g.Expect(s.events.refusal()).To(MatchError(ContainSubstring("lab:index:Thing (b): create")), "why it was stopped")
		g.Expect(s.events.changes()).To(Equal(run.Changes{}))
	})
	t.Run("stopped in the preview, and it updates all the same", func(t *testing.T) {
		g := NewWithT(t)
		s, f, write := heldSession(t)
		onlyA(s, f)
		write(createdEvents("a") + createdEvents("b"))
		write(createdEvents("a"))
		g.Expect(s.events.refusal()).To(MatchError(ContainSubstring("lab:index:Thing (b): create")))
	})
}

func TestTheVersionsOfProvidersAreSeen(t *testing.T) {
	g := NewWithT(t)
	e := &events{mask: mask.New(nil)}
	for _, version := range []string{`"2.0.0"`, `"1.0.0"`, `{}`} {
		e.read([]byte(`{"resourcePreEvent":{"metadata":{"op":"same","urn":"u","type":"pulumi:providers:aws","new":{"inputs":{"version":` + version + `}}}}}`))
	}
	e.read([]byte(`{"resourcePreEvent":{"metadata":{"op":"same","urn":"u","type":"lab:index:Thing","new":{"inputs":{"version":"9.0.0"}}}}}`))
	g.Expect(e.plugins.versions()).To(Equal(map[string]string{"aws": "1.0.0, 2.0.0"}))
}
