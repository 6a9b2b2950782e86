// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"strconv"
	"strings"
)

// instance tells a process from all others that a host has had.
type instance struct {
	hostProcess
	// namespace is the PID namespace that the number is of: two containers of one
	// host name may each have a process of that number.
	namespace string
	// lock is the file that the process has locked, <device>:<inode>: of those that
	// are in use at a time, each on a machine has another. Empty proves nothing.
	lock string
}

// hostProcess is one of this machine: a number is used again, but not by two that were
// started at the same tick of the same boot.
type hostProcess struct {
	boot  string
	pid   int
	start string
}

func (i instance) String() string {
	return fmt.Sprintf("%s/%d/%s/%s/%s", i.boot, i.pid, i.start, i.namespace, i.lock)
}

func parseInstance(text string) (instance, error) {
	parts := strings.Split(text, "/")
	const count = 5
	if len(parts) != count {
		return instance{}, fmt.Errorf("%q has %d parts: it is no instance of this version", text, len(parts))
	}
	pid, err := strconv.Atoi(parts[1])
	if err != nil {
		return instance{}, fmt.Errorf("%q has no number of a process: %w", text, err)
	}
	return instance{hostProcess{parts[0], pid, parts[2]}, parts[3], parts[4]}, nil
}
