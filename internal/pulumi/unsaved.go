// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"errors"
	"strings"
)

// errLockLeft is why a run has failed of which each call of the CLI has succeeded.
var errLockLeft = errors.New("the lock of Pulumi could not be removed and would block the next call: " +
	"allow the run to delete objects in the backend")

// isUnsaved recognizes the engine's error that the state could not be written, by what the
// engine and the CLI say before it: a provider may save snapshots too.
func isUnsaved(text string) bool {
	for _, before := range []string{"event returned an error: ", "writing snapshot: ", "\nerror: "} {
		if strings.Contains("\n"+text, before+"failed to save snapshot: ") {
			return true
		}
	}
	return false
}

// unsavedText is what the backend said if the state could not be written, without what the
// engine and the CLI say before and after it.
func unsavedText(text string) string {
	if !isUnsaved(text) {
		return ""
	}
	const begin = "failed to save snapshot: "
	_, why, _ := strings.Cut(text, begin)
	why, _, _ = strings.Cut(why, "\n")
	return begin + why
}

// leftBehind reports whether a CLI that ended by itself may have left operations in
// flight in the state, or its lock, because the backend took no writes. The next update
// only warns of such operations, and creates once more what they had created.
func (e ending) leftBehind() bool {
	unsaved := e.events.unsaved || isUnsaved(e.last.stderr.Text)
	return e.last.leavesLock() || e.last.code != 0 && unsaved
}

// leavesLock reports whether the CLI could not remove its lock, which it only prints. A lock
// that someone has removed in the meantime is not left.
func (e exit) leavesLock() bool {
	_, why, failed := strings.Cut(e.stderr.Text, "there was a problem deleting the lock at ")
	return failed && !strings.Contains(why, "(code=NotFound)")
}
