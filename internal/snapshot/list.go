// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"
)

// ErrUnfit is why what an installation brought cannot be kept: a copy elsewhere would not be
// the same.
var ErrUnfit = errors.New("the installed dependencies cannot be kept")

// Listing is what a workspace contains.
type Listing map[string]stamp

// stamp changes when a file does.
type stamp struct {
	mode     fs.FileMode
	size     int64
	modified time.Time
}

// maxFiles bounds the files of a workspace. The dependencies of big programs have some ten
// thousand.
const maxFiles = 1_000_000

// List lists a workspace. It follows no links.
func List(root *os.Root) (Listing, error) {
	all := Listing{}
	err := fs.WalkDir(root.FS(), ".", func(name string, found fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := found.Info()
		if err != nil {
			return err
		}
		if len(all) == maxFiles {
			return fmt.Errorf("%w: there are more than %d files", ErrUnfit, maxFiles)
		}
		s := stamp{mode: info.Mode()}
		if !info.IsDir() { // its size and time change with what is in it
			s.size, s.modified = info.Size(), info.ModTime()
		}
		all[name] = s
		return nil
	})
	return all, err
}

// Since is what was added or changed since an earlier listing, by directory. It fails with
// ErrUnfit if that alone does not make the difference, or if a copy of it would not work.
func (l Listing) Since(before Listing) ([]string, error) {
	for name := range before {
		if _, isThere := l[name]; !isThere {
			return nil, fmt.Errorf("%w: the installation removed %s of the source", ErrUnfit, name)
		}
	}
	var changed []string
	for name, now := range l {
		if was, isOld := before[name]; isOld && was == now {
			continue
		}
		if kind := now.mode.Type(); kind != 0 && kind != fs.ModeDir && kind != fs.ModeSymlink {
			return nil, fmt.Errorf("%w: %s is no regular file", ErrUnfit, name)
		}
		if was, isOld := before[name]; isOld && was.mode.Type() != now.mode.Type() {
			return nil, fmt.Errorf("%w: the installation replaced %s of the source", ErrUnfit, name)
		}
		changed = append(changed, name)
	}
	// The files of one directory stand together, behind the directory.
	slices.SortFunc(changed, func(a, b string) int {
		if order := strings.Compare(path.Dir(a), path.Dir(b)); order != 0 {
			return order
		}
		return strings.Compare(a, b)
	})
	return changed, nil
}
