// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package toolchain makes an image for programs in TypeScript, JavaScript, Go and Python out of what this machine has: Node.js,
// npm, Go, the hosts of tests/lab, and the SDKs of Pulumi with a registry that serves them. The tests of programs and the
// benchmark use it, so it must not import testing, and it knows nothing of Stacks.
package toolchain

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/flux-pulumi/pulumi-controller/tests/process"
)

// WriteImage fills a directory with what an image for programs in these languages has on its PATH: Pulumi, the hosts beside
// it, the languages and their package managers. What this machine lacks is left out.
func WriteImage(dir string) error {
	pulumi, err := process.FindBin("pulumi")
	if err != nil {
		return err
	}
	// Pulumi warns of hosts that are not beside its program, wherever a link to it is.
	if err := linkOrCopy(pulumi, filepath.Join(dir, "pulumi")); err != nil {
		return fmt.Errorf("installing pulumi: %w", err)
	}
	for _, host := range []string{"pulumi-language-yaml", "lab/pulumi-language-nodejs", "lab/pulumi-language-go", "lab/pulumi-language-python"} {
		path, err := process.FindBin(filepath.FromSlash(host))
		if err != nil {
			return err
		}
		if err := linkOrCopy(path, filepath.Join(dir, filepath.Base(path))); err != nil {
			return fmt.Errorf("installing %s: %w", host, err)
		}
	}
	for _, tool := range []string{"node", "npm", "go"} {
		path, err := exec.LookPath(tool)
		if err != nil {
			continue
		}
		if err := os.Symlink(path, filepath.Join(dir, tool)); err != nil {
			return err
		}
	}
	sdk, err := NodeModules()
	if err != nil {
		return nil // no packages of npm
	}
	for name, path := range map[string]string{
		"pulumi-resource-pulumi-nodejs": "@pulumi/pulumi/pulumi-resource-pulumi-nodejs", "pnpm": "pnpm/bin/pnpm.cjs",
	} {
		if err := os.Symlink(filepath.Join(sdk, filepath.FromSlash(path)), filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return nil
}

// NodeModules is the node_modules that `make bin/nodejs` installs.
func NodeModules() (string, error) {
	root, err := process.RepoRoot()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(root, "bin", "nodejs", "node_modules")
	return filepath.EvalSymlinks(dir)
}

// Installed are the directories of what is in the image, beside those of the system.
func Installed() []string {
	dirs := []string{GoEnvironment()["GOMODCACHE"]}
	if sdk, err := NodeModules(); err == nil {
		dirs = append(dirs, sdk)
	}
	if root, err := exec.Command("go", "env", "GOROOT").Output(); err == nil {
		dirs = append(dirs, strings.TrimSpace(string(root)))
	}
	return dirs
}

// linkOrCopy makes a program appear at another path, as a file of its own.
func linkOrCopy(from, to string) error {
	from, err := filepath.EvalSymlinks(from)
	if err != nil {
		return err
	}
	if os.Link(from, to) == nil {
		return nil
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
