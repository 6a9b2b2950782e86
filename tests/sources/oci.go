// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package sources

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/fluxcd/pkg/tar"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// The media types that `flux push artifact` writes.
const (
	fluxConfigMediaType  types.MediaType = "application/vnd.cncf.flux.config.v1+json"
	fluxContentMediaType types.MediaType = "application/vnd.cncf.flux.content.v1.tar+gzip"
)

// Annotations of an artifact that say where its files come from. source-controller copies them to the artifact of an
// OCIRepository.
const (
	// AnnotationRevision is a Flux revision, such as main@sha1:<commit>.
	AnnotationRevision = "org.opencontainers.image.revision"
	// AnnotationSource is the URL of the repository.
	AnnotationSource = "org.opencontainers.image.source"
)

// OCIRegistry is an in-memory registry. It speaks plain HTTP, so an OCIRepository that uses it needs spec.insecure.
type OCIRegistry struct {
	host   string
	server *http.Server
	served chan error
}

// NewOCIRegistry listens on a loopback port. Close ends it.
func NewOCIRegistry() (*OCIRegistry, error) {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("starting an OCI registry: %w", err)
	}
	r := &OCIRegistry{
		host: listener.Addr().String(),
		server: &http.Server{
			Handler:           registry.New(registry.Logger(log.New(io.Discard, "", 0))),
			ReadHeaderTimeout: 10 * time.Second,
		},
		served: make(chan error, 1),
	}
	go func() { r.served <- r.server.Serve(listener) }()
	return r, nil
}

// URL returns the spec.url of an OCIRepository for a repository such as "team/app".
func (r *OCIRegistry) URL(repository string) string { return "oci://" + r.host + "/" + repository }

// Close ends the registry.
func (r *OCIRegistry) Close() error {
	return closeServer(r.server, r.served)
}

// PushArtifact makes the artifact that `flux push artifact` would make of the files and stores it under a reference of
// this registry, as "team/app:latest". It returns the digest of the manifest, as "sha256:<hex>".
func (r *OCIRegistry) PushArtifact(ctx context.Context, reference string, files Files, annotations map[string]string) (string, error) {
	tag, err := name.NewTag(r.host+"/"+reference, name.Insecure)
	if err != nil {
		return "", fmt.Errorf("pushing artifact %s: %w", reference, err)
	}
	archive, err := files.archive()
	if err != nil {
		return "", fmt.Errorf("pushing artifact %s: %w", reference, err)
	}
	image, err := fluxArtifact(archive, annotations)
	if err != nil {
		return "", fmt.Errorf("building artifact %s: %w", reference, err)
	}
	if err := remote.Write(tag, image, remote.WithContext(ctx)); err != nil {
		return "", fmt.Errorf("pushing artifact %s: %w", reference, err)
	}
	digest, err := image.Digest()
	return digest.String(), err
}

// fluxArtifact returns an OCI image with the archive as its only layer.
func fluxArtifact(archive []byte, annotations map[string]string) (v1.Image, error) {
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), fluxConfigMediaType)
	image, err := mutate.Append(image, mutate.Addendum{Layer: static.NewLayer(archive, fluxContentMediaType)})
	if err != nil {
		return nil, err
	}
	if len(annotations) == 0 {
		return image, nil
	}
	return mutate.Annotations(image, annotations).(v1.Image), nil
}

// archive returns the files as a tar.gz.
func (f Files) archive() ([]byte, error) {
	dir, err := os.MkdirTemp("", "artifact-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := f.Write(dir); err != nil {
		return nil, err
	}
	var archive bytes.Buffer
	if _, err := tar.Tar(dir, &archive); err != nil {
		return nil, fmt.Errorf("archiving files: %w", err)
	}
	return archive.Bytes(), nil
}
