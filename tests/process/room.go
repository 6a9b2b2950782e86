// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"bufio"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// Room says how much is left of the disk that has the path, and of the memory of the machine: without either, processes end
// or hang.
func Room(path string) string { return disk(path) + ", " + memory() }

func disk(path string) string {
	var stat unix.Statfs_t
	if err := unix.Statfs(path, &stat); err != nil {
		return fmt.Sprintf("the disk of %s: %v", path, err)
	}
	full := ""
	if stat.Bavail == 0 || stat.Files > 0 && stat.Ffree == 0 {
		full = " (the disk is full)"
	}
	block := uint64(stat.Bsize)
	return fmt.Sprintf("of the disk of %s, %s of %s and %d of %d inodes are free%s",
		path, gibibytes(stat.Bavail*block), gibibytes(stat.Blocks*block), stat.Ffree, stat.Files, full)
}

func memory() string {
	file, err := os.Open("/proc/meminfo")
	if err != nil {
		return fmt.Sprintf("the memory: %v", err)
	}
	defer func() { _ = file.Close() }()
	kibibytes := map[string]uint64{}
	for lines := bufio.NewScanner(file); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), ":")
		var number uint64
		if _, err := fmt.Sscan(value, &number); err == nil {
			kibibytes[name] = number
		}
	}
	return fmt.Sprintf("%s of %s of memory are available", gibibytes(kibibytes["MemAvailable"]<<10), gibibytes(kibibytes["MemTotal"]<<10))
}

func gibibytes(bytes uint64) string { return fmt.Sprintf("%.1f GiB", float64(bytes)/(1<<30)) }
