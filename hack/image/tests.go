// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// Images for tests: a cluster without a registry needs those of Flux too, and one of the
// controller with providers in it.

// plain lists the image of a program that needs nothing but certificates.
func plain(o options) ([]layer, error) {
	if err := static(o.program); err != nil {
		return nil, fmt.Errorf("%s cannot be packed: %w", o.program, err)
	}
	file, err := filepath.EvalSymlinks(o.program)
	if err != nil {
		return nil, err
	}
	return []layer{{name: "program", entries: withParents(append(system(), entry{path: plainPath(o.program), mode: 0o755, source: file}))}}, nil
}

func plainPath(program string) string { return path.Join("usr/local/bin", filepath.Base(program)) }

// added is a layer with the contents of a directory.
func added(dir string) (layer, error) {
	var entries []entry
	err := filepath.WalkDir(dir, func(found string, at fs.DirEntry, err error) error {
		if err != nil || found == dir {
			return err
		}
		inside, err := filepath.Rel(dir, found)
		if err != nil {
			return err
		}
		info, err := at.Info()
		if err != nil {
			return err
		}
		e := entry{path: filepath.ToSlash(inside), mode: info.Mode()}
		switch {
		case e.mode&fs.ModeSymlink != 0:
			e.link, err = os.Readlink(found)
		case e.mode.IsRegular():
			e.source = found
		case !e.mode.IsDir():
			err = fmt.Errorf("%s cannot be packed: it is %s", found, e.mode.Type())
		}
		entries = append(entries, e)
		return err
	})
	return layer{name: "added", entries: withParents(entries)}, err
}
