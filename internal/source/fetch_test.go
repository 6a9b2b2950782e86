// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package source_test

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/source"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// tight returns bounds that a test can reach.
func tight() source.Options {
	return source.Options{MaxDownload: 64 << 10, MaxUntar: 1 << 20, MaxEntries: 50, Timeout: 20 * time.Second}
}

// expectNothingLeft checks that a failed Fetch left nothing behind.
func expectNothingLeft(g *WithT, dir string) {
	g.Expect(filepath.Glob(filepath.Join(filepath.Dir(dir), "*"))).To(BeEmpty())
	g.Expect(filepath.Glob(filepath.Join(filepath.Dir(dir), ".*"))).To(BeEmpty())
}

func TestFetchUnpacksTheArtifact(t *testing.T) {
	g := NewWithT(t)
	archive := archiveOf(t,
		entry{name: "pax_global_header", kind: tar.TypeXGlobalHeader, pax: map[string]string{"comment": "4e1c"}},
		entry{name: "./", kind: tar.TypeDir, mode: 0o755},
		entry{name: "infra/", kind: tar.TypeDir, mode: 0o500},
		entry{name: "infra/Pulumi.yaml", body: "name: a\n"},
		entry{name: "deep/er/run.sh", body: "#!/bin/sh\n", mode: 0o4755},
		entry{name: "link", kind: tar.TypeSymlink, link: "/etc/passwd"},
		entry{name: "infra/up", kind: tar.TypeSymlink, link: "../../.."},
	)
	dir := filepath.Join(t.TempDir(), "program")
	err := source.New(tight()).Fetch(context.Background(),
		run.Artifact{URL: serveArchive(t, archive) + "/a.tar.gz", Digest: digestOf(archive)}, dir)
	g.Expect(err).ToNot(HaveOccurred())

	var found []string
	g.Expect(filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		rel, _ := filepath.Rel(dir, path)
		found = append(found, rel)
		return err
	})).To(Succeed())
	g.Expect(found).To(ConsistOf(".", "infra", "infra/Pulumi.yaml", "deep", "deep/er", "deep/er/run.sh"),
		"symbolic links and the header of git archive are left out")
	g.Expect(os.ReadFile(filepath.Join(dir, "infra/Pulumi.yaml"))).To(BeEquivalentTo("name: a\n"))
	info, err := os.Stat(filepath.Join(dir, "deep/er/run.sh"))
	g.Expect(err).ToNot(HaveOccurred())
	g.Expect(info.Mode()).To(Equal(os.FileMode(0o755)), "executable, and without the set-user-ID bit")
	g.Expect(filepath.Glob(filepath.Join(filepath.Dir(dir), ".*"))).To(BeEmpty(), "no temporary directory is left")
}

