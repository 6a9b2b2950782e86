// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/fluxcd/pkg/http/fetch"

	"github.com/flux-pulumi/pulumi-controller/internal/bounded"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

const (
	// DefaultMaxDownload bounds the size of a downloaded artifact: 128 MiB.
	DefaultMaxDownload int64 = 128 << 20
	// DefaultMaxUntar bounds the size of an unpacked artifact: 512 MiB.
	DefaultMaxUntar int64 = 512 << 20
	// DefaultMaxEntries bounds the files and directories of an artifact.
	DefaultMaxEntries = 200_000
	// DefaultTimeout bounds one Fetch, including retries and the waits between them.
	DefaultTimeout = 5 * time.Minute
)

// Options of a Fetcher. Zero means the default, except for Retries.
type Options struct {
	// Retries is how often a download is retried after a server error or a failure to
	// connect, with waits of 5 s to 30 s. kustomize-controller's 9 can delay a run by 3.5
	// minutes. 0 means none.
	Retries int
	// MaxDownload bounds the archive, in bytes. Default DefaultMaxDownload.
	MaxDownload int64
	// MaxUntar bounds the contents of the archive in bytes, including entry headers.
	// Default DefaultMaxUntar.
	MaxUntar int64
	// MaxEntries bounds the files and directories in the archive: an empty file has no
	// size, but takes an inode. Default DefaultMaxEntries.
	MaxEntries int
	// Timeout bounds one Fetch. The other bounds are not enough: the library waits as
	// long as a Retry-After header says, and reads even an oversized response to its end.
	// Default DefaultTimeout.
	Timeout time.Duration
	// Hostname replaces host and port in artifact URLs: the value of
	// SOURCE_CONTROLLER_LOCALHOST, for a controller outside the cluster. Empty leaves
	// them as they are.
	Hostname string
	// Self names for messages who downloads. Default "this controller".
	Self string
}

// Fetcher downloads artifacts. It is safe for concurrent use.
type Fetcher struct {
	options Options
	// archives is shared, because each has its own connection pool.
	archives *fetch.ArchiveFetcher
}

// New returns a Fetcher.
func New(o Options) *Fetcher {
	o.Retries = max(o.Retries, 0)
	if o.MaxDownload <= 0 {
		o.MaxDownload = DefaultMaxDownload
	}
	if o.MaxUntar <= 0 {
		o.MaxUntar = DefaultMaxUntar
	}
	if o.MaxEntries <= 0 {
		o.MaxEntries = DefaultMaxEntries
	}
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	o.Self = cmp.Or(o.Self, "this controller")
	return &Fetcher{options: o, archives: fetch.New(
		fetch.WithRetries(o.Retries),
		fetch.WithMaxDownloadSize(int(o.MaxDownload)),
		fetch.WithFileName(archiveName),
	)}
}

// Fetch downloads the artifact, verifies its digest and unpacks it as dir. The parent of
// dir must exist. dir itself must be missing or empty. Fetch is atomic: it works in a
// directory beside dir that it always removes, so dir gets either all of the artifact or
// nothing.
//
// Symbolic links in the archive are skipped, as in all Flux controllers. Use ProgramDir
// to find the program's directory.
//
// The errors are ErrGone, ErrArchive and ErrWorkspace. Any other means that the server
// could not be reached. A cancelled context is returned as its own error.
func (f *Fetcher) Fetch(ctx context.Context, artifact run.Artifact, dir string) error {
	if artifact.Archive != nil {
		return f.unpackBrought(ctx, artifact, dir)
	}
	u, err := f.locate(artifact.URL)
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp(filepath.Dir(dir), ".fetch-")
	if err != nil {
		return fail("create a directory for the artifact: "+cause(err), ErrWorkspace, err)
	}
	err = f.fetchIn(ctx, work, u, artifact.Digest, dir)
	if rmErr := os.RemoveAll(work); rmErr != nil && err == nil {
		err = fail("clean up after the download: "+cause(rmErr), ErrWorkspace, rmErr)
	}
	return err
}

// locate returns the URL to download from.
func (f *Fetcher) locate(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		// The parser's error contains the whole URL.
		return nil, fail("the URL of the artifact must use http or https", ErrArchive)
	}
	if f.options.Hostname != "" {
		u.Host = f.options.Hostname
	}
	return u, nil
}

// fetchIn does the work of Fetch in the given directory.
func (f *Fetcher) fetchIn(parent context.Context, work string, u *url.URL, digest, dir string) error {
	ctx, cancel := context.WithTimeout(parent, f.options.Timeout)
	defer cancel()
	err := f.download(ctx, work, u, digest)
	if err == nil {
		err = f.unpack(ctx, work, dir)
	}
	if err == nil {
		return nil
	}
	what := "artifact " + safeURL(u)
	switch {
	case parent.Err() != nil:
		return fmt.Errorf("%s: %w", what, context.Cause(parent))
	case ctx.Err() != nil && !errors.Is(err, ErrArchive):
		return fmt.Errorf("%s: the download did not finish within %s: check that its server is running and that %s can reach it: %w",
			what, f.options.Timeout, f.options.Self, ctx.Err())
	}
	return fail(what+": "+err.Error(), err)
}

// archiveName is the file name of the downloaded archive in the working directory.
const archiveName = "artifact.tar.gz"

// download downloads the archive into the working directory and verifies it. The library
// could also unpack it, but would put the archive into the system's temporary directory,
// and unpack without the bounds of guard.
func (f *Fetcher) download(ctx context.Context, work string, u *url.URL, digest string) error {
	err := f.archives.FetchWithContext(ctx, u.String(), digest, work)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fetch.ErrFileNotFound):
		return fail("it is gone (404): its source has a newer artifact, or will have one after its next reconcile", ErrGone, err)
	case diskFault(err):
		return fail("it could not be stored: "+cause(err), ErrWorkspace, err)
	}
	return f.downloadError(err, u, digest)
}

// downloadError derives the fault from the library's message where it has no error type.
// It drops the library's error, which contains the URL with any credentials.
func (f *Fetcher) downloadError(err error, u *url.URL, digest string) error {
	text := cause(err)
	switch {
	case strings.HasPrefix(text, "artifact is ") && strings.Contains(text, "max download size"):
		return fail(fmt.Sprintf("it exceeds the limit of %s: exclude files from the source (spec.ignore)",
			size(f.options.MaxDownload)), ErrArchive)
	case strings.HasPrefix(text, "computed digest doesn't match"):
		return fail(fmt.Sprintf("the content from its server does not match the digest %s: it was damaged or replaced; "+
			"if this continues, reconcile the source", digest), ErrArchive)
	case strings.HasPrefix(err.Error(), "failed to verify archive"):
		return fail(fmt.Sprintf("its digest %q cannot be verified", bounded.Text(digest, maxName)), ErrArchive)
	case strings.Contains(text, "giving up after"):
		return fmt.Errorf("it could not be downloaded: its server answers with an error (429 or 5xx), tried %d time(s)",
			f.options.Retries+1)
	}
	text = strings.Replace(text, "failed to download archive from "+u.String()+" (status: ", "its server answers (", 1)
	return errors.New("it could not be downloaded: " + bounded.Text(withoutURLs(text), maxMessage))
}

// diskFault reports whether an error is a fault of the local disk, whatever is written to
// it.
func diskFault(err error) bool {
	var onPath *fs.PathError
	if !errors.As(err, &onPath) {
		return false
	}
	for _, fault := range []error{
		syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS, syscall.EIO, syscall.EMFILE, syscall.ENFILE,
	} {
		if errors.Is(err, fault) {
			return true
		}
	}
	return false
}
