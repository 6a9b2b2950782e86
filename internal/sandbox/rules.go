// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package sandbox restricts what a process may reach, with Landlock: which files it reads and writes,
// and which processes it signals. The rules are values, and only kernel.go uses the kernel.
// What a run is, and where its files are, must not be known here.
package sandbox

import (
	"path/filepath"
	"slices"
	"strings"
)

// Access is what a rule allows.
type Access int

const (
	// Read allows reading files, executing them, and listing directories.
	Read Access = iota
	// Write allows Read, and everything that changes files and directories.
	Write
	// Fill allows reading and writing what is there, such as a device, but neither creating nor
	// removing files.
	Fill
	// List allows listing directories.
	List
)

// Rule allows access to a file, or to a directory with everything in it. A path that does not exist
// is skipped, and the target of a symbolic link is meant.
type Rule struct {
	Path   string
	Access Access
	// Foreign marks a path that the platform has not chosen: the rule is skipped if the
	// path is, wherever links lead, in a directory that the sandbox keeps, or holds one.
	Foreign bool
}

// Reads are rules that allow Read.
func Reads(paths ...string) []Rule { return rules(Read, paths) }

// Writes are rules that allow Write.
func Writes(paths ...string) []Rule { return rules(Write, paths) }

// Fills are rules that allow Fill.
func Fills(paths ...string) []Rule { return rules(Fill, paths) }

func rules(access Access, paths []string) []Rule {
	made := make([]Rule, 0, len(paths))
	for _, path := range paths {
		if filepath.IsAbs(path) {
			made = append(made, Rule{Path: filepath.Clean(path), Access: access})
		}
	}
	return made
}

// System are the rules for what every program needs of the system. The directories of services and
// their Secrets, /run and /var, are not among them, nor are those that all users share, such as /tmp
// and /dev/shm.
func System() []Rule {
	return slices.Concat(
		Reads("/usr", "/lib", "/lib32", "/lib64", "/libx32", "/bin", "/sbin", "/opt", "/etc", "/proc", "/sys",
			// They may be links to elsewhere.
			"/etc/resolv.conf", "/etc/hosts", "/etc/localtime"),
		Fills("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"),
	)
}

// Allowed returns the access that rules give to a path by its name, and whether there is any. Symbolic
// links are not followed.
func Allowed(all []Rule, path string) (Access, bool) {
	found, ok := Read, false
	for _, rule := range all {
		if !Within(path, rule.Path) {
			continue
		}
		if !ok || rule.Access == Write || (rule.Access == Fill && found == Read) {
			found = rule.Access
		}
		ok = true
	}
	return found, ok
}

// Overlaps reports whether a path is in one of the directories, or holds one, by their names.
func Overlaps(path string, dirs []string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool { return Within(path, dir) || Within(dir, path) })
}

// Within reports whether a path is a directory, or in it, by its name.
func Within(path, dir string) bool {
	path, dir = filepath.Clean(path), filepath.Clean(dir)
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}
