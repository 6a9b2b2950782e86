// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// hierarchies returns the directories in which to create cgroups: one for all
// controllers, or one for each (version 1).
func hierarchies() ([]string, error) {
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		return nil, err
	}
	var places []string
	for line := range strings.Lines(string(mounts)) {
		fields := strings.Fields(line)
		if len(fields) > 2 && (fields[2] == "cgroup" || fields[2] == "cgroup2") && !slices.Contains(places, fields[1]) {
			places = append(places, fields[1])
		}
	}
	if len(places) == 0 {
		return nil, errors.New("no cgroups are mounted")
	}
	return places, nil
}

// makeCgroups creates the parent cgroup of all pods, in each hierarchy.
func makeCgroups(name string) error {
	places, err := hierarchies()
	if err != nil {
		return err
	}
	for _, place := range places {
		delegate(place)
		dir := filepath.Join(place, name)
		if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
			return fmt.Errorf("making a cgroup: %w", err)
		}
		// In version 1 no process can enter a cgroup before these are set.
		for _, file := range []string{"cpuset.cpus", "cpuset.mems"} {
			inherited, err := os.ReadFile(filepath.Join(place, file))
			if err != nil {
				continue // another controller's hierarchy
			}
			if err := os.WriteFile(filepath.Join(dir, file), inherited, 0o644); err != nil {
				return fmt.Errorf("setting up a cgroup: %w", err)
			}
		}
	}
	return nil
}

// delegate enables the controllers of a cgroup for its children, in version 2. It ignores
// errors, because a kubelet reports what it lacks.
func delegate(place string) {
	controllers, err := os.ReadFile(filepath.Join(place, "cgroup.controllers"))
	if err != nil {
		return
	}
	for controller := range strings.FieldsSeq(string(controllers)) {
		_ = os.WriteFile(filepath.Join(place, "cgroup.subtree_control"), []byte("+"+controller), 0o644)
	}
}

// removeCgroups removes the cgroup and its children. They must not have any processes.
func removeCgroups(name string) error {
	places, err := hierarchies()
	if err != nil {
		return err
	}
	for _, place := range places {
		var dirs []string
		err := filepath.WalkDir(filepath.Join(place, name), func(path string, entry fs.DirEntry, err error) error {
			if err != nil && !errors.Is(err, os.ErrNotExist) {
				return err
			}
			if err == nil && entry.IsDir() {
				dirs = append(dirs, path)
			}
			return nil
		})
		if err != nil {
			return err
		}
		// Children come after their parents.
		for _, dir := range slices.Backward(dirs) {
			if err := os.Remove(dir); err != nil && !errors.Is(err, os.ErrNotExist) {
				return fmt.Errorf("removing a cgroup: %w", err)
			}
		}
	}
	return nil
}
