// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of CPU time in /proc. The kernel gives 100 a second to
// programs whatever its own is (proc(5), USER_HZ).
const tick = time.Second / 100

// processStat is the part of /proc/<pid>/stat that is needed here.
type processStat struct {
	name   string
	state  string
	parent int
	// own is the CPU time of the process, children that of its descendants that
	// have ended and been waited for.
	own, children time.Duration
}

// parseProcessStat reads /proc/<pid>/stat.
func parseProcessStat(text string) (processStat, error) {
	// The name is in brackets and may hold brackets and spaces itself.
	open, end := strings.IndexByte(text, '('), strings.LastIndexByte(text, ')')
	if open < 0 || end < open {
		return processStat{}, errors.New("reading the stat of a process: it has no name")
	}
	fields := strings.Fields(text[end+1:])
	// proc(5) numbers the fields from 1, and the first after the name is 3.
	const first, state, parent, utime, stime, cutime, cstime = 3, 3, 4, 14, 15, 16, 17
	if len(fields) <= cstime-first {
		return processStat{}, fmt.Errorf("reading the stat of a process: it has only %d fields after the name", len(fields))
	}
	numbers := map[int]int64{}
	for _, field := range []int{parent, utime, stime, cutime, cstime} {
		number, err := strconv.ParseInt(fields[field-first], 10, 64)
		if err != nil {
			return processStat{}, fmt.Errorf("reading field %d of the stat of a process: %w", field, err)
		}
		numbers[field] = number
	}
	return processStat{
		name:     text[open+1 : end],
		state:    fields[state-first],
		parent:   int(numbers[parent]),
		own:      time.Duration(numbers[utime]+numbers[stime]) * tick,
		children: time.Duration(numbers[cutime]+numbers[cstime]) * tick,
	}, nil
}

// parseMachineStat reads the CPU time that the machine did not idle, from
// /proc/stat. Time that the machine's own host took away is part of it: it was
// not there for the benchmark either.
func parseMachineStat(text string) (time.Duration, error) {
	line, _, _ := strings.Cut(text, "\n")
	fields := strings.Fields(line)
	// cpu user nice system idle iowait irq softirq steal guest guest_nice; a
	// guest's time is in user already.
	const name, idle, iowait, steal = 0, 4, 5, 8
	if len(fields) <= steal || fields[name] != "cpu" {
		return 0, fmt.Errorf("reading the CPU times of the machine: unexpected line %q", line)
	}
	var busy int64
	for i := name + 1; i <= steal; i++ {
		if i == idle || i == iowait {
			continue
		}
		number, err := strconv.ParseInt(fields[i], 10, 64)
		if err != nil {
			return 0, fmt.Errorf("reading the CPU times of the machine: %w", err)
		}
		busy += number
	}
	return time.Duration(busy) * tick, nil
}

// parseKilobytes reads a line such as "VmHWM:  123 kB", of /proc/<pid>/status
// or /proc/meminfo, and returns bytes.
func parseKilobytes(text, key string) (int64, error) {
	for line := range strings.Lines(text) {
		value, found := strings.CutPrefix(line, key+":")
		if !found {
			continue
		}
		number, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(value), "kB")), 10, 64)
		if err != nil {
			return 0, fmt.Errorf("reading %s: %w", key, err)
		}
		return number << 10, nil
	}
	return 0, fmt.Errorf("reading %s: there is no such line", key)
}

// parseModel reads the model of the first CPU in /proc/cpuinfo.
func parseModel(text string) string {
	for line := range strings.Lines(text) {
		key, value, found := strings.Cut(line, ":")
		if found && strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "unknown CPU"
}
