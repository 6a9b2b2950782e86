// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package table

import "regexp"

// hashes matches the commits and digests in a revision or a message.
var hashes = regexp.MustCompile(`\b[0-9a-f]{40,128}\b`)

// shortHash is the length of a hash in Flux's tables.
const shortHash = 8

// Shorten cuts the hashes in a text.
func Shorten(text string) string {
	return hashes.ReplaceAllStringFunc(text, func(hash string) string { return hash[:shortHash] })
}
