// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package pack archives the directory of a program as a Flux source would: without links
// and what git and Flux ignore. It knows nothing of a cluster.
package pack

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fluxcd/pkg/sourceignore"
	"github.com/fluxcd/pkg/sourceignore/gitignore"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Packed is an archive.
type Packed struct {
	// Data is the tar.gz.
	Data []byte
	// Files is the number of files in the archive.
	Files int
	// Links that were left out, relative to the directory.
	Links []string
	// Others that were left out because they are not regular files, each with its kind.
	Others []string
}

// Options of packing.
type Options struct {
	// Limit is the maximum size of the archive in bytes.
	Limit int
	// Excludes names the file with the person's own ignore rules of git, for the
	// repository at top and for all others. Nil or an empty name is none.
	Excludes func(top string) (string, error)
	// Source is the Flux source of the program.
	Source Source
}

// maxCompression is more than gzip ever achieves: files that could not be compressed
// below the limit are not read.
const maxCompression = 1100

// Dir packs the directory of a program, unless ctx ends.
func Dir(ctx context.Context, dir string, options Options) (*Packed, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return nil, fmt.Errorf("reading the program: %w", err)
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%s is a file: specify the directory of the program", dir)
	}
	found, err := list(ctx, dir, options)
	if err != nil {
		return nil, err
	}
	switch {
	case !found.hasProject():
		return nil, noProject(dir)
	case found.size()/maxCompression > int64(options.Limit):
		return nil, found.tooLarge(dir, options.Limit)
	}
	packed := &bounded{ctx: ctx, limit: options.Limit}
	if err := found.archive(ctx, packed); err != nil {
		if errors.Is(err, errFull) {
			return nil, found.tooLarge(dir, options.Limit)
		}
		return nil, fmt.Errorf("packing %s: %w", dir, err)
	}
	return &Packed{Data: packed.data, Files: len(found.files), Links: found.links, Others: found.others}, nil
}

// listed is the content of a directory that is not excluded.
type listed struct {
	tree
	root   string
	source sourceRules
	// defaults says that the default exclusions of Flux apply.
	defaults bool
	files    []file
	links    []string
	// others are named pipes and the like.
	others []string
	// entries to pack, each directory before its contents.
	entries []entry
}

type file struct {
	name string
	size int64
}

func noProject(dir string) error {
	return fmt.Errorf("%s has no Pulumi.yaml, or it is a symbolic link or ignored by .gitignore, .sourceignore or spec.ignore of the source: specify the directory of the program", dir)
}

func list(ctx context.Context, dir string, options Options) (*listed, error) {
	root, err := filepath.Abs(dir)
	if err == nil {
		root, err = filepath.EvalSymlinks(root)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the program: %w", err)
	}
	entries, err := os.ReadDir(root)
	if err != nil {
		return nil, fmt.Errorf("reading the program: %w", err)
	}
	if !slices.ContainsFunc(entries, func(entry fs.DirEntry) bool { return isProject(entry.Name()) }) {
		return nil, noProject(dir) // the tree below may be a whole home directory
	}
	found := &listed{tree: findTree(root), root: root, source: options.Source.rules()}
	rules, err := found.rules(options)
	if err != nil {
		return nil, err
	}
	if found.defaults, err = found.hasDefaults(ctx, options); err != nil {
		return nil, err
	}
	if err := found.walk(ctx, root, rules, packed); err != nil {
		return nil, fmt.Errorf("reading the program: %w", err)
	}
	return found, nil
}

