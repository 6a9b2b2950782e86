// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flux-pulumi/pulumi-controller/tests/fuzz"
)

// FuzzUnpack unpacks archives with valid headers, to exercise the entries: names that
// lead elsewhere, links to write through, files in place of directories, sizes beyond the
// bounds.
func FuzzUnpack(f *testing.F) {
	f.Add([]byte("\x02\x00\x00\x01x\x00\x01\x01y"))
	f.Add([]byte("\x03\x02\x00\x01/\x00\x03\x05hello"))
	f.Add([]byte("\x02\x03\x00\x00\x00\x07\x05hello"))
	options := Options{MaxUntar: 64 << 10, MaxEntries: 12}
	f.Fuzz(func(t *testing.T, data []byte) {
		outside := t.TempDir()
		dir := filepath.Join(outside, "a", "b")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		archive, links := archiveFrom(t, fuzz.From(data))
		err := untar(context.Background(), bytes.NewReader(archive), dir, options)
		if err == nil && links {
			t.Error("an archive with a hard link was unpacked")
		}
		if err != nil && !errors.Is(err, ErrArchive) {
			t.Errorf("an archive is no fault of the disk: %v", err)
		}
		checkTree(t, outside, dir, options)
	})
}

// archiveFrom returns an archive, and whether it has hard links.
func archiveFrom(t *testing.T, in *fuzz.Input) (archive []byte, links bool) {
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	w := tar.NewWriter(zipped)
	for range in.Below(16) {
		header := &tar.Header{
			Typeflag: fuzz.Pick[byte](in, tar.TypeReg, tar.TypeDir, tar.TypeSymlink, tar.TypeLink, tar.TypeFifo, tar.TypeChar, tar.TypeXGlobalHeader),
			Mode:     int64(fuzz.Pick(in, 0o644, 0o755, 0o4777, 0)),
		}
		header.Name = fuzz.Pick(in, "a", "a/b", "a/b/c", "../x", "/x", "a/../../x", "./a", "a//b", ".", "..", "l/x", in.Text())
		if header.Typeflag == tar.TypeSymlink || header.Typeflag == tar.TypeLink {
			header.Linkname = fuzz.Pick(in, "..", "/", "a", "../..", in.Text())
		}
		body := ""
		if header.Typeflag == tar.TypeReg {
			body = strings.Repeat(in.Text(), 1+in.Below(256))
			header.Size = int64(len(body))
		}
		if header.Typeflag == tar.TypeXGlobalHeader {
			header = &tar.Header{Typeflag: tar.TypeXGlobalHeader, Name: "g", PAXRecords: map[string]string{"comment": "c"}}
		}
		if w.WriteHeader(header) != nil {
			continue // cannot be in an archive
		}
		links = links || header.Typeflag == tar.TypeLink
		if _, err := w.Write([]byte(body)); err != nil {
			t.Fatal(err)
		}
	}
	if in.Bool() {
		// A truncated one.
		if err := errors.Join(w.Flush(), zipped.Close()); err != nil {
			t.Fatal(err)
		}
		return out.Bytes(), links
	}
	if err := errors.Join(w.Close(), zipped.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes(), links
}

// checkTree checks that there are only files and directories, within the bounds.
func checkTree(t *testing.T, outside, dir string, options Options) {
	size, entries := int64(0), 0
	err := filepath.WalkDir(outside, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == outside || path == filepath.Dir(dir) || path == dir {
			return err
		}
		if !strings.HasPrefix(path, dir+"/") {
			t.Errorf("%s is outside of the directory", path)
		}
		if d.Type()&^fs.ModeDir != 0 {
			t.Errorf("%s is neither a file nor a directory", path)
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if info.Mode()&(fs.ModeSetuid|fs.ModeSetgid) != 0 {
			t.Errorf("%s is run as someone else: %s", path, info.Mode())
		}
		if !d.IsDir() {
			size += info.Size()
		}
		entries++
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if size > options.MaxUntar || entries > options.MaxEntries {
		t.Errorf("%d bytes in %d entries", size, entries)
	}
}

// FuzzProgramDir: for any dir, the program is in the artifact or there is an error.
func FuzzProgramDir(f *testing.F) {
	for _, dir := range []string{"", ".", "/", "infra", "./infra/", "../x", "infra/../..", "/../x", "out", "out/x", "infra/\x00", "Pulumi.yaml"} {
		f.Add(dir)
	}
	outside := f.TempDir()
	root := filepath.Join(outside, "artifact")
	err := errors.Join(os.MkdirAll(filepath.Join(root, "infra"), 0o700), os.Mkdir(filepath.Join(outside, "x"), 0o700),
		os.Symlink(outside, filepath.Join(root, "out")), os.WriteFile(filepath.Join(root, "Pulumi.yaml"), nil, 0o600))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, dir string) {
		found, err := ProgramDir(root, dir)
		if err != nil {
			if !errors.Is(err, ErrDir) || len(err.Error()) > 16<<10 {
				t.Errorf("dir %q: %v", dir, err)
			}
			return
		}
		real, err := filepath.EvalSymlinks(found)
		if err != nil || (real != root && !strings.HasPrefix(real, root+"/")) {
			t.Errorf("dir %q is %s (%v)", dir, real, err)
		}
	})
}

// FuzzLocate: the URL of an artifact is that of a server, and nothing that may be a
// credential in it is shown.
func FuzzLocate(f *testing.F) {
	f.Add("http", "u:Zq-secret-7", "host/path", "token=Zq-secret-7")
	f.Add("ftp", "Zq-secret-7", "", "")
	f.Add("https", "", "h", "X-Amz-Signature=Zq-secret-7")
	fetcher := New(Options{})
	f.Fuzz(func(t *testing.T, scheme, user, place, query string) {
		const secret = "Zq-secret-7"
		if strings.Contains(scheme+place, "Zq") {
			return
		}
		u, err := fetcher.locate(scheme + "://" + strings.ReplaceAll(user, "/", "") + ":" + secret + "@" + place + "?" + query + secret)
		if err != nil {
			if strings.Contains(err.Error(), secret) || !errors.Is(err, ErrArchive) {
				t.Error(err)
			}
			return
		}
		if shown := safeURL(u); strings.Contains(shown, secret) || u.Host == "" {
			t.Errorf("%s is shown as %q", u, shown)
		}
	})
}
