// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
)

// entry is a file, a directory or a link. All belong to root, so that no process in the
// container can change them.
type entry struct {
	// path has no leading slash.
	path string
	// mode includes the type.
	mode fs.FileMode
	// data is the content of a file, unless the content is that of the file at source.
	data   []byte
	source string
	// link is the target of a link.
	link string
}

// layer is a part of the contents that changes on its own: an upgrade of the image pulls
// only the layers that have changed.
type layer struct {
	name    string
	entries []entry
}

// contents lists all that goes into the image.
func contents(ctx context.Context, o options) (layers []layer, err error) {
	if o.program != "" {
		layers, err = plain(o)
	} else {
		layers, err = product(ctx, o)
	}
	if err != nil || o.add == "" {
		return layers, err
	}
	more, err := added(o.add)
	return append(layers, more), err
}

// product lists the image of the controller.
func product(ctx context.Context, o options) ([]layer, error) {
	base, err := base(ctx, o)
	if err != nil {
		return nil, err
	}
	layers := []layer{{name: "base", entries: base}}
	for _, p := range []struct {
		layer    string
		programs []program
	}{
		{"pulumi", []program{
			{"pulumi", "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi"},
			{"pulumi-language-yaml", "github.com/pulumi/pulumi-yaml/cmd/pulumi-language-yaml"},
		}},
		{"controller", []program{{"pulumi-controller", "github.com/flux-pulumi/pulumi-controller"}}},
	} {
		var entries []entry
		for _, program := range p.programs {
			entry, err := program.entry(o)
			if err != nil {
				return nil, err
			}
			entries = append(entries, entry)
		}
		layers = append(layers, layer{name: p.layer, entries: entries})
	}
	for i := range layers {
		layers[i].entries = withParents(layers[i].entries)
	}
	return layers, nil
}

// base is what the programs need of a system: a shell, with which the controller starts
// and guards Pulumi; an init, which reaps what a killed Pulumi leaves behind; a user with
// a name, which Pulumi writes into its locks; and root certificates.
func base(ctx context.Context, o options) ([]entry, error) {
	entries := append(system(), []entry{
		// The release of the packages below, by which scanners look up vulnerabilities.
		{path: "etc/os-release", mode: 0o644, data: []byte("ID=debian\nVERSION_ID=\"13\"\nVERSION_CODENAME=trixie\nNAME=\"Debian GNU/Linux\"\nPRETTY_NAME=\"pulumi-controller\"\n")},
		// Programs and scripts use these two paths.
		{path: "bin/sh", mode: fs.ModeSymlink | 0o777, link: "../usr/bin/busybox"},
		{path: "usr/bin/sh", mode: fs.ModeSymlink | 0o777, link: "busybox"},
	}...)
	for _, wanted := range []struct{ name, file, as string }{
		{"busybox-static", "usr/bin/busybox", "usr/bin/busybox"},
		{"tini", "usr/bin/tini-static", "usr/bin/tini"},
	} {
		p, err := fetchPackage(ctx, o, wanted.name)
		if err != nil {
			return nil, err
		}
		copyright := path.Join("usr/share/doc", wanted.name, "copyright")
		for file, e := range map[string]entry{
			wanted.file: {path: wanted.as, mode: 0o755},
			copyright:   {path: copyright, mode: 0o644},
		} {
			data, ok := p.files[file]
			if !ok {
				return nil, fmt.Errorf("package %s has no file %s", wanted.name, file)
			}
			e.data = data
			entries = append(entries, e)
		}
		entries = append(entries, entry{path: path.Join("var/lib/dpkg/status.d", wanted.name), mode: 0o644, data: p.control})
	}
	return entries, nil
}

// system is what any program expects.
func system() []entry {
	return []entry{
		{path: "tmp", mode: fs.ModeDir | fs.ModeSticky | 0o777},
		{path: "etc/passwd", mode: 0o644, data: []byte("root:x:0:0:root:/:/sbin/nologin\nnobody:x:65534:65534:nobody:/:/sbin/nologin\n")},
		{path: "etc/group", mode: 0o644, data: []byte("root:x:0:\nnobody:x:65534:\n")},
		{path: "etc/ssl/certs/ca-certificates.crt", mode: 0o644, data: certificates()},
	}
}

// withParents sorts the entries, and adds their parent directories.
func withParents(entries []entry) []entry {
	all := map[string]entry{}
	for _, e := range entries {
		for dir := path.Dir(e.path); dir != "."; dir = path.Dir(dir) {
			if _, ok := all[dir]; !ok {
				all[dir] = entry{path: dir, mode: fs.ModeDir | 0o755}
			}
		}
		all[e.path] = e
	}
	sorted := make([]entry, 0, len(all))
	for _, path := range slices.Sorted(maps.Keys(all)) {
		sorted = append(sorted, all[path])
	}
	return sorted
}
