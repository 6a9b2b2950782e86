// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ThisKernel asks the kernel what it offers. Landlock that is not built in, not enabled or forbidden by
// a seccomp profile counts as none.
func ThisKernel() Kernel {
	abi, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return Kernel{}
	}
	errata, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_ERRATA)
	if errno != 0 {
		errata = 0 // a kernel that does not know the question
	}
	return Kernel{ABI: int(abi), Errata: int(errata)}
}

// WithholdFiles keeps the files that are open from every program that this process starts. Go opens no file for
// them, but what has started this process may have left some to it, and no rule counts for a file that is open.
func WithholdFiles() error {
	const first, last = 3, math.MaxUint32
	if err := unix.CloseRange(first, last, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return fmt.Errorf("keeping open files from the programs of runs: %w", err)
	}
	return nil
}

// Restrict restricts the calling thread, for as long as it lives, and every process that it starts. The
// caller has locked its goroutine to that thread. Foreign rules for what is kept are skipped.
func (k Kernel) Restrict(all []Rule, kept []string) error {
	attr := unix.LandlockRulesetAttr{Handled_access_fs: k.handled(), Scoped: k.scoped()}
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0)
	if errno != 0 {
		return fmt.Errorf("making the sandbox of the run: %w", errno)
	}
	set := int(fd)
	defer func() { _ = unix.Close(set) }() // what is enforced stays
	for _, rule := range all {
		if err := k.add(set, rule, kept); err != nil {
			return fmt.Errorf("making the sandbox of the run: %s: %w", rule.Path, err)
		}
	}
	// Without it, a program with the setuid bit would leave the sandbox.
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("making the sandbox of the run: %w", err)
	}
	// A capability would lead out, if this process has any: those for performance monitoring read the
	// environment of any process. None is gained again.
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	if err := unix.Capset(&header, &none[0]); err != nil {
		return fmt.Errorf("dropping the capabilities of the run: %w", err)
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, 0, 0); errno != 0 {
		return fmt.Errorf("entering the sandbox of the run: %w", errno)
	}
	return nil
}

func (k Kernel) add(set int, rule Rule, kept []string) error {
	fd, err := unix.Open(rule.Path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.EACCES) || errors.Is(err, unix.ELOOP) {
		return nil // the program cannot reach it either
	}
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }() // it was only a name
	if rule.Foreign {
		at, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(fd))
		if err != nil || Overlaps(at, kept) {
			return nil //nolint:nilerr // What is unknown is not allowed.
		}
	}
	var info unix.Stat_t
	if err := unix.Fstat(fd, &info); err != nil {
		return err
	}
	rights := k.rights(rule.Access, info.Mode&unix.S_IFMT == unix.S_IFDIR)
	if rights == 0 {
		return nil
	}
	attr := unix.LandlockPathBeneathAttr{Allowed_access: rights, Parent_fd: int32(fd)}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(set), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&attr)), 0, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}
