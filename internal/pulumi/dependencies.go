// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"os"
	"os/exec"
	"path"
	"path/filepath"
)

// programFiles are the files and directories that decide how dependencies are installed.
// Package managers look for most of them in the parent directories too.
func programFiles() []string {
	return []string{
		"package.json", "package.yaml", "node_modules", sdkModule,
		"package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock", "bun.lockb",
		"requirements.txt", "uv.lock", "poetry.lock",
		"go.mod", "go.sum", "go.work", "go.work.sum", "vendor/modules.txt",
	}
}

// sdkModule is what the Node.js host needs to start a program.
const sdkModule = "node_modules/@pulumi/pulumi"

// sourced is what the workspace has for the installation of the dependencies, and its
// machine.
type sourced struct {
	// dir is the directory of the program, relative to the workspace.
	dir string
	// nearest are the paths of the programFiles that exist in dir or the nearest of its
	// parents, relative to the workspace.
	nearest map[string]string
	// tools are the language tools that are on the PATH of the run.
	tools map[string]bool
	// sdk is set if the image has the SDK for Node.js in a parent of the workspace.
	sdk bool
}

// languageTools are the commands whose presence decides how dependencies are installed.
func languageTools() []string { return []string{"npm", "yarn", "pnpm", "bun", "go"} }

// survey finds out what the workspace has. It follows nothing out of the workspace.
func survey(root *os.Root, project, main string, toolPath []string) sourced {
	dir, err := programDir(root, project, main)
	if err != nil {
		dir = project // Pulumi reports what is wrong with main
	}
	seen := sourced{dir: dir, nearest: map[string]string{}, tools: map[string]bool{}}
	for _, name := range programFiles() {
		seen.nearest[name] = nearest(root, seen.dir, name)
	}
	for _, name := range languageTools() {
		seen.tools[name] = findTool(name, toolPath) != ""
	}
	for dir := filepath.Dir(root.Name()); !seen.sdk; dir = filepath.Dir(dir) {
		_, err := os.Stat(filepath.Join(dir, sdkModule))
		seen.sdk = err == nil
		if dir == filepath.Dir(dir) {
			break
		}
	}
	return seen
}

// nearest is the path of what has the name in the directory or the nearest of its parents,
// empty if there is none.
func nearest(root *os.Root, dir, name string) string {
	for ; ; dir = path.Dir(dir) {
		if _, err := root.Stat(path.Join(dir, name)); err == nil {
			return path.Join(dir, name)
		}
		if dir == "." {
			return ""
		}
	}
}

// findTool returns the path of a command, empty if it is missing.
func findTool(name string, toolPath []string) string {
	for _, dir := range toolPath {
		if file, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return file
		}
	}
	return ""
}