func TestFetchRefusesArchives(t *testing.T) {
	for name, tt := range map[string]struct {
		archive []byte
		want    string
	}{
		"text that is not an archive": {[]byte("<html>an error page</html>"), "it is not a gzip-compressed tar archive"},
		"nothing at all":              {nil, "it is not a gzip-compressed tar archive"},
		"compressed text":             {gzipped(t, bytes.Repeat([]byte("no tar "), 200)), "it could not be unpacked: tar error"},
		"an archive that was cut off": {
			func() []byte {
				whole := archiveOf(t, entry{name: "a", body: strings.Repeat("0123456789abcdef", 100)})
				return whole[:len(whole)/2]
			}(), "unexpected EOF"},
		"an entry above the directory":     {archiveOf(t, entry{name: "../evil", body: "x"}), `invalid name error "../evil"`},
		"an entry that goes up in it":      {archiveOf(t, entry{name: "a/../../evil", body: "x"}), `invalid name error "a/../../evil"`},
		"the directory above":              {archiveOf(t, entry{name: "..", kind: tar.TypeDir}), `its entry ".." has an invalid name`},
		"a file in place of the one above": {archiveOf(t, entry{name: "..", body: "x"}), `its entry ".." has an invalid name`},
		"an absolute path":                 {archiveOf(t, entry{name: "/etc/evil", body: "x"}), `invalid name error "/etc/evil"`},
		"a path of Windows":                {archiveOf(t, entry{name: `a\..\evil`, body: "x"}), `invalid name error`},
		"a path that no disk takes":        {archiveOf(t, entry{name: strings.Repeat("a/", 3000) + "b", body: "x"}), "has an invalid name"},
		"a file where a directory was":     {archiveOf(t, entry{name: "a/b", body: "x"}, entry{name: "a", body: "x"}), "it could not be unpacked"},
		"a hard link":                      {archiveOf(t, entry{name: "a", body: "x"}, entry{name: "b", kind: tar.TypeLink, link: "a"}), `its entry "b" is a hard link`},
		"a hard link to the outside":       {archiveOf(t, entry{name: "b", kind: tar.TypeLink, link: "/etc/passwd"}), `its entry "b" is a hard link`},
		"a device":                         {archiveOf(t, entry{name: "b", kind: tar.TypeChar}), "unsupported file type"},
		"a pipe":                           {archiveOf(t, entry{name: "b", kind: tar.TypeFifo}), "unsupported file type"},
		"a download that is too big":       {make([]byte, 65<<10), "it exceeds the limit of 65536 bytes: exclude files"},
		"a bomb of one file":               {archiveOf(t, entry{name: "a", body: strings.Repeat("0", 2<<20)}), "it exceeds the limit of 1 MiB when unpacked"},
		"a bomb of headers": {gzipped(t, tarOf(t, repeat(1100, entry{name: "a", pax: map[string]string{"X.y": "z"}})...)),
			"it exceeds the limit of 1 MiB when unpacked"},
		"a bomb of many files":  {archiveOf(t, many(51)...), "it has more than 50 files and directories"},
		"a bomb of directories": {archiveOf(t, entry{name: strings.Repeat("d/", 51) + "f"}), "it has more than 50 files and directories"},
		"a bomb of links that are left out": {archiveOf(t, repeat(2100, entry{name: "l", kind: tar.TypeSymlink, link: "x"})...),
			"it exceeds the limit of 1 MiB when unpacked"},
		"sizes that overflow": {overflow(t), "it exceeds the limit of 1 MiB when unpacked"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			dir := filepath.Join(t.TempDir(), "program")
			url := serveArchive(t, tt.archive) + "/a.tar.gz"
			err := source.New(tight()).Fetch(context.Background(), run.Artifact{URL: url, Digest: digestOf(tt.archive)}, dir)
			g.Expect(err).To(MatchError(source.ErrArchive))
			g.Expect(err.Error()).To(HavePrefix("artifact " + url + ": "))
			g.Expect(err.Error()).To(ContainSubstring(tt.want))
			g.Expect(err.Error()).ToNot(ContainSubstring(filepath.Dir(dir)), "no path of this machine")
			g.Expect(len(err.Error())).To(BeNumerically("<", 2048))
			expectNothingLeft(g, dir)
		})
	}
}

// many returns n empty files.
func many(n int) []entry {
	entries := make([]entry, n)
	for i := range entries {
		entries[i].name = "f" + strings.Repeat("0", i)
	}
	return entries
}

// repeat returns the entry n times.
func repeat(n int, e entry) []entry {
	entries := make([]entry, n)
	for i := range entries {
		entries[i] = e
	}
	return entries
}

func TestFetchVerifiesTheDigest(t *testing.T) {
	archive := archiveOf(t, entry{name: "a", body: "x"})
	for name, tt := range map[string]struct{ digest, want string }{
		"another digest":     {digestOf([]byte("other")), "the content from its server does not match the digest sha256:"},
		"no digest":          {"", "cannot be verified"},
		"an unknown digest":  {"md5:" + strings.Repeat("0", 32), "cannot be verified"},
		"a malformed digest": {"sha256:zz", "cannot be verified"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			dir := filepath.Join(t.TempDir(), "program")
			err := source.New(tight()).Fetch(context.Background(), run.Artifact{URL: serveArchive(t, archive), Digest: tt.digest}, dir)
			g.Expect(err).To(MatchError(source.ErrArchive))
			g.Expect(err).To(MatchError(ContainSubstring(tt.want)))
			expectNothingLeft(g, dir)
		})
	}
}

