// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package sandbox_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ringParams is io_uring_params, with io_sqring_offsets and io_cqring_offsets.
type ringParams struct {
	entries, completions, flags, cpu, idle, features, wq uint32
	reserved                                             [3]uint32
	submission                                           struct {
		head, tail, mask, size, flags, dropped, array, reserved uint32
		address                                                 uint64
	}
	completion struct {
		head, tail, mask, size, overflow, entries, flags, reserved uint32
		address                                                    uint64
	}
}

const (
	ringSetup, ringEnter                   = 425, 426
	ringSubmissions, ringCompletions       = 0, 0x8000000
	ringEntries                            = 0x10000000
	ringOpen                         uint8 = 18 // IORING_OP_OPENAT
	ringWait                               = 1  // IORING_ENTER_GETEVENTS
)

// openWithRing opens a file for reading by io_uring, which is not the system call that opens files.
func openWithRing(path string) error {
	var params ringParams
	fd, _, errno := unix.Syscall(ringSetup, 4, uintptr(unsafe.Pointer(&params)), 0)
	if errno == unix.ENOSYS || errno == unix.EPERM {
		return errors.ErrUnsupported // none in this kernel, or a profile of seccomp forbids it
	}
	if errno != 0 {
		return errno
	}
	ring := int(fd)
	defer func() { _ = unix.Close(ring) }()
	const size = 1 << 12
	submissions, err1 := unix.Mmap(ring, ringSubmissions, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	completions, err2 := unix.Mmap(ring, ringCompletions, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	entries, err3 := unix.Mmap(ring, ringEntries, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err := errors.Join(err1, err2, err3); err != nil {
		return err
	}
	name := append([]byte(path), 0)
	directory := int32(unix.AT_FDCWD)
	entries[0] = ringOpen
	*(*int32)(unsafe.Pointer(&entries[4])) = directory
	*(*uint64)(unsafe.Pointer(&entries[16])) = uint64(uintptr(unsafe.Pointer(&name[0])))
	*(*uint32)(unsafe.Pointer(&submissions[params.submission.array])) = 0 // the first entry of the array
	*(*uint32)(unsafe.Pointer(&submissions[params.submission.tail])) = 1
	if _, _, errno := unix.Syscall6(ringEnter, fd, 1, 1, ringWait, 0, 0); errno != 0 {
		return errno
	}
	// A completion is {data uint64, result int32, flags uint32}.
	result := *(*int32)(unsafe.Pointer(&completions[params.completion.entries+8]))
	if result < 0 {
		return unix.Errno(-result)
	}
	return unix.Close(int(result))
}

// openByHandle opens a file by what it is, and not by its path.
func openByHandle(path string) error {
	handle, _, err := unix.NameToHandleAt(unix.AT_FDCWD, path, 0)
	if err != nil {
		return fmt.Errorf("%w: the file system has no handles: permission denied", err)
	}
	root, err := os.Open("/usr")
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	fd, err := unix.OpenByHandleAt(int(root.Fd()), handle, unix.O_RDONLY)
	if err != nil {
		return err
	}
	return unix.Close(fd)
}

// noneInherited is nil if this process has no file open but its standard ones, and those of the runtime.
func noneInherited() error {
	const own = "/proc/self/fd"
	names, err := os.ReadDir(own)
	if err != nil {
		return err
	}
	var open []error
	for _, name := range names {
		to, err := os.Readlink(filepath.Join(own, name.Name()))
		if err != nil || len(name.Name()) == 1 && name.Name() <= "2" {
			continue
		}
		if !strings.HasPrefix(to, "anon_inode:[event") && !strings.HasPrefix(to, "/proc/") && !strings.HasPrefix(to, "/sys/") {
			open = append(open, fmt.Errorf("%s is open: %s", name.Name(), to))
		}
	}
	return errors.Join(open...)
}
