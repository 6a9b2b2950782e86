// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// cpuTimes are CPU seconds, of user and system together, by who used them.
type cpuTimes struct {
	// pulumi is that of the CLI and of all that it starts.
	pulumi time.Duration
	// controller is that of the controller's own process.
	controller time.Duration
	// controlPlane is that of etcd and kube-apiserver.
	controlPlane time.Duration
	// other is that of everything else on the machine but this program.
	other time.Duration
}

// reading is the state of all clocks at one moment.
type reading struct {
	cpuTimes
	self, machine time.Duration
}

// since returns what was used between two readings.
func (r reading) since(before reading) cpuTimes {
	used := cpuTimes{
		pulumi:       r.pulumi - before.pulumi,
		controller:   r.controller - before.controller,
		controlPlane: r.controlPlane - before.controlPlane,
	}
	used.other = r.machine - before.machine - (r.self - before.self) - used.pulumi - used.controller - used.controlPlane
	// The clocks tick at different moments.
	used.other = max(0, used.other)
	return used
}

// meter reads the CPU times of the processes of the benchmark.
type meter struct {
	controller   int
	controlPlane []int
}

// newMeter finds the processes of the control plane, which are children of this
// one as the controller is.
func newMeter(controller int) (*meter, error) {
	m := &meter{controller: controller}
	children, err := children()
	if err != nil {
		return nil, err
	}
	for pid, stat := range children {
		if stat.name == "etcd" || stat.name == "kube-apiserver" {
			m.controlPlane = append(m.controlPlane, pid)
		}
	}
	if len(m.controlPlane) != 2 {
		return nil, fmt.Errorf("finding etcd and kube-apiserver: found %d processes of such names", len(m.controlPlane))
	}
	return m, nil
}

// known returns the children that are not orphans.
func (m *meter) known() map[int]bool {
	known := map[int]bool{m.controller: true}
	for _, pid := range m.controlPlane {
		known[pid] = true
	}
	return known
}

// read reads all clocks. What Pulumi used is known from two places: the CLI of
// the controller is in the controller's account of its children, and the bare
// CLI and orphans of either side are in this program's own. No other child of
// this program ends while something is measured.
func (m *meter) read() (reading, error) {
	var r reading
	controller, err := readStat(m.controller)
	if err != nil {
		return r, err
	}
	r.controller, r.pulumi = controller.own, controller.children
	for _, pid := range m.controlPlane {
		stat, err := readStat(pid)
		if err != nil {
			return r, err
		}
		r.controlPlane += stat.own
	}
	var self, reaped unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &self); err != nil {
		return r, fmt.Errorf("reading the CPU time of this program: %w", err)
	}
	if err := unix.Getrusage(unix.RUSAGE_CHILDREN, &reaped); err != nil {
		return r, fmt.Errorf("reading the CPU time of children: %w", err)
	}
	r.self = used(self)
	r.pulumi += used(reaped)
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return r, fmt.Errorf("reading the CPU time of the machine: %w", err)
	}
	r.machine, err = parseMachineStat(string(text))
	return r, err
}

const (
	quietInterval = time.Second
	// quietShare is how much of one CPU others may use on a quiet machine.
	quietShare = 0.1
)

// awaitQuiet waits until the machine has nothing else to do, for as long as the
// options say. What others use during a phase is measured and shown, so a machine
// that does not become quiet is no error.
func (b *bench) awaitQuiet(ctx context.Context, m *meter) error {
	tick := time.NewTicker(quietInterval)
	defer tick.Stop()
	before, err := m.read()
	if err != nil {
		return err
	}
	for deadline := time.Now().Add(b.quiet); time.Now().Before(deadline); {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
		now, err := m.read()
		if err != nil {
			return err
		}
		if now.since(before).other.Seconds() < quietShare*quietInterval.Seconds() {
			return nil
		}
		before = now
	}
	b.say("the machine is not quiet")
	return nil
}

func used(usage unix.Rusage) time.Duration {
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func readStat(pid int) (processStat, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return processStat{}, fmt.Errorf("reading the stat of process %d: %w", pid, err)
	}
	return parseProcessStat(string(text))
}

// readPeak returns the peak resident set of the process.
func readPeak(pid int) (int64, error) { return readMemory(pid, "VmHWM") }

// readResident returns the current resident set of the process.
func readResident(pid int) (int64, error) { return readMemory(pid, "VmRSS") }

func readMemory(pid int, key string) (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, fmt.Errorf("reading the memory of process %d: %w", pid, err)
	}
	return parseKilobytes(string(text), key)
}

// children lists the children of this process.
func children() (map[int]processStat, error) {
	entries, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil, fmt.Errorf("listing processes: %w", err)
	}
	found := map[int]processStat{}
	for _, entry := range entries {
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(entry)))
		if err != nil {
			return nil, fmt.Errorf("listing processes: %w", err)
		}
		// A process may end meanwhile.
		if stat, err := readStat(pid); err == nil && stat.parent == syscall.Getpid() {
			found[pid] = stat
		}
	}
	return found, nil
}
