// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"fmt"
	"testing"

	. "github.com/onsi/gomega"
	"golang.org/x/sys/unix"
)

const fixed = 1 << 1 // the erratum of threads is not in this kernel

func TestWhatEachABIOffers(t *testing.T) {
	const (
		first    = 1<<13 - 1 // the rights of ABI 1
		refer    = unix.LANDLOCK_ACCESS_FS_REFER
		truncate = unix.LANDLOCK_ACCESS_FS_TRUNCATE
		ioctl    = unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
		sockets  = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET
		signals  = unix.LANDLOCK_SCOPE_SIGNAL
	)
	for _, c := range []struct {
		kernel  Kernel
		usable  bool
		handled uint64
		scoped  uint64
	}{
		{Kernel{}, false, first, 0},
		{Kernel{ABI: 1}, false, first, 0},
		{Kernel{ABI: 2}, true, first | refer, 0},
		{Kernel{ABI: 3}, true, first | refer | truncate, 0},
		{Kernel{ABI: 4}, true, first | refer | truncate, 0}, // that of the network is not used
		{Kernel{ABI: 5}, true, first | refer | truncate | ioctl, 0},
		{Kernel{ABI: 5, Errata: fixed}, true, first | refer | truncate | ioctl, 0},
		{Kernel{ABI: 6}, true, first | refer | truncate | ioctl, sockets},
		{Kernel{ABI: 6, Errata: 1}, true, first | refer | truncate | ioctl, sockets},
		{Kernel{ABI: 6, Errata: fixed}, true, first | refer | truncate | ioctl, sockets | signals},
		{Kernel{ABI: 7, Errata: fixed}, true, first | refer | truncate | ioctl, sockets | signals},
		{Kernel{ABI: 99, Errata: 0xff}, true, first | refer | truncate | ioctl, sockets | signals},
	} {
		t.Run(fmt.Sprintf("%+v", c.kernel), func(t *testing.T) {
			g := NewWithT(t)
			g.Expect(c.kernel.Usable()).To(Equal(c.usable))
			g.Expect(c.kernel.Missing() == "").To(Equal(c.usable))
			g.Expect(c.kernel.handled()).To(Equal(c.handled))
			g.Expect(c.kernel.scoped()).To(Equal(c.scoped))
		})
	}
}

func TestTheRightsOfEachAccess(t *testing.T) {
	const (
		execute, writeFile, readFile, readDir = 1, 1 << 1, 1 << 2, 1 << 3
		change                                = 1<<13 - 1<<4 // removing and making
		refer, truncate, ioctl                = 1 << 13, 1 << 14, 1 << 15
	)
	for abi := 1; abi <= 7; abi++ {
		k, has := Kernel{ABI: abi}, func(right uint64, since int) uint64 {
			if abi < since {
				return 0
			}
			return right
		}
		later := has(truncate, 3) | has(ioctl, 5)
		for _, c := range []struct {
			access    Access
			dir, file uint64
		}{
			{Read, execute | readFile | readDir, execute | readFile},
			{Write, execute | writeFile | readFile | readDir | change | has(refer, 2) | later, execute | writeFile | readFile | later},
			{Fill, writeFile | readFile | later, writeFile | readFile | later},
			{List, readDir, 0},
		} {
			g := NewWithT(t)
			g.Expect(k.rights(c.access, true)).To(Equal(c.dir), "ABI %d, access %d, a directory", abi, c.access)
			g.Expect(k.rights(c.access, false)).To(Equal(c.file), "ABI %d, access %d, a file", abi, c.access)
		}
	}
}

func TestWhatRulesAllow(t *testing.T) {
	all := append(Reads("/usr", "/data/own"), Writes("/data/own/workspace")...)
	all = append(append(all, Fills("/dev/null", "/data/own/events")...), Rule{Path: "/states", Access: List})
	for path, want := range map[string]string{
		"/usr": "read", "/usr/bin/x": "read", "/usr/../etc": "", "/usrx": "", "/": "", "/data": "", "/data/own": "read",
		"/data/own/workspace/a": "write", "/data/own/workspacex": "read", "/data/own/events": "fill", "/dev/null": "fill", "/dev/null2": "",
		"/states/a": "list",
	} {
		access, ok := Allowed(all, path)
		got := ""
		if ok {
			got = map[Access]string{Read: "read", Write: "write", Fill: "fill", List: "list"}[access]
		}
		NewWithT(t).Expect(got).To(Equal(want), path)
	}
	NewWithT(t).Expect(Reads("relative", "")).To(BeEmpty(), "only absolute paths are rules")
}
