// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"debug/buildinfo"
	"debug/elf"
	"fmt"
	"os"
	"path"
	"path/filepath"
)

// program is one of our programs, by name and main package.
type program struct{ name, pkg string }

// entry checks the program and returns its entry. Programs in the image must be built
// from modules that go.sum vouches for. A link, as to an installed program, is refused.
func (p program) entry(o options) (entry, error) {
	file := filepath.Join(o.bin, p.name)
	if err := p.check(file, o.arch); err != nil {
		return entry{}, fmt.Errorf("%s cannot be packed: %w", file, err)
	}
	return entry{path: path.Join("usr/local/bin", p.name), mode: 0o755, source: file}, nil
}

func (p program) check(file, arch string) error {
	info, err := os.Lstat(file)
	if err != nil {
		return fmt.Errorf("it has to be built before: %w", err)
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("it is no file of its own but %s: remove it and build again", info.Mode().Type())
	}
	build, err := buildinfo.ReadFile(file)
	if err != nil {
		return fmt.Errorf("failed to read what it is built from: %w", err)
	}
	if build.Path != p.pkg {
		return fmt.Errorf("it is built from %s, not from %s", build.Path, p.pkg)
	}
	for _, setting := range build.Settings {
		if setting.Key == "GOARCH" && setting.Value != arch {
			return fmt.Errorf("it is built for %s, not for %s", setting.Value, arch)
		}
	}
	return static(file)
}

// static checks that the program needs no shared library: the image has none.
func static(file string) error {
	program, err := elf.Open(file)
	if err != nil {
		return err
	}
	defer func() { _ = program.Close() }() // read only
	for _, part := range program.Progs {
		if part.Type == elf.PT_INTERP {
			return fmt.Errorf("it is linked dynamically: build it with CGO_ENABLED=0")
		}
	}
	return nil
}
