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

// gitUnset is how git config ends where there is no such value.
const gitUnset = 1

// gitExcludes is the file of what the person has git leave out in all repositories, as in
// the one at top. Git itself is asked for its config, which may be in many files. Where it
// is not installed there is none.
func (s *session) gitExcludes(ctx context.Context, top string) (string, error) {
	said, err := exec.CommandContext(ctx, "git", "-C", top, "config", "--type=path", "--get", "core.excludesFile").Output()
	var ended *exec.ExitError
	switch {
	case err == nil:
		return strings.TrimRight(string(said), "\r\n"), nil
	case errors.Is(err, exec.ErrNotFound), errors.As(err, &ended) && ended.ExitCode() == gitUnset:
		return s.defaultGitExcludes(), nil
	case errors.As(err, &ended) && len(ended.Stderr) > 0:
		return "", fmt.Errorf("asking git for core.excludesFile: %s", strings.TrimSpace(string(ended.Stderr)))
	}
	return "", fmt.Errorf("asking git for core.excludesFile: %w", err)
}

// defaultGitExcludes is where git looks without a config.
func (s *session) defaultGitExcludes() string {
	if config := s.Getenv("XDG_CONFIG_HOME"); config != "" {
		return filepath.Join(config, "git", "ignore")
	}
	if home := cmp.Or(s.Getenv("HOME"), s.Getenv("USERPROFILE")); home != "" {
		return filepath.Join(home, ".config", "git", "ignore")
	}
	return ""
}
