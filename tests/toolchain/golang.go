// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package toolchain

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/flux-pulumi/pulumi-controller/tests/process"
	"github.com/flux-pulumi/pulumi-controller/tests/sources"
)

// GoEnvironment lets programs in Go use the modules and the compiled packages of this machine, and no network.
func GoEnvironment() map[string]string {
	env := map[string]string{"GOPROXY": "off", "GOTOOLCHAIN": "local", "CGO_ENABLED": "0"}
	for _, name := range []string{"GOMODCACHE", "GOCACHE"} {
		if path, err := exec.Command("go", "env", name).Output(); err == nil {
			env[name] = strings.TrimSpace(string(path))
		}
	}
	return env
}

// GoDownloads is the directory with the modules that this machine has downloaded, as a proxy serves them.
func GoDownloads() string { return filepath.Join(GoEnvironment()["GOMODCACHE"], "cache", "download") }

// GoModule has the go.mod and the go.sum of a program with the requirements of tests/lab, which has the SDK: all of its
// modules are there.
func GoModule() (sources.Files, error) {
	root, err := process.RepoRoot()
	if err != nil {
		return nil, err
	}
	module := sources.Files{}
	for _, file := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(filepath.Join(root, "tests", "lab", file))
		if err != nil {
			return nil, fmt.Errorf("reading the requirements of a program in Go: %w", err)
		}
		module[file] = string(text)
	}
	module["go.mod"] = regexp.MustCompile(`(?m)^module .*$`).ReplaceAllString(module["go.mod"], "module app")
	return module, nil
}
