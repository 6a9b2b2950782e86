// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package system

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/flux-pulumi/pulumi-controller/tests/process"
)

// sandboxArgs has local runs in a sandbox where the kernel has Landlock, so that every test that uses a system proves that what
// it does works in it. A flag that follows takes precedence, and more paths are added to these.
func (s *System) sandboxArgs() ([]string, error) {
	programs, err := linkedPrograms()
	if err != nil {
		return nil, err
	}
	return []string{
		"--sandbox=auto",
		"--sandbox-read-paths=" + strings.Join(slices.Concat(programs, s.options.ReadPaths), ","),
		"--sandbox-write-paths=" + strings.Join(append([]string{s.Path("clouds")}, s.options.WritePaths...), ","),
	}, nil
}

// linkedPrograms are those to which the directories of Pulumi and of its plugins have links, where the links end.
func linkedPrograms() ([]string, error) {
	var programs []string
	for _, name := range []string{"pulumi", "pulumi-language-yaml"} {
		path, err := process.FindBin(name)
		if err != nil {
			return nil, err
		}
		programs = append(programs, path)
	}
	path, err := process.FindBin("pulumi-controller")
	if err != nil {
		return nil, err
	}
	lab, err := filepath.Glob(filepath.Join(filepath.Dir(path), "lab", "pulumi-*"))
	if err != nil {
		return nil, err
	}
	programs = append(programs, lab...)
	for i, link := range programs {
		if programs[i], err = filepath.EvalSymlinks(link); err != nil {
			return nil, fmt.Errorf("looking for a program: %w", err)
		}
	}
	return programs, nil
}
