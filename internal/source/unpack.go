// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	fluxtar "github.com/fluxcd/pkg/tar"

	"github.com/flux-pulumi/pulumi-controller/internal/bounded"
)

const (
	// maxName bounds the names of entries in messages, in bytes.
	maxName = 256
	// maxPath bounds the names of entries: Linux's PATH_MAX.
	maxPath = 4096
)

// unpack unpacks the archive in the working directory as dir.
func (f *Fetcher) unpack(ctx context.Context, work, dir string) error {
	archive, err := os.Open(filepath.Join(work, archiveName))
	if err != nil {
		return fail("it could not be read back: "+cause(err), ErrWorkspace, err)
	}
	defer archive.Close() //nolint:errcheck // It was only read from.
	return f.place(ctx, archive, work, dir)
}

// place unpacks the archive in the directory work, and moves the result to dir when it is
// complete.
func (f *Fetcher) place(ctx context.Context, archive io.Reader, work, dir string) error {
	tree := filepath.Join(work, "tree")
	// An archive without entries becomes an empty directory.
	if err := os.Mkdir(tree, 0o700); err != nil {
		return fail("create a directory for the artifact: "+cause(err), ErrWorkspace, err)
	}
	if err := untar(ctx, archive, tree, f.options); err != nil {
		return err
	}
	// This replaces an empty directory, but nothing else. os.Rename would refuse any
	// directory.
	if err := syscall.Rename(tree, dir); err != nil {
		return fail("move the artifact into place: "+err.Error(), ErrWorkspace, err)
	}
	return nil
}

// untar unpacks an archive into the directory, within the bounds of the options.
func untar(ctx context.Context, archive io.Reader, dir string, o Options) error {
	unzipped, err := gzip.NewReader(archive)
	if err != nil {
		return fail("it is not a gzip-compressed tar archive: "+err.Error(), ErrArchive)
	}
	g := &guard{ctx: ctx, stream: unzipped, options: o, streamLeft: o.MaxUntar, filesLeft: o.MaxUntar, names: map[string]bool{}}
	err = fluxtar.Untar(g, dir,
		fluxtar.WithSkipGzip(),
		fluxtar.WithSkipSymlinks(),
		fluxtar.WithMaxUntarSize(fluxtar.UnlimitedUntarSize), // bounded by the guard
		fluxtar.WithFilter(g.skip))
	switch {
	case g.err != nil:
		return g.err
	case err == nil:
		return nil
	case diskFault(err):
		return fail("it could not be unpacked: "+cause(err), ErrWorkspace, err)
	}
	text := strings.ReplaceAll(err.Error(), dir+string(filepath.Separator), "")
	return fail("it could not be unpacked: "+bounded.Text(text, maxMessage), ErrArchive, err)
}

// guard is the stream that an archive is unpacked from. It ends the stream as soon as the
// archive exceeds a bound or has a refused entry, or the context is done.
//
// The bound in fluxcd/pkg/tar is not enough. It adds up the sizes that entries claim,
// which can be made to overflow: an entry of 1 byte and a sparse one of the largest int64
// pass it, and a few hundred bytes then fill the disk with zeros. Nor does it count
// entries without a size.
type guard struct {
	ctx     context.Context
	stream  io.Reader
	options Options

	// streamLeft is how many more bytes of the stream may be read.
	streamLeft int64
	// filesLeft is how many more bytes the files may take on disk. Sparse files take more
	// than they have in the stream.
	filesLeft int64
	// names are the paths that exist so far, including parents.
	names map[string]bool
	// err is why the stream was ended.
	err error
}

func (g *guard) Read(p []byte) (int, error) {
	if g.err == nil {
		g.err = g.ctx.Err()
	}
	if g.err == nil && g.streamLeft <= 0 {
		g.err = g.tooBig()
	}
	if g.err != nil {
		return 0, g.err
	}
	if int64(len(p)) > g.streamLeft {
		p = p[:g.streamLeft]
	}
	n, err := g.stream.Read(p)
	g.streamLeft -= int64(n)
	return n, err
}

// skip reports whether to leave out an entry. It ends the stream at a refused one.
func (g *guard) skip(name string, info fs.FileInfo) bool {
	header, ok := info.Sys().(*tar.Header)
	switch {
	case g.err != nil:
		return true
	case ok && header.Typeflag == tar.TypeXGlobalHeader:
		// The first entry from `git archive`. It would become an empty file.
		return true
	case ok && header.Typeflag == tar.TypeLink:
		// It would become an empty file, and the program would run with that.
		g.err = g.refuse(name, "is a hard link: create the archive without hard links (tar --hard-dereference)")
	case !filepath.IsLocal(name) || len(name) > maxPath:
		g.err = g.refuse(name, "has an invalid name")
	case info.Size() > g.filesLeft:
		g.err = g.tooBig()
	default:
		g.filesLeft -= info.Size()
		g.count(name)
	}
	return g.err != nil
}

// count counts what the entry adds to the disk: itself, and its parents that are new.
func (g *guard) count(name string) {
	for p := path.Clean(name); p != "." && !g.names[p]; p = path.Dir(p) {
		g.names[p] = true
	}
	if len(g.names) > g.options.MaxEntries {
		g.err = fail(fmt.Sprintf("it has more than %d files and directories: exclude some from the source (spec.ignore)",
			g.options.MaxEntries), ErrArchive)
	}
}

func (g *guard) refuse(name, why string) error {
	return fail(fmt.Sprintf("its entry %q %s", bounded.Text(name, maxName), why), ErrArchive)
}

func (g *guard) tooBig() error {
	return fail(fmt.Sprintf("it exceeds the limit of %s when unpacked: exclude files from the source (spec.ignore)",
		size(g.options.MaxUntar)), ErrArchive)
}
