// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package table

import "regexp"

// hashes are the commits and digests in a revision or a message.
var hashes = regexp.MustCompile(`\b[0-9a-f]{40,128}\b`)

// shortHash is how much of a hash Flux shows in a table.
const shortHash = 8

// Shorten cuts the hashes in text to what tells them apart.
func Shorten(text string) string {
	return hashes.ReplaceAllStringFunc(text, func(hash string) string { return hash[:shortHash] })
}
