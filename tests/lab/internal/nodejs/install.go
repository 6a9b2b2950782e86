// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package nodejs

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"

	"github.com/pulumi/pulumi/sdk/v3/go/common/util/rpcutil"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"

	"github.com/flux-pulumi/pulumi-controller/tests/lab/internal/langhost"
)

// InstallDependencies has the package manager of the program install its dependencies.
func (h *Host) InstallDependencies(
	req *pulumirpc.InstallDependenciesRequest, server pulumirpc.LanguageRuntime_InstallDependenciesServer,
) error {
	closer, stdout, stderr, err := rpcutil.MakeInstallDependenciesStreams(server, req.GetIsTerminal())
	if err != nil {
		return err
	}
	root := installRoot(req.Info.GetProgramDirectory())
	manager := packageManager(optionsOf(req.Info).packageManager, root)
	args := []string{"install"}
	if manager == "npm" {
		args = append(args, "--loglevel=error")
	}
	if err := langhost.Tool(server.Context(), stdout, stderr, root, manager, args...); err != nil {
		return errors.Join(err, closer.Close()) // the tool has said why
	}
	return closer.Close()
}

// packageManager is the one that the project names, or that of a lock file in the directory.
func packageManager(given, dir string) string {
	if given != "" && given != "auto" {
		return given
	}
	for _, lock := range []struct{ file, manager string }{
		{"yarn.lock", "yarn"}, {"pnpm-lock.yaml", "pnpm"}, {"bun.lock", "bun"},
	} {
		if exists(filepath.Join(dir, lock.file)) {
			return lock.manager
		}
	}
	return "npm"
}

// installRoot is the root of the workspace that the directory of a program is in. If it is in none, that is the directory
// of its package.json.
func installRoot(dir string) string {
	var manifest string
	for parent := dir; ; parent = filepath.Dir(parent) {
		found := exists(filepath.Join(parent, "package.json"))
		if manifest == "" && found {
			manifest = parent
		}
		if found && isWorkspace(parent) {
			return parent
		}
		if parent == filepath.Dir(parent) {
			break
		}
	}
	if manifest == "" {
		return dir
	}
	return manifest
}

// isWorkspace reports whether the directory is the root of a workspace of pnpm, or of the other package managers.
func isWorkspace(dir string) bool {
	if exists(filepath.Join(dir, "pnpm-workspace.yaml")) {
		return true
	}
	text, err := os.ReadFile(filepath.Join(dir, "package.json"))
	if err != nil {
		return false
	}
	var manifest struct{ Workspaces json.RawMessage }
	return json.Unmarshal(text, &manifest) == nil && manifest.Workspaces != nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
