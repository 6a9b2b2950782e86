// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"fmt"
	"slices"
)

// Sandbox is the one that every run of a controller gets, beside the rules for its own files.
type Sandbox struct {
	Kernel Kernel
	// Rules are those of every run.
	Rules []Rule
	// Own are the directories of the controller, without links, which nobody can name for a run.
	Own []string
}

// New returns the sandbox of a controller. Programs read and write what the platform lists, and nothing
// in own but the directories of their run.
func New(kernel Kernel, read, write, own []string) *Sandbox {
	return &Sandbox{Kernel: kernel, Rules: slices.Concat(System(), Reads(read...), Writes(write...)), Own: own}
}

// kept are the directories, without links, that a Stack cannot name for its run: the platform can name
// those of the system.
func (s *Sandbox) kept() []string {
	return slices.Concat([]string{"/bin", "/boot", "/dev", "/etc", "/lib", "/opt", "/proc", "/run", "/sbin", "/sys", "/usr"}, s.Own)
}

// For returns the rules of a run, of which own are those for its own files.
func (s *Sandbox) For(own []Rule) []Rule { return slices.Concat(s.Rules, own) }

// Restrict returns what restricts the thread that calls it: nil, for a nil Sandbox.
func (s *Sandbox) Restrict(own []Rule) func() error {
	if s == nil {
		return nil
	}
	return func() error { return s.Kernel.Restrict(s.For(own), s.kept()) }
}

// Missing says what the kernel lacks for a complete sandbox, "" for nothing.
func (k Kernel) Missing() string {
	switch {
	case k.ABI == 0:
		return "the kernel has no Landlock, or a seccomp profile forbids it"
	case !k.Usable():
		return fmt.Sprintf("the Landlock of the kernel is too old: it has ABI %d, and needs %d, that of Linux 5.19", k.ABI, OldestABI)
	}
	return ""
}
