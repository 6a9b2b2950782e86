// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/flux-pulumi/pulumi-controller/internal/bounded"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// maxListed bounds how many names an error lists.
const maxListed = 10

// ProgramDir returns the path of the directory dir in the artifact unpacked at root. A
// leading slash or an empty dir means the root. The error is ErrDir if dir leads out of
// the artifact, does not exist or is not a directory.
func ProgramDir(root, dir string) (string, error) {
	local := filepath.Clean(strings.TrimLeft(dir, "/"))
	if !filepath.IsLocal(local) {
		return "", fail(fmt.Sprintf("dir %q leads outside of the artifact", bounded.Text(dir, maxName)), ErrDir)
	}
	// os.Root follows no link that leads outside, should there ever be one.
	artifact, err := os.OpenRoot(root)
	if err != nil {
		return "", fail("open the artifact: "+err.Error(), ErrWorkspace, err)
	}
	defer artifact.Close() //nolint:errcheck // It was only read from.
	info, err := artifact.Stat(local)
	switch {
	case err == nil && info.IsDir():
		return filepath.Join(root, local), nil
	case err == nil:
		return "", fail(fmt.Sprintf("dir %q is a file: set the directory that contains it", bounded.Text(dir, maxName)), ErrDir)
	case !missing(err):
		return "", fail(fmt.Sprintf("dir %q cannot be used: %s", bounded.Text(dir, maxName), cause(err)), ErrDir)
	}
	return "", fail(fmt.Sprintf("dir %q is not in the artifact%s: %s", bounded.Text(dir, maxName), nearest(artifact, local), run.LeftOutOfArtifacts), ErrDir)
}

// missing reports whether a path does not exist: one of its elements is missing or is a
// file.
func missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// nearest describes the contents of the nearest existing parent of a missing directory.
func nearest(artifact *os.Root, dir string) string {
	for dir != "." {
		dir = filepath.Dir(dir)
		if info, err := artifact.Stat(dir); err != nil || !info.IsDir() {
			continue
		}
		names, more := list(artifact, dir)
		where := "which"
		if dir != "." {
			where = fmt.Sprintf("where %q", bounded.Text(dir, maxName))
		}
		if len(names) == 0 {
			return fmt.Sprintf(", %s is empty", where)
		}
		return fmt.Sprintf(", %s has %s%s", where, strings.Join(names, ", "), more)
	}
	return ""
}

// list returns the first names in a directory of the artifact, directories with a
// trailing slash, and a note if there are more.
func list(artifact *os.Root, dir string) (names []string, more string) {
	entries, err := fs.ReadDir(artifact.FS(), filepath.ToSlash(dir))
	if err != nil {
		return nil, ""
	}
	for _, entry := range entries {
		if len(names) == maxListed {
			return names, " and more"
		}
		name := bounded.Text(entry.Name(), maxName)
		if entry.IsDir() {
			name += "/"
		}
		names = append(names, strconv.Quote(name))
	}
	return names, ""
}
