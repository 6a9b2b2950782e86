// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package python

import (
	"cmp"
	"os"
	"path/filepath"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
)

// project is what decides how the dependencies of a program are installed.
type project struct {
	dir       string
	toolchain string
	// virtualenv is the directory of the virtual environment.
	virtualenv string
}

func projectOf(info *pulumirpc.ProgramInfo) project {
	given := info.GetOptions().AsMap()
	text := func(name string) string {
		value, _ := given[name].(string)
		return value
	}
	p := project{dir: info.GetProgramDirectory(), toolchain: text("toolchain")}
	p.virtualenv = filepath.Join(info.GetRootDirectory(), cmp.Or(text("virtualenv"), ".venv"))
	for _, lock := range []string{"uv", "poetry"} {
		if p.toolchain == "" && exists(filepath.Join(p.dir, lock+".lock")) {
			p.toolchain = lock
		}
	}
	return p
}

func (p project) python() string { return filepath.Join(p.virtualenv, "bin", "python") }

// commands install the dependencies.
func (p project) commands() [][]string {
	switch p.toolchain {
	case "uv":
		return [][]string{{"uv", "sync"}}
	case "poetry":
		return [][]string{{"poetry", "install", "--no-ansi"}}
	}
	pip := []string{p.python(), "-m", "pip", "install"}
	all := [][]string{{"python3", "-m", "venv", p.virtualenv}, append(pip[:len(pip):len(pip)], "--upgrade", "pip", "setuptools", "wheel")}
	if exists(filepath.Join(p.dir, "requirements.txt")) {
		all = append(all, append(pip[:len(pip):len(pip)], "-r", "requirements.txt"))
	}
	return all
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
