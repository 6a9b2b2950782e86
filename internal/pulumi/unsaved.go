// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import "strings"

// isUnsaved recognizes the engine's error that the state could not be written.
func isUnsaved(text string) bool { return strings.Contains(text, "failed to save snapshot") }

// leftBehind reports whether a CLI that ended by itself may have left operations in
// flight in the state, or its lock, because the backend took no writes. The next update
// only warns of such operations, and creates once more what they had created.
func (e ending) leftBehind() bool {
	said := e.last.stderr.text
	return e.last.code != 0 && (e.events.unsaved || isUnsaved(said) || strings.Contains(said, "there was a problem deleting the lock at "))
}
