// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

// previewFirst has the follower know that the CLI previews before it updates. The CLI truncates
// the log for the update, and only what follows counts: what the preview reports is not done.
func (s *session) previewFirst(f *follower) {
	deferred := s.deferred
	s.events.preview = true
	f.previewsFirst = true
	f.onUpdate = func() {
		s.deferred = deferred // the update reports the same diagnostics
		left := s.events.leftCreates
		*s.events = events{mask: s.mask, deferLog: s.deferred.add, startsProgram: s.starting, secrets: s.events.secrets, leftCreates: left, began: true, planned: s.doneSteps()}
	}
}

// endPreview drops what the preview of a held update has reported, if the update has not
// started, except why.
func (s *session) endPreview(last exit) {
	if !s.events.preview || s.previewing {
		return
	}
	was := s.events
	s.events = &events{
		mask: s.mask, deferLog: s.deferred.add, startsProgram: was.startsProgram, secrets: was.secrets, leftCreates: was.leftCreates,
		began: was.began, ended: was.ended, policies: was.policies, errors: was.errors, printed: was.printed, unsaved: was.unsaved,
		missed: last.code == 0, // it has updated, and nobody has seen that
	}
}
