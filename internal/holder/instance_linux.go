// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package holder

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/prometheus/procfs"
)

// thisInstance returns this process, which has locked the file at that path, if any.
func thisInstance(lock string) (instance, error) {
	self, err := processOf(os.Getpid())
	if err != nil {
		return instance{}, err
	}
	namespace, err := os.Stat("/proc/self/ns/pid")
	if err != nil {
		return instance{}, err
	}
	_, number, err := inode(namespace)
	if err != nil {
		return instance{}, err
	}
	here := instance{hostProcess: self, namespace: strconv.FormatUint(number, 10)}
	if lock == "" {
		return here, nil
	}
	file, err := os.Stat(lock)
	if err != nil {
		return instance{}, err
	}
	device, locked, err := inode(file)
	if err != nil {
		return instance{}, err
	}
	here.lock = fmt.Sprintf("%d:%d", device, locked)
	return here, nil
}

func inode(file os.FileInfo) (device, number uint64, err error) {
	stat, ok := file.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, fmt.Errorf("%s has no inode", file.Name())
	}
	return uint64(stat.Dev), stat.Ino, nil //nolint:unconvert // The type differs between platforms.
}

// processOf reads which process has the PID now.
func processOf(pid int) (hostProcess, error) {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return hostProcess{}, err
	}
	process, err := procfs.NewProc(pid)
	if err != nil {
		return hostProcess{}, err
	}
	stat, err := process.Stat()
	if err != nil {
		return hostProcess{}, err
	}
	return hostProcess{strings.TrimSpace(string(boot)), pid, strconv.FormatUint(stat.Starttime, 10)}, nil
}

// isGone looks up a process of this boot and this PID namespace.
func (p hostProcess) isGone() (gone, proven bool) {
	now, err := processOf(p.pid)
	if os.IsNotExist(err) {
		return true, true
	}
	return err == nil && now != p, err == nil
}
