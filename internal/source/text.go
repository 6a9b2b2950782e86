// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// shorten cuts a text to at most limit bytes and an ellipsis, never through a
// character.
func shorten(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + "..."
}

// safeURL is a URL without what may be a credential in it: user, password,
// query and fragment. A pre-signed URL has its signature in the query.
func safeURL(u *url.URL) string {
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

// cause says what an error is about, without what is around it. The HTTP client
// and net/url put the whole URL there, with its query, or that of a place that
// the server redirected to; package os puts the path there, which for a
// temporary directory is another one each time.
func cause(err error) string {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		return wrapped.Err.Error()
	}
	for next := err; next != nil; next = errors.Unwrap(next) {
		err = next
	}
	return err.Error()
}

// withoutURLs leaves the URLs out of a text that somebody else wrote.
func withoutURLs(text string) string {
	words := strings.Fields(text)
	for i, word := range words {
		if strings.Contains(word, "://") {
			words[i] = "(a URL)"
		}
	}
	return strings.Join(words, " ")
}

// size writes a number of bytes for a person.
func size(n int64) string {
	const mib = 1 << 20
	if n >= mib && n%mib == 0 {
		return fmt.Sprintf("%d MiB", n/mib)
	}
	return fmt.Sprintf("%d bytes", n)
}