// walk lists the directory. It does not read excluded directories, which may be large.
func (l *listed) walk(ctx context.Context, dir string, rules rules, is fate) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	own, err := l.rulesIn(dir)
	if err != nil {
		return err
	}
	rules = rules.with(own)
	fateOf := l.fates(rules)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if is == packed {
		l.entries = append(l.entries, entry{dir, info})
	}
	for _, found := range entries {
		path := filepath.Join(dir, found.Name())
		is := fateOf(path, found.IsDir())
		switch {
		case found.IsDir() && (is == packed || is == searched):
			err = l.walk(ctx, path, rules, is)
		case is == packed:
			err = l.note(path, found)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// fate is what becomes of a path.
type fate int

const (
	leftOut fate = iota
	packed
	// searched is a directory that Flux excludes, but perhaps not all its content.
	searched
)

// fates returns what the rules do with a path.
func (l *listed) fates(rules rules) func(path string, isDir bool) fate {
	patterns := rules.flux
	if l.defaults {
		patterns = sourceignore.DefaultPatterns(nil)
	}
	git, flux := sourceignore.NewMatcher(rules.git), sourceignore.NewMatcher(slices.Concat(sourceignore.VCSPatterns(nil), patterns))
	return func(path string, isDir bool) fate {
		parts := l.parts(path)
		if git.Match(parts, isDir) {
			return leftOut
		}
		result := l.source.match(parts[len(l.parts(l.root)):], isDir)
		switch {
		case result == gitignore.Include || result == gitignore.NoMatch && !flux.Match(parts, isDir):
			return packed
		case isDir && (rules.includes || l.source.includes):
			return searched
		}
		return leftOut
	}
}

func (l *listed) note(path string, found fs.DirEntry) error {
	name, err := filepath.Rel(l.root, path)
	if err != nil {
		return err
	}
	switch kind := kindOf(found.Type()); kind {
	case "file":
	case "link":
		l.links = append(l.links, filepath.ToSlash(name))
		return nil
	default:
		l.others = append(l.others, fmt.Sprintf("%s (%s)", filepath.ToSlash(name), kind))
		return nil
	}
	info, err := found.Info()
	if err != nil {
		return err
	}
	l.entries = append(l.entries, entry{path, info})
	l.files = append(l.files, file{filepath.ToSlash(name), info.Size()})
	return nil
}

// kindOf names the kind of an entry for a person.
func kindOf(mode fs.FileMode) string {
	switch {
	case mode.IsRegular():
		return "file"
	case mode&fs.ModeSymlink != 0:
		return "link"
	case mode&fs.ModeNamedPipe != 0:
		return "named pipe"
	case mode&fs.ModeSocket != 0:
		return "socket"
	case mode&fs.ModeDevice != 0:
		return "device"
	}
	return "no file"
}

func (l *listed) hasProject() bool {
	return slices.ContainsFunc(l.files, func(f file) bool { return isProject(f.name) })
}

func isProject(name string) bool {
	return name == "Pulumi.yaml" || name == "Pulumi.yml" || name == "Pulumi.json"
}

func (l *listed) size() int64 {
	total := int64(0)
	for _, f := range l.files {
		total += f.size
	}
	return total
}

// maxNamed is the number of files that an error names at most.
const maxNamed = 3

func (l *listed) tooLarge(dir string, limit int) error {
	bySize := slices.SortedStableFunc(slices.Values(l.files), func(a, b file) int { return cmp.Compare(b.size, a.size) })
	var names []string
	for _, f := range bySize[:min(maxNamed, len(bySize))] {
		names = append(names, fmt.Sprintf("%s (%s)", f.name, size(f.size)))
	}
	return fmt.Errorf("%s is too large: its %d files have %s and take more than %s when packed. Ignore some with a .sourceignore; the largest are %s",
		dir, len(l.files), size(l.size()), size(int64(limit)), strings.Join(names, ", "))
}

func size(bytes int64) string {
	const kibi = 1 << 10
	if bytes >= kibi {
		bytes = bytes / kibi * kibi // rounded: more digits would be noise
	}
	return resource.NewQuantity(bytes, resource.BinarySI).String() + "B"
}

var errFull = errors.New("no more is taken")

// bounded accepts a number of bytes, and none once ctx has ended.
type bounded struct {
	ctx   context.Context
	data  []byte
	limit int
}

// Write implements io.Writer.
func (b *bounded) Write(data []byte) (int, error) {
	if err := b.ctx.Err(); err != nil {
		return 0, err
	}
	if len(b.data)+len(data) > b.limit {
		return 0, errFull
	}
	b.data = append(b.data, data...)
	return len(data), nil
}
