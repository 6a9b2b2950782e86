// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package language

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// fillCaches writes to where the tools of languages keep what they have downloaded: go to GOPATH, pip and uv to
// XDG_CACHE_HOME.
func fillCaches() error {
	home, err := os.UserHomeDir()
	if err != nil {
		return err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return err
	}
	var errs []error
	for _, dir := range []string{cmp.Or(os.Getenv("GOPATH"), filepath.Join(home, "go")), cache} {
		if err := os.MkdirAll(filepath.Join(dir, "lab"), 0o700); err != nil {
			errs = append(errs, fmt.Errorf("could not create the module cache: %w", err))
		}
	}
	return errors.Join(errs...)
}
