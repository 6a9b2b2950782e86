// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// safeURL returns a URL without its user, password, query and fragment, which may be
// credentials. A pre-signed URL has its signature in the query.
func safeURL(u *url.URL) string {
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

// cause returns the text of the innermost error. The HTTP client and net/url wrap it in
// the whole URL, with its query or that of a redirect. Package os wraps it in the path,
// which changes each time for a temporary directory.
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

// withoutURLs replaces the URLs in a text from others.
func withoutURLs(text string) string {
	words := strings.Fields(text)
	for i, word := range words {
		if strings.Contains(word, "://") {
			words[i] = "(a URL)"
		}
	}
	return strings.Join(words, " ")
}

// size formats a number of bytes for people.
func size(n int64) string {
	const mib = 1 << 20
	if n >= mib && n%mib == 0 {
		return fmt.Sprintf("%d MiB", n/mib)
	}
	return fmt.Sprintf("%d bytes", n)
}
