// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package toolchain

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/flux-pulumi/pulumi-controller/tests/sources"
)

// lock is a package-lock.json.
type lock struct {
	Name            string                    `json:"name"`
	LockfileVersion int                       `json:"lockfileVersion"`
	Requires        bool                      `json:"requires"`
	Packages        map[string]map[string]any `json:"packages"`
}

// PublishSDK adds the packages of bin/nodejs. It returns the manifest and the lock file of a program that has Pulumi's
// package and the compiler of them, with the settings of npm for this registry.
func (r *Registry) PublishSDK() (sources.Files, error) {
	sdk, err := NodeModules()
	if err != nil {
		return nil, err
	}
	dir := filepath.Dir(sdk)
	all, err := readLock(filepath.Join(dir, "package-lock.json"))
	if err != nil {
		return nil, err
	}
	all.Packages[""] = map[string]any{
		"name": "app", "main": "index.ts",
		"dependencies": map[string]string{"@pulumi/pulumi": "3.270.0", "@types/node": "22.19.1", "typescript": "5.9.3"},
	}
	for place, locked := range all.Packages {
		if place == "node_modules/pnpm" || place == "node_modules/@pulumi/policy" {
			delete(all.Packages, place) // they need no other package, and none needs them: they are only offered
		}
		if place == "" {
			continue
		}
		if err := r.offerInstalled(dir, place, locked); err != nil {
			return nil, fmt.Errorf("offering %s: %w", place, err)
		}
	}
	delete(all.Packages, "node_modules/@pulumi/random") // which only those who ask for it get
	manifest, err := json.Marshal(all.Packages[""])
	if err != nil {
		return nil, err
	}
	locked, err := json.MarshalIndent(all, "", "  ")
	return sources.Files{"package.json": string(manifest), "package-lock.json": string(locked), ".npmrc": r.NPMRC()}, err
}

func readLock(path string) (lock, error) {
	var all lock
	text, err := os.ReadFile(path)
	if err != nil {
		return all, err
	}
	return all, json.Unmarshal(text, &all)
}

// offerInstalled offers what is installed in a place below the directory, with the tarball that it came from.
func (r *Registry) offerInstalled(dir, place string, locked map[string]any) error {
	text, err := os.ReadFile(filepath.Join(dir, place, "package.json"))
	if err != nil {
		return nil // that of another platform
	}
	var manifest map[string]any
	if err := json.Unmarshal(text, &manifest); err != nil {
		return err
	}
	manifest["version"] = locked["version"] // which is v1.21.0 in that of @pulumi/policy
	integrity, _ := locked["integrity"].(string)
	digest, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(integrity, "sha512-"))
	if err != nil {
		return err
	}
	sum := hex.EncodeToString(digest)
	if len(sum) < 4 {
		return fmt.Errorf("its lock file has no digest of it: %q", integrity)
	}
	r.files[r.offer(manifest, integrity)] = filepath.Join(dir, "tarballs", "sha512", sum[:2], sum[2:4], sum[4:])
	return nil
}

// Offered is how many tarballs of PublishSDK there are.
func (r *Registry) Offered() int { return len(r.files) }
