// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package source

import "errors"

// The causes that callers tell apart, with errors.Is. One more is
// acl.AccessDeniedError of github.com/fluxcd/pkg/runtime/acl, for errors.As.
// Any other error is one of the API server or of the network, and may go away
// by itself.
var (
	// ErrInvalid is a reference that cannot mean anything: editing the spec is
	// the only remedy.
	ErrInvalid = errors.New("invalid source reference")
	// ErrNotFound is a source object that does not exist.
	ErrNotFound = errors.New("source not found")
	// ErrNotReady is a source that has no artifact yet.
	ErrNotReady = errors.New("source not ready")
	// ErrNotServed is a kind of source that the cluster does not know.
	ErrNotServed = errors.New("source kind not served")

	// ErrGone is an artifact that its server no longer has. Its source has, or
	// will have, another one.
	ErrGone = errors.New("artifact gone")
	// ErrArchive is an artifact that is not what it should be: a wrong digest,
	// not an archive, too big, or with an entry that is refused.
	ErrArchive = errors.New("artifact unusable")
	// ErrDir is a program directory that the artifact does not have.
	ErrDir = errors.New("program directory unusable")
	// ErrWorkspace is a fault of the local disk, and not of the artifact: no
	// space, or a directory that cannot be written.
	ErrWorkspace = errors.New("workspace unusable")
)

// failure is an error whose text is written for a person, with the cause beside
// it: the text of the sentinels above would only get in the way.
type failure struct {
	text   string
	causes []error
}

// fail returns an error with this text that is all of the causes.
func fail(text string, causes ...error) error {
	return &failure{text: text, causes: causes}
}

func (e *failure) Error() string { return e.text }

func (e *failure) Unwrap() []error { return e.causes }
