// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package sources

import (
	"context"
	"path/filepath"
)

// Branch creates a branch of the newest commit, and returns the repository as whoever works on that branch has it.
func (r *GitRepo) Branch(ctx context.Context, name string) (*GitRepo, error) {
	return r.checkOut(ctx, name, "-b", name)
}

// Fork is the repository as an author without write access has it, whose commits are on no branch of it. Only SetRef makes
// them known, as a forge does for a pull request.
func (r *GitRepo) Fork(ctx context.Context, name string) (*GitRepo, error) {
	return r.checkOut(ctx, name, "--detach")
}

// checkOut adds a work tree named for what is worked on.
func (r *GitRepo) checkOut(ctx context.Context, name string, as ...string) (*GitRepo, error) {
	work := filepath.Join(r.work+"-of", name)
	args := append([]string{"--git-dir=" + r.bare, "worktree", "add", "--quiet"}, as...)
	if _, err := runGit(ctx, r.bare, append(args, work, Branch)...); err != nil {
		return nil, err
	}
	return &GitRepo{url: r.url, bare: r.bare, git: filepath.Join(r.bare, "worktrees", name), work: work}, nil
}

// SetRef has a ref such as refs/pull/1/head be the commit.
func (r *GitRepo) SetRef(ctx context.Context, ref, commit string) error {
	_, err := runGit(ctx, r.bare, "--git-dir="+r.bare, "update-ref", ref, commit)
	return err
}

// Merge merges a commit as a forge does, with a commit of its own, which it returns.
func (r *GitRepo) Merge(ctx context.Context, commit, message string) (string, error) {
	trees := []string{"--git-dir=" + r.git, "--work-tree=" + r.work}
	if _, err := runGit(ctx, r.work, append(trees, "merge", "--quiet", "--no-ff", "--message="+message, commit)...); err != nil {
		return "", err
	}
	return runGit(ctx, r.work, append(trees, "rev-parse", "HEAD")...)
}
