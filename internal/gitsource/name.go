// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package gitsource

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// maxName bounds the name of a GitRepository: source-controller makes a directory
// that is named after its kind, namespace and name, and a file name has no more
// than 255 bytes.
const maxName = 150

// Name of the GitRepository of a Stack: its own, unless that is too long.
func Name(stack string) string { return shorten(stack, maxName) }

// SecretName is the name of the Secret of that GitRepository. It is not that of the
// Stack, which people like to give to the Secret that they keep the credentials in.
func SecretName(stack string) string { return shorten(stack, maxName) + "-git-auth" }

// shorten cuts a name that is too long, and tells it from others with the same
// beginning.
func shorten(name string, limit int) string {
	if len(name) <= limit {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	suffix := hex.EncodeToString(sum[:5])
	return strings.TrimRight(name[:limit-len(suffix)-1], "-.") + "-" + suffix
}
