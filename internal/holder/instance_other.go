// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package holder

import (
	"fmt"
	"runtime"
)

// The read-only commands run on any platform, the controller on Linux only.

func thisInstance(string) (instance, error) {
	return instance{}, fmt.Errorf("cannot identify a process on %s: run the controller on Linux", runtime.GOOS)
}

// isGone proves nothing.
func (p hostProcess) isGone() (gone, proven bool) { return false, false }
