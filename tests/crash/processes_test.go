// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package crash

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	. "github.com/onsi/gomega"
)

// processes returns the PIDs of this Stack's runs, of one program or, if name is empty,
// of all. A run has the backend of its Stack in its environment.
func (u *subject) processes(name string) []int {
	environs, err := filepath.Glob("/proc/[0-9]*/environ")
	u.Expect(err).NotTo(HaveOccurred())
	mark := []byte("PULUMI_BACKEND_URL=file://" + u.backend() + "?")
	var found []int
	for _, environ := range environs {
		dir := filepath.Dir(environ)
		// The name first: on a busy machine with many processes, reading the environment of each takes seconds.
		comm, err := os.ReadFile(filepath.Join(dir, "comm"))
		if err != nil || (name != "" && strings.TrimSpace(string(comm)) != kept(name)) {
			continue
		}
		text, err := os.ReadFile(environ)
		if err != nil || !bytes.Contains(text, mark) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(dir)); err == nil {
			found = append(found, pid)
		}
	}
	return found
}

// kept returns the part of a program's name that the kernel keeps: 15 bytes.
func kept(name string) string {
	const bytes = 15
	return name[:min(len(name), bytes)]
}

// killAll kills the processes that processes returns.
func (u *subject) killAll(name string) int { return kill(u.processes(name)) }

// kill returns the number of processes that it killed.
func kill(pids []int) int {
	killed := 0
	for _, pid := range pids {
		if syscall.Kill(pid, syscall.SIGKILL) == nil {
			killed++
		}
	}
	return killed
}
