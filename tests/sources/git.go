// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package sources

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cgi"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Branch is the branch that every commit goes to.
const Branch = "main"

// GitServer serves the repositories of one directory over smart HTTP, by the program that git itself brings for it:
// go-git, which source-controller uses, cannot clone over dumb HTTP.
type GitServer struct {
	dir    string
	url    string
	server *http.Server
	served chan error
}

// NewGitServer listens on a loopback port and keeps everything in dir, which must exist. Close ends it.
func NewGitServer(dir string) (*GitServer, error) {
	return NewGitServerAt(dir, loopback)
}

// NewGitServerAt listens on another address of this machine.
func NewGitServerAt(dir, address string) (*GitServer, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("starting a git server: %w", err)
	}
	libexec, err := exec.Command("git", "--exec-path").Output()
	if err != nil {
		return nil, fmt.Errorf("asking git where its programs are: %w", err)
	}
	listener, err := net.Listen("tcp4", net.JoinHostPort(address, "0"))
	if err != nil {
		return nil, fmt.Errorf("starting a git server: %w", err)
	}
	handler := &cgi.Handler{
		Path:   filepath.Join(strings.TrimSpace(string(libexec)), "git-http-backend"),
		Dir:    dir,
		Env:    append(isolatedGit(), "GIT_PROJECT_ROOT="+dir, "GIT_HTTP_EXPORT_ALL=1"),
		Stderr: io.Discard, // otherwise cgi writes to this program's standard error
	}
	s := &GitServer{
		dir:    dir,
		url:    "http://" + listener.Addr().String(),
		server: &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second},
		served: make(chan error, 1),
	}
	go func() { s.served <- s.server.Serve(listener) }()
	return s, nil
}

// URL returns the address that repositories lie under.
func (s *GitServer) URL() string { return s.url }

// Close ends the server, but keeps the repositories.
func (s *GitServer) Close() error {
	return closeServer(s.server, s.served)
}

// closeServer closes a server and waits for the goroutine that serves.
func closeServer(server *http.Server, served <-chan error) error {
	err := server.Close()
	if serveErr := <-served; !errors.Is(serveErr, http.ErrServerClosed) {
		err = errors.Join(err, serveErr)
	}
	return err
}

// GitRepo is one repository of a GitServer.
type GitRepo struct {
	url  string
	bare string // what is served
	git  string // the git directory that commits go to: bare, or that of another branch
	work string // what is committed from
}

// NewRepo creates an empty repository.
func (s *GitServer) NewRepo(ctx context.Context, name string) (*GitRepo, error) {
	r := &GitRepo{
		url:  s.url + "/" + name + ".git",
		bare: filepath.Join(s.dir, name+".git"),
		work: filepath.Join(s.dir, name+".work"),
	}
	r.git = r.bare
	if err := os.Mkdir(r.work, 0o755); err != nil {
		return nil, fmt.Errorf("making git repository %s: %w", name, err)
	}
	if _, err := runGit(ctx, s.dir, "init", "--quiet", "--bare", "--initial-branch="+Branch, r.bare); err != nil {
		return nil, err
	}
	return r, nil
}

// URL returns the address to clone from.
func (r *GitRepo) URL() string { return r.url }

// Commit writes the files over what is there and commits the result, an unchanged one too. It returns the commit.
func (r *GitRepo) Commit(ctx context.Context, files Files, message string) (string, error) {
	if err := files.Write(r.work); err != nil {
		return "", err
	}
	return r.commitAll(ctx, message)
}

// Tag tags the newest commit.
func (r *GitRepo) Tag(ctx context.Context, name string) error {
	_, err := runGit(ctx, r.work, "--git-dir="+r.bare, "tag", name)
	return err
}

// Remove commits the removal of files or directories.
func (r *GitRepo) Remove(ctx context.Context, message string, paths ...string) (string, error) {
	root, err := os.OpenRoot(r.work)
	if err != nil {
		return "", fmt.Errorf("removing files of %s: %w", r.url, err)
	}
	defer func() { _ = root.Close() }()
	for _, path := range paths {
		if _, err := root.Lstat(filepath.FromSlash(path)); err != nil {
			return "", fmt.Errorf("removing %s of %s: %w", path, r.url, err)
		}
		if err := root.RemoveAll(filepath.FromSlash(path)); err != nil {
			return "", fmt.Errorf("removing %s of %s: %w", path, r.url, err)
		}
	}
	return r.commitAll(ctx, message)
}

// Link commits a symbolic link to target in place of a file or a directory.
func (r *GitRepo) Link(ctx context.Context, path, target, message string) (string, error) {
	root, err := os.OpenRoot(r.work)
	if err != nil {
		return "", fmt.Errorf("making a link in %s: %w", r.url, err)
	}
	defer func() { _ = root.Close() }()
	path = filepath.FromSlash(path)
	if err := errors.Join(root.RemoveAll(path), root.Symlink(target, path)); err != nil {
		return "", fmt.Errorf("making the link %s in %s: %w", path, r.url, err)
	}
	return r.commitAll(ctx, message)
}

// commitAll commits the work tree as it is, straight into the repository that is served: there is no push that could
// be seen half done.
func (r *GitRepo) commitAll(ctx context.Context, message string) (string, error) {
	trees := []string{"--git-dir=" + r.git, "--work-tree=" + r.work}
	for _, args := range [][]string{
		{"add", "--all", "--force", "."},
		{"commit", "--quiet", "--allow-empty", "--message=" + message},
	} {
		if _, err := runGit(ctx, r.work, append(trees, args...)...); err != nil {
			return "", err
		}
	}
	return runGit(ctx, r.work, append(trees, "rev-parse", "HEAD")...)
}

// isolatedGit returns the environment that keeps the configuration of the machine and its user out, which may ask for
// signatures, run hooks or have no author.
func isolatedGit() []string {
	return []string{
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_TERMINAL_PROMPT=0",
		"GIT_AUTHOR_NAME=Test", "GIT_AUTHOR_EMAIL=test@example.com",
		"GIT_COMMITTER_NAME=Test", "GIT_COMMITTER_EMAIL=test@example.com",
	}
}

// runGit returns what git printed, without white space around it.
func runGit(ctx context.Context, dir string, args ...string) (string, error) {
	command := exec.CommandContext(ctx, "git", args...)
	command.Dir = dir
	command.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir}, isolatedGit()...)
	output, err := command.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("git %s: %w: %s", strings.Join(args, " "), err, output)
	}
	return strings.TrimSpace(string(output)), nil
}
