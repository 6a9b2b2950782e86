// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package holder

import (
	"fmt"
	"strconv"
	"strings"
)

// instance distinguishes a process from all others that a host has had.
type instance struct {
	hostProcess
	// namespace is the PID namespace: two containers with the same host name may each
	// have a process with the same PID.
	namespace string
	// lock is the file that the process has locked, <device>:<inode>. No two processes
	// that run on a machine at the same time have the same. Empty proves nothing.
	lock string
}

// hostProcess is a process of this machine. A PID is reused, but not within one tick of
// one boot.
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
