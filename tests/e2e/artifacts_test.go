// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/flux-pulumi/pulumi-controller/tests/sources"
)

// artifactServer serves good and bad artifacts of ExternalArtifacts.
type artifactServer struct {
	url    string
	server *http.Server
	served chan error

	mu       sync.Mutex
	handlers map[string]http.Handler
	hits     map[string]int
}

func newArtifactServer() (*artifactServer, error) {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &artifactServer{
		url: "http://" + listener.Addr().String(), served: make(chan error, 1),
		handlers: map[string]http.Handler{}, hits: map[string]int{},
	}
	s.server = &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second}
	go func() { s.served <- s.server.Serve(listener) }()
	return s, nil
}

func (s *artifactServer) Close() error {
	err := s.server.Close()
	if served := <-s.served; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}

// ServeHTTP counts requests, and answers 404 without a handler.
func (s *artifactServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.hits[r.URL.Path]++
	handler, ok := s.handlers[r.URL.Path]
	s.mu.Unlock()
	if !ok {
		handler = http.NotFoundHandler()
	}
	handler.ServeHTTP(w, r)
}

func (s *artifactServer) set(path string, handler http.Handler) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.handlers[path] = handler
}

// downloads counts how often a path was asked for.
func (s *artifactServer) downloads(path string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hits[path]
}

// content serves bytes.
func content(data []byte) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
	})
}

// publication is an artifact that an ExternalArtifact offers.
type publication struct {
	// revision that is reported.
	revision string
	// archive whose digest is reported.
	archive []byte
	// handler that answers a download; nil serves the archive.
	handler http.Handler
	// missing has the server answer 404.
	missing bool
}

func (t *tenant) artifactPath(revision string) string {
	return fmt.Sprintf("/%s/%x.tar.gz", t.namespace, sha256.Sum256([]byte(revision)))
}

// publish has the ExternalArtifact named app offer the artifact.
func (t *tenant) publish(p publication) *sourcev1.ExternalArtifact {
	t.test.Helper()
	path := t.artifactPath(p.revision)
	switch {
	case p.missing:
	case p.handler != nil:
		t.artifacts.set(path, p.handler)
	default:
		t.artifacts.set(path, content(p.archive))
	}
	object := &sourcev1.ExternalArtifact{ObjectMeta: metav1.ObjectMeta{Name: "app", Namespace: t.namespace}}
	if err := t.Create(t.ctx, object); !apierrors.IsAlreadyExists(err) {
		t.Expect(err).NotTo(HaveOccurred())
	}
	t.Expect(t.Get(t.ctx, keyOf(object), object)).To(Succeed())
	size := int64(len(p.archive))
	object.Status.Artifact = &meta.Artifact{
		Path: path[1:], URL: t.artifacts.url + path, Revision: p.revision,
		Digest:         fmt.Sprintf("sha256:%x", sha256.Sum256(p.archive)),
		LastUpdateTime: metav1.Now(), Size: &size,
	}
	t.Expect(t.Status().Update(t.ctx, object)).To(Succeed())
	return object
}

// publishFiles has the ExternalArtifact offer files.
func (t *tenant) publishFiles(revision string, files sources.Files) *sourcev1.ExternalArtifact {
	t.test.Helper()
	return t.publish(publication{revision: revision, archive: t.archive(entriesOf(files)...)})
}

// entry is one entry of an archive.
type entry struct {
	tar.Header
	text string
}

func entriesOf(files sources.Files) []entry {
	var entries []entry
	for name, text := range files {
		entries = append(entries, file(name, text))
	}
	return entries
}

func file(name, text string) entry {
	return entry{Header: tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(text))}, text: text}
}

func symlink(name, target string) entry {
	return entry{Header: tar.Header{Name: name, Typeflag: tar.TypeSymlink, Linkname: target, Mode: 0o777}}
}

// archive makes a tar.gz of the entries as they are, whatever they are.
func (t *tenant) archive(entries ...entry) []byte {
	t.test.Helper()
	var buffer bytes.Buffer
	zipped := gzip.NewWriter(&buffer)
	archive := tar.NewWriter(zipped)
	for i := range entries {
		t.Expect(archive.WriteHeader(&entries[i].Header)).To(Succeed())
		_, err := archive.Write([]byte(entries[i].text))
		t.Expect(err).NotTo(HaveOccurred())
	}
	t.Expect(archive.Close()).To(Succeed())
	t.Expect(zipped.Close()).To(Succeed())
	return buffer.Bytes()
}
