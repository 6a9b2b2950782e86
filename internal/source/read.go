// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"slices"

	"github.com/opencontainers/go-digest"

	"github.com/flux-pulumi/pulumi-controller/internal/bounded"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// Read reads files of an artifact by their clean relative paths, of each the first most bytes. It is
// for a process that trusts no artifact: the archive passes through and nothing of it is stored,
// in memory or on disk, but these files. Files that do not exist are missing in the result.
//
// There are no retries. The errors are ErrGone and ErrArchive. Any other means that the server could
// not be reached.
func (f *Fetcher) Read(ctx context.Context, artifact run.Artifact, names []string, most int64) (map[string][]byte, error) {
	wanted, err := digest.Parse(artifact.Digest)
	if err != nil {
		return nil, fail(fmt.Sprintf("the digest %q of the artifact cannot be verified", bounded.Text(artifact.Digest, maxName)), ErrArchive)
	}
	if artifact.Archive != nil {
		return f.readFrom(ctx, bytes.NewReader(artifact.Archive), wanted, names, most)
	}
	u, err := f.locate(artifact.URL)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, f.options.Timeout)
	defer cancel()
	what := "artifact " + safeURL(u)
	body, err := open(ctx, u)
	if err != nil {
		return nil, fail(what+": "+err.Error(), err)
	}
	defer func() { _ = body.Close() }() // it is only read
	files, err := f.readFrom(ctx, body, wanted, names, most)
	if err != nil {
		return nil, fail(what+": "+err.Error(), err)
	}
	return files, nil
}

// open begins to download.
func open(ctx context.Context, u *url.URL) (io.ReadCloser, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, fail("the URL of the artifact cannot be used", ErrArchive)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, errors.New("it could not be downloaded: " + bounded.Text(withoutURLs(cause(err)), maxMessage))
	}
	switch response.StatusCode {
	case http.StatusOK:
		return response.Body, nil
	case http.StatusNotFound:
		err = fail("it is gone (404)", ErrGone)
	default:
		err = fmt.Errorf("it could not be downloaded: its server answers (%s)", response.Status)
	}
	return nil, errors.Join(err, response.Body.Close())
}

// readFrom reads the files of an archive, and verifies it as a whole.
func (f *Fetcher) readFrom(ctx context.Context, archive io.Reader, wanted digest.Digest, names []string, most int64) (map[string][]byte, error) {
	verifier := wanted.Verifier()
	stream := &download{ctx: ctx, from: archive, left: f.options.MaxDownload}
	digested := io.TeeReader(stream, verifier)
	files, err := readFiles(digested, f.options.MaxUntar, names, most)
	if err == nil {
		_, err = io.Copy(io.Discard, digested) // what follows the archive has a part in its digest
	}
	switch {
	case stream.err != nil:
		return nil, stream.err
	case err != nil:
		return nil, fail("it could not be unpacked: "+bounded.Text(err.Error(), maxMessage), ErrArchive)
	case !verifier.Verified():
		return nil, fail(fmt.Sprintf("its content does not match the digest %s", wanted), ErrArchive)
	}
	return files, nil
}

func readFiles(archive io.Reader, maxUntar int64, names []string, most int64) (map[string][]byte, error) {
	unzipped, err := gzip.NewReader(archive)
	if err != nil {
		return nil, err
	}
	bound := &io.LimitedReader{R: unzipped, N: maxUntar}
	files := map[string][]byte{}
	for entries := tar.NewReader(bound); ; {
		header, err := entries.Next()
		switch {
		case bound.N == 0:
			return nil, errors.New("it is too big")
		case errors.Is(err, io.EOF):
			return files, nil
		case err != nil:
			return nil, err
		}
		name := path.Clean(header.Name)
		if header.Typeflag != tar.TypeReg || !slices.Contains(names, name) {
			continue
		}
		if files[name], err = io.ReadAll(io.LimitReader(entries, most)); err != nil {
			return nil, err
		}
	}
}

// download is the stream of an archive. It remembers why it has ended early.
type download struct {
	ctx  context.Context
	from io.Reader
	left int64
	err  error
}

func (d *download) Read(p []byte) (int, error) {
	n, err := d.from.Read(p)
	d.left -= int64(n)
	switch {
	case d.left < 0:
		d.err = fail("it exceeds the limit of a download", ErrArchive)
	case d.ctx.Err() != nil:
		d.err = d.ctx.Err()
	case err != nil && !errors.Is(err, io.EOF):
		d.err = errors.New("it could not be downloaded: " + bounded.Text(withoutURLs(cause(err)), maxMessage))
	default:
		return n, err
	}
	return n, d.err
}