func TestFetchReportsWhatTheServerDid(t *testing.T) {
	archive := archiveOf(t, entry{name: "a", body: "x"})
	for name, tt := range map[string]struct {
		handler http.HandlerFunc
		want    string
		is      error
	}{
		"the artifact is gone": {http.NotFound, "it is gone (404)", source.ErrGone},
		"access is refused": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusForbidden)
		}, "its server answers (403 Forbidden)", nil},
		"the server fails": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusInternalServerError)
		}, "its server answers with an error (429 or 5xx), tried 1 time(s)", nil},
		"the answer is cut off": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100000")
			_, _ = w.Write(archive)
		}, "unexpected EOF", nil},
		"the server leads elsewhere": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "ftp://user:hunter2@elsewhere/?token=hunter2", http.StatusFound)
		}, "unsupported protocol scheme", nil},
		"the server leads nowhere": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "http://user:hunter2@a:b/?token=hunter2")
			w.WriteHeader(http.StatusFound)
		}, "failed to parse Location header", nil},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			dir := filepath.Join(t.TempDir(), "program")
			url := strings.Replace(serve(t, tt.handler), "http://", "http://user:hunter2@", 1) + "/a.tar.gz?X-Signature=hunter2#hunter2"
			err := source.New(tight()).Fetch(context.Background(), run.Artifact{URL: url, Digest: digestOf(archive)}, dir)
			g.Expect(err).To(MatchError(ContainSubstring(tt.want)))
			g.Expect(err.Error()).To(MatchRegexp(`^artifact http://127\.0\.0\.1:\d+/a\.tar\.gz: it `))
			if tt.is != nil {
				g.Expect(err).To(MatchError(tt.is))
			}
			for e := err; e != nil; e = errors.Unwrap(e) {
				g.Expect(e.Error()).ToNot(ContainSubstring("hunter2"))
			}
			expectNothingLeft(g, dir)
		})
	}
	t.Run("there is no server", func(t *testing.T) {
		g := NewWithT(t)
		server := httptest.NewServer(http.NotFoundHandler())
		server.Close()
		dir := filepath.Join(t.TempDir(), "program")
		err := source.New(tight()).Fetch(context.Background(), run.Artifact{URL: server.URL, Digest: digestOf(archive)}, dir)
		g.Expect(err).To(MatchError(ContainSubstring("connection refused")))
		g.Expect(err).ToNot(MatchError(source.ErrArchive))
	})
}

func TestFetchRefusesURLs(t *testing.T) {
	for _, url := range []string{"", "a.tar.gz", "file:///etc/passwd", "http://", "http://user:hunter2@host:port/", "http://\x00hunter2"} {
		g := NewWithT(t)
		err := source.New(source.Options{}).Fetch(context.Background(), run.Artifact{URL: url}, filepath.Join(t.TempDir(), "program"))
		g.Expect(err).To(MatchError("the URL of the artifact must use http or https"))
		g.Expect(err).To(MatchError(source.ErrArchive))
	}
}

// retries is what a server answers first, and how a Fetcher that may retry ends.
type retries struct {
	status    int
	failures  int32
	retries   int
	wantTries int32
	wantErr   string
}

func TestFetchTriesAgain(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]retries{
		"until the server answers":         {http.StatusServiceUnavailable, 2, 3, 3, ""},
		"as often as it may":               {http.StatusServiceUnavailable, 9, 2, 3, "tried 3 time(s)"},
		"not at all by default":            {http.StatusServiceUnavailable, 9, 0, 1, "tried 1 time(s)"},
		"not for what will not come again": {http.StatusNotFound, 9, 3, 1, "it is gone"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tt.run(t)
		})
	}
}

// An error of 500 is waited for: 5 s.
func TestFetchTriesAgainAfterAWait(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	retries{http.StatusInternalServerError, 1, 1, 2, ""}.run(t)
}

func (tt retries) run(t *testing.T) {
	t.Helper()
	g := NewWithT(t)
	archive := archiveOf(t, entry{name: "a", body: "x"})
	var tries atomic.Int32
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		if tries.Add(1) <= tt.failures {
			w.Header().Set("Retry-After", "0") // honoured for 503 only
			w.WriteHeader(tt.status)
			return
		}
		_, _ = w.Write(archive)
	})
	options := tight()
	options.Retries = tt.retries
	dir := filepath.Join(t.TempDir(), "program")
	err := source.New(options).Fetch(context.Background(), run.Artifact{URL: url, Digest: digestOf(archive)}, dir)
	g.Expect(tries.Load()).To(Equal(tt.wantTries))
	if tt.wantErr != "" {
		g.Expect(err).To(MatchError(ContainSubstring(tt.wantErr)))
		return
	}
	g.Expect(err).ToNot(HaveOccurred())
	g.Expect(filepath.Join(dir, "a")).To(BeARegularFile())
}

