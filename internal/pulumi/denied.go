// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"errors"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/sandbox"
)

// deniedText says, in the message of a run that has failed, which path the sandbox kept from its
// processes, if the errors name one.
func (s *session) deniedText(end ending, outcome run.Outcome, message string) string {
	if outcome == run.Succeeded || s.driver == nil || s.driver.Sandbox == nil {
		return ""
	}
	texts := []string{message, end.stderr, end.stdout}
	for _, d := range end.events.errors {
		texts = append(texts, d.text)
	}
	paths := sandbox.DeniedPaths(strings.Join(texts, "\n"))
	if len(paths) == 0 {
		return ""
	}
	rules := s.driver.Sandbox.For(s.runRules())
	for i := range rules {
		rules[i].Path = realPath(rules[i].Path)
	}
	for _, path := range paths {
		denial, isDenied := sandbox.Denies(rules, s.driver.Sandbox.Own, realPath(path))
		if isDenied && (denial.Own || isForThisUser(denial)) {
			return " (" + denial.Hint() + ")"
		}
	}
	return ""
}

// realPath is a path without links, as far as it exists.
func realPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	if parent, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		return filepath.Join(parent, filepath.Base(path))
	}
	return filepath.Clean(path)
}

// isForThisUser reports whether a program could use the path without the sandbox: a program has the
// user of this process, so that a flag would not help if this process cannot.
func isForThisUser(d sandbox.Denial) bool {
	wants := uint32(unix.R_OK)
	if d.Writing {
		wants = unix.W_OK
	}
	err := unix.Access(d.Path, wants)
	if errors.Is(err, unix.ENOENT) { // it was to be created
		err = unix.Access(filepath.Dir(d.Path), unix.W_OK)
	}
	return err == nil
}
