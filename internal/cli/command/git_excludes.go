// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
)

// gitUnset is the exit code of git config for a value that is not set.
const gitUnset = 1

// gitExcludes returns the user's ignore file for all repositories, as configured for the
// one at top. It asks git, whose config may be spread over many files. Without git, or
// without that setting, it returns git's default.
func (s *session) gitExcludes(ctx context.Context, top string) (string, error) {
	said, err := exec.CommandContext(ctx, "git", "-C", top, "config", "--type=path", "--get", "core.excludesFile").Output()
	var ended *exec.ExitError
	switch {
	case err == nil:
		return strings.TrimRight(string(said), "\r\n"), nil
	case errors.Is(err, exec.ErrNotFound), errors.As(err, &ended) && ended.ExitCode() == gitUnset:
		return s.defaultGitExcludes(), nil
	case errors.As(err, &ended) && len(ended.Stderr) > 0:
		return "", fmt.Errorf("reading core.excludesFile of git: %s", strings.TrimSpace(string(ended.Stderr)))
	}
	return "", fmt.Errorf("reading core.excludesFile of git: %w", err)
}

// defaultGitExcludes returns the path that git uses by default.
func (s *session) defaultGitExcludes() string {
	if config := s.Getenv("XDG_CONFIG_HOME"); config != "" {
		return filepath.Join(config, "git", "ignore")
	}
	if home := cmp.Or(s.Getenv("HOME"), s.Getenv("USERPROFILE")); home != "" {
		return filepath.Join(home, ".config", "git", "ignore")
	}
	return ""
}
