// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/opencontainers/go-digest"

	"github.com/flux-pulumi/pulumi-controller/internal/bounded"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// unpackBrought unpacks an archive that comes with the artifact, within the same bounds
// and by the same rules as a downloaded one.
func (f *Fetcher) unpackBrought(ctx context.Context, artifact run.Artifact, dir string) error {
	const what = "the program that was brought: "
	wanted, err := digest.Parse(artifact.Digest)
	switch {
	case err != nil:
		return fail(fmt.Sprintf(what+"its digest %q cannot be verified", bounded.Text(artifact.Digest, maxName)), ErrArchive)
	case int64(len(artifact.Archive)) > f.options.MaxDownload:
		return fail(fmt.Sprintf(what+"it exceeds the limit of %s", size(f.options.MaxDownload)), ErrArchive)
	case wanted.Algorithm().FromBytes(artifact.Archive) != wanted:
		return fail(fmt.Sprintf(what+"it does not have the digest %s", artifact.Digest), ErrArchive)
	}
	work, err := os.MkdirTemp(filepath.Dir(dir), ".fetch-")
	if err != nil {
		return fail("create a directory for the program: "+cause(err), ErrWorkspace, err)
	}
	err = f.place(ctx, bytes.NewReader(artifact.Archive), work, dir)
	if err != nil {
		err = fail(what+err.Error(), err)
	}
	if rmErr := os.RemoveAll(work); rmErr != nil {
		err = errors.Join(err, fail("clean up after unpacking: "+cause(rmErr), ErrWorkspace, rmErr))
	}
	return err
}
