// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package sandbox

import "golang.org/x/sys/unix"

// OldestABI is the oldest ABI of Landlock that is used, that of Linux 5.19. With the one before it, no
// file could be moved between directories, which package managers and backends do.
const OldestABI = 2

// Kernel is what the kernel offers.
type Kernel struct {
	// ABI is the version of Landlock, 0 for none.
	ABI int
	// Errata has a bit for each fault of that version that this kernel does not have.
	Errata int
}

// Usable reports whether the kernel can restrict a program.
func (k Kernel) Usable() bool { return k.ABI >= OldestABI }

// ScopesSignals reports whether a program can be kept from signalling processes outside of its sandbox.
// A kernel with erratum 2 would also keep the threads of the controller from signalling each other
// while one of them starts a program, which Go's scheduler does.
func (k Kernel) ScopesSignals() bool { return k.ABI >= 6 && k.Errata&(1<<1) != 0 }

// ScopesSockets reports whether a program can be kept from the abstract sockets of others.
func (k Kernel) ScopesSockets() bool { return k.ABI >= 6 }

const (
	readRights = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	fillRights = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE |
		unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	makeRights = unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE | unix.LANDLOCK_ACCESS_FS_MAKE_CHAR |
		unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK |
		unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK | unix.LANDLOCK_ACCESS_FS_MAKE_SYM |
		unix.LANDLOCK_ACCESS_FS_REFER
	// fileRights are those that a rule for a file may have.
	fileRights = unix.LANDLOCK_ACCESS_FS_EXECUTE | fillRights
)

// handled are the rights that nothing has but what a rule gives it.
func (k Kernel) handled() uint64 {
	all := uint64(readRights | fillRights | makeRights)
	if k.ABI < 2 {
		all &^= unix.LANDLOCK_ACCESS_FS_REFER
	}
	if k.ABI < 3 {
		all &^= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	if k.ABI < 5 {
		all &^= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	return all
}

func (k Kernel) scoped() uint64 {
	var scoped uint64
	if k.ScopesSockets() {
		scoped |= unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET
	}
	if k.ScopesSignals() {
		scoped |= unix.LANDLOCK_SCOPE_SIGNAL
	}
	return scoped
}

// rights are those of an access to a directory, or to a file.
func (k Kernel) rights(access Access, isDir bool) uint64 {
	var all uint64
	switch access {
	case Read:
		all = readRights
	case Write:
		all = readRights | fillRights | makeRights
	case Fill:
		all = fillRights
	case List:
		all = unix.LANDLOCK_ACCESS_FS_READ_DIR
	}
	if !isDir {
		all &= fileRights
	}
	return all & k.handled()
}
