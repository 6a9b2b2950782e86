// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

// previewsFirst reports whether Pulumi previews in the current call before it changes anything.
func (s *session) previewsFirst() bool {
	return s.changing && (s.held != "" || s.isGuarded() || s.updating && s.run.Options.PreviewFirst)
}

// previewFirst has the follower know that the CLI previews before it updates. The CLI truncates
// the log for the update, and only what follows counts: what the preview reports is not done.
func (s *session) previewFirst(f *follower) {
	deferred := s.deferred
	s.events.preview = true
	f.previewsFirst = true
	f.onPreviewed = s.provePreview
	f.onUpdate = func() {
		s.deferred = deferred // the update reports the same diagnostics
		was, next := *s.events, s.newEvents()
		next.leftCreates, next.began, next.planned = was.leftCreates, true, s.doneSteps()
		next.keepRefusal(was)
		*s.events = *next
	}
}

// provePreview stops an update before it changes anything, unless its preview was made with the packs.
func (s *session) provePreview() {
	if !s.isGuarded() {
		return
	}
	s.unproven = s.provePacks()
	if s.proven = s.unproven == nil; !s.proven {
		s.stop(s.unproven)
	}
}

// endPreview drops what the preview of a held update has reported, if the update has not
// started, except why.
func (s *session) endPreview(last exit) {
	if !s.events.preview || s.previewing {
		return
	}
	was, next := *s.events, s.newEvents()
	next.startsProgram, next.leftCreates, next.began, next.ended = was.startsProgram, was.leftCreates, was.began, was.ended
	next.policies, next.errors, next.printed, next.unsaved = was.policies, was.errors, was.printed, was.unsaved
	if last.code == 0 { // it has updated, and nobody has seen that
		next.missed, next.planned = true, s.doneSteps()
	}
	next.keepRefusal(was)
	s.events = next
}
