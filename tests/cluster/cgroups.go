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

// hierarchies are where cgroups are made: one place for all controllers, or one for each (version 1).
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

// makeCgroups makes the cgroup that all pods will be in, in each hierarchy.
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
		// In version 1 nothing may enter a cgroup before it has these.
		for _, file := range []string{"cpuset.cpus", "cpuset.mems"} {
			inherited, err := os.ReadFile(filepath.Join(place, file))
			if err != nil {
				continue // another controller's
			}
			if err := os.WriteFile(filepath.Join(dir, file), inherited, 0o644); err != nil {
				return fmt.Errorf("setting up a cgroup: %w", err)
			}
		}
	}
	return nil
}

// delegate has the cgroups below a place have its controllers, in version 2. What cannot be had a kubelet tells of.
func delegate(place string) {
	controllers, err := os.ReadFile(filepath.Join(place, "cgroup.controllers"))
	if err != nil {
		return
	}
	for controller := range strings.FieldsSeq(string(controllers)) {
		_ = os.WriteFile(filepath.Join(place, "cgroup.subtree_control"), []byte("+"+controller), 0o644)
	}
}

// removeCgroups removes the cgroup and those in it. Their processes have to be gone.
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
		// Those within come after what they are in.
		for _, dir := range slices.Backward(dirs) {
			if err := os.Remove(dir); err != nil && !errors.Is(err, os.ErrNotExist) {
				return fmt.Errorf("removing a cgroup: %w", err)
			}
		}
	}
	return nil
}
