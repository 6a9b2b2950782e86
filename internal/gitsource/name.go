// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package gitsource

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// maxName bounds the name of a GitRepository: source-controller creates a directory named
// after its kind, namespace and name, and a file name has at most 255 bytes.
const maxName = 150

// Name returns the name of a Stack's GitRepository: that of the Stack, unless too long.
func Name(stack string) string { return shorten(stack, maxName) }

// SecretName returns the name of the GitRepository's Secret. It differs from that of the
// Stack, which people like to give to the Secret with the credentials.
func SecretName(stack string) string { return shorten(stack, maxName) + "-git-auth" }

// shorten cuts a name that is too long, and adds a hash to keep it unique.
func shorten(name string, limit int) string {
	if len(name) <= limit {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	suffix := hex.EncodeToString(sum[:5])
	return strings.TrimRight(name[:limit-len(suffix)-1], "-.") + "-" + suffix
}
