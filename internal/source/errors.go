// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"errors"
	"slices"
)

// The causes that callers distinguish with errors.Is. Callers also check for
// acl.AccessDeniedError of github.com/fluxcd/pkg/runtime/acl, with errors.As. Any other
// error comes from the API server or the network, and may go away by itself.
var (
	// ErrInvalid is a meaningless reference: only editing the spec helps.
	ErrInvalid = errors.New("invalid source reference")
	// ErrNotFound is a source object that does not exist.
	ErrNotFound = errors.New("source not found")
	// ErrNotReady is a source that has no artifact yet.
	ErrNotReady = errors.New("source not ready")
	// ErrNotServed is a kind of source that the cluster does not know.
	ErrNotServed = errors.New("source kind not served")

	// ErrGone is an artifact that its server no longer has. Its source has a newer one,
	// or will have.
	ErrGone = errors.New("artifact gone")
	// ErrArchive is an unusable artifact: a wrong digest, not an archive, too big, or
	// with a refused entry.
	ErrArchive = errors.New("artifact unusable")
	// ErrDir is a program directory that is not in the artifact.
	ErrDir = errors.New("program directory unusable")
	// ErrWorkspace is a fault of the local disk rather than the artifact: no space, or a
	// directory that cannot be written.
	ErrWorkspace = errors.New("workspace unusable")
)

// IsProblem reports whether an error says what is wrong with a reference or with its source, so that
// it does not go away by itself like one of the API server.
func IsProblem(err error) bool {
	return slices.ContainsFunc([]error{ErrInvalid, ErrNotFound, ErrNotReady, ErrNotServed, ErrFetching, ErrFetchFailed},
		func(problem error) bool { return errors.Is(err, problem) })
}

// failure is an error with a text written for people. Wrapping the sentinels would only
// clutter the text, so they are kept beside it.
type failure struct {
	text   string
	causes []error
}

// fail returns an error with this text that matches all of the causes.
func fail(text string, causes ...error) error {
	return &failure{text: text, causes: causes}
}

func (e *failure) Error() string { return e.text }

func (e *failure) Unwrap() []error { return e.causes }