func TestFetchEnds(t *testing.T) {
	t.Parallel()
	hang := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	for name, handler := range map[string]http.HandlerFunc{
		"when the server hangs": hang,
		"when the server stops in the middle": func(w http.ResponseWriter, r *http.Request) {
			_, _ = w.Write([]byte("x"))
			w.(http.Flusher).Flush()
			hang(w, r)
		},
		"when the server asks to come back in an hour": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "3600")
			w.WriteHeader(http.StatusServiceUnavailable)
		},
	} {
		for _, cancelled := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				g := NewWithT(t)
				options := tight()
				options.Retries = 9
				ctx, cancel := context.WithCancelCause(context.Background())
				defer cancel(nil)
				asked := make(chan struct{}, 16)
				url := serve(t, func(w http.ResponseWriter, r *http.Request) {
					asked <- struct{}{}
					handler(w, r)
				})
				stop := errors.New("the controller stops")
				if cancelled {
					go func() {
						<-asked
						cancel(stop)
					}()
				} else {
					options.Timeout, options.Self = 300*time.Millisecond, "the pod of the run"
				}
				dir := filepath.Join(t.TempDir(), "program")
				began := time.Now()
				err := source.New(options).Fetch(ctx, run.Artifact{URL: url, Digest: digestOf(nil)}, dir)
				g.Expect(time.Since(began)).To(BeNumerically("<", time.Minute))
				if cancelled {
					g.Expect(err).To(MatchError(stop))
				} else {
					g.Expect(err).To(MatchError(context.DeadlineExceeded))
					g.Expect(err).To(MatchError(ContainSubstring("the download did not finish within 300ms: check that its server is running and that the pod of the run can reach it")))
				}
				expectNothingLeft(g, dir)
			})
		}
	}
}

func TestFetchEndsAnAnswerWithoutEnd(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	options := tight()
	options.Timeout = 2 * time.Second // only that ends it: the library reads on after the limit
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write(make([]byte, 2*options.MaxDownload))
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	dir := filepath.Join(t.TempDir(), "program")
	err := source.New(options).Fetch(context.Background(), run.Artifact{URL: url, Digest: digestOf(nil)}, dir)
	g.Expect(err).To(MatchError(source.ErrArchive))
	g.Expect(err).To(MatchError(ContainSubstring("it exceeds the limit of 65536 bytes")))
	expectNothingLeft(g, dir)
}

func TestFetchIntoTheWorkspace(t *testing.T) {
	archive := archiveOf(t, entry{name: "a", body: "x"})
	artifact := run.Artifact{URL: serveArchive(t, archive), Digest: digestOf(archive)}
	t.Run("takes the place of an empty directory", func(t *testing.T) {
		g := NewWithT(t)
		dir := t.TempDir()
		g.Expect(source.New(tight()).Fetch(context.Background(), artifact, dir)).To(Succeed())
		g.Expect(filepath.Join(dir, "a")).To(BeARegularFile())
	})
	t.Run("never mixes with what is there", func(t *testing.T) {
		g := NewWithT(t)
		dir := t.TempDir()
		g.Expect(os.WriteFile(filepath.Join(dir, "old"), nil, 0o600)).To(Succeed())
		g.Expect(source.New(tight()).Fetch(context.Background(), artifact, dir)).To(MatchError(source.ErrWorkspace))
		g.Expect(filepath.Join(dir, "a")).ToNot(BeAnExistingFile())
		g.Expect(filepath.Join(dir, "old")).To(BeARegularFile())
	})
	t.Run("needs the directory above", func(t *testing.T) {
		g := NewWithT(t)
		err := source.New(tight()).Fetch(context.Background(), artifact, filepath.Join(t.TempDir(), "missing", "program"))
		g.Expect(err).To(MatchError(source.ErrWorkspace))
	})
	t.Run("unpacks an archive without entries as an empty directory", func(t *testing.T) {
		g := NewWithT(t)
		empty := archiveOf(t)
		dir := filepath.Join(t.TempDir(), "program")
		g.Expect(source.New(tight()).Fetch(context.Background(),
			run.Artifact{URL: serveArchive(t, empty), Digest: digestOf(empty)}, dir)).To(Succeed())
		g.Expect(dir).To(BeADirectory())
	})
}

func TestFetchFromAnotherHost(t *testing.T) {
	g := NewWithT(t)
	archive := archiveOf(t, entry{name: "a", body: "x"})
	options := tight()
	options.Hostname = strings.TrimPrefix(serveArchive(t, archive), "http://")
	err := source.New(options).Fetch(context.Background(), run.Artifact{
		URL: "http://source-controller.flux-system.svc.cluster.local./a.tar.gz", Digest: digestOf(archive),
	}, filepath.Join(t.TempDir(), "program"))
	g.Expect(err).ToNot(HaveOccurred())
}
