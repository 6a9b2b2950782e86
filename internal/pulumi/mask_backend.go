// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"net/url"
	"slices"
	"strings"
)

// secretsOfBackend lists what is secret in the URL of a backend, in whatever field
// it is: the password, the user where there is no password, as that is a token then,
// and the parameters that are named as secrets are. What is told of a backend in any
// case is none.
func secretsOfBackend(backend string) []string {
	_, rest, ok := strings.Cut(backend, "://")
	if !ok {
		return nil
	}
	var found []string
	public := PublicBackend(backend)
	add := func(text string) {
		if text == "" {
			return
		}
		found = append(found, text)
		if decoded, err := url.PathUnescape(text); err == nil {
			found = append(found, decoded)
		}
	}
	place, query, _ := strings.Cut(rest, "?")
	// A password may have a character in it that ends it for others.
	at := strings.LastIndexByte(place, '@')
	if at < 0 && strings.Contains(query, "@") {
		place, at = rest, strings.LastIndexByte(rest, '@')
	}
	if at >= 0 {
		if _, password, ok := strings.Cut(place[:at], ":"); ok {
			add(password)
		} else if len(place[:at]) >= maskedLine {
			add(place[:at])
		}
	}
	for pair := range strings.SplitSeq(query, "&") {
		if name, value, ok := strings.Cut(pair, "="); ok && isSecretName(name) {
			add(value)
		}
	}
	return slices.DeleteFunc(found, func(text string) bool { return strings.Contains(public, text) })
}
