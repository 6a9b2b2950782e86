// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package toolchain

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"sync/atomic"

	"github.com/flux-pulumi/pulumi-controller/tests/sources"
)

// Registry is a registry of npm.
type Registry struct {
	*httptest.Server
	// Token is needed for each request, unless it is empty.
	Token string
	// Downloads counts the tarballs that were asked for.
	Downloads atomic.Int64

	// versions are the manifests of the versions of a package, in the words of the registry.
	versions map[string]map[string]map[string]any
	latest   map[string]string
	tarballs map[string][]byte
	// files are tarballs that are on disk.
	files map[string]string
}

// NewRegistry starts a registry without a package. It is to be closed.
func NewRegistry(token string) *Registry {
	r := &Registry{
		Token:    token,
		versions: map[string]map[string]map[string]any{}, latest: map[string]string{},
		tarballs: map[string][]byte{}, files: map[string]string{},
	}
	r.Server = httptest.NewServer(r)
	return r
}

// NPMRC has npm ask the registry, with a token from the environment.
func (r *Registry) NPMRC() string {
	settings := "registry=" + r.URL + "/\n"
	if r.Token != "" {
		settings += strings.TrimPrefix(r.URL, "http:") + "/:_authToken=${NPM_TOKEN}\n"
	}
	return settings
}

// ServeHTTP answers with what the registry knows of a package, or with a tarball.
func (r *Registry) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	name := strings.TrimPrefix(request.URL.Path, "/") // with a / in place of %2f
	if strings.HasSuffix(name, ".tgz") {
		r.Downloads.Add(1)
	}
	switch {
	case r.Token != "" && request.Header.Get("Authorization") != "Bearer "+r.Token:
		http.Error(w, `{"error": "unauthorized"}`, http.StatusUnauthorized)
	case r.tarballs[name] != nil:
		_, _ = w.Write(r.tarballs[name]) // npm notices
	case r.files[name] != "":
		http.ServeFile(w, request, r.files[name])
	case r.versions[name] != nil:
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{
			"name": name, "dist-tags": map[string]string{"latest": r.latest[name]}, "versions": r.versions[name],
		}) // as above
	default:
		http.NotFound(w, request)
	}
}

// offer adds a version of a package, of which latest is the last that is added.
func (r *Registry) offer(manifest map[string]any, integrity string) (tarball string) {
	name, version := manifest["name"].(string), manifest["version"].(string)
	tarball = path.Join(name, "-", version+".tgz")
	manifest["dist"] = map[string]string{"tarball": r.URL + "/" + tarball, "integrity": integrity}
	if r.versions[name] == nil {
		r.versions[name] = map[string]map[string]any{}
	}
	r.versions[name][version], r.latest[name] = manifest, version
	return tarball
}

// Publish adds a package with the files, of which index.js is the module. It returns the digest by which lock files name it.
func (r *Registry) Publish(name, version string, files sources.Files) (integrity string, err error) {
	manifest := map[string]any{"name": name, "version": version, "main": "index.js"}
	packed, err := pack(manifest, files)
	if err != nil {
		return "", fmt.Errorf("packing %s: %w", name, err)
	}
	digest := sha512.Sum512(packed)
	integrity = "sha512-" + base64.StdEncoding.EncodeToString(digest[:])
	r.tarballs[r.offer(manifest, integrity)] = packed
	return integrity, nil
}

// pack makes a tarball as `npm pack` does.
func pack(manifest map[string]any, files sources.Files) ([]byte, error) {
	text, err := json.Marshal(manifest)
	if err != nil {
		return nil, err
	}
	all := sources.Files{"package.json": string(text)}
	for name, content := range files {
		if name != "package.json" {
			all[name] = content
		}
	}
	var packed bytes.Buffer
	compressed := gzip.NewWriter(&packed)
	archive := tar.NewWriter(compressed)
	for name, content := range all {
		if err := archive.WriteHeader(&tar.Header{Name: "package/" + name, Mode: 0o644, Size: int64(len(content))}); err != nil {
			return nil, err
		}
		if _, err := archive.Write([]byte(content)); err != nil {
			return nil, err
		}
	}
	if err := errors.Join(archive.Close(), compressed.Close()); err != nil {
		return nil, err
	}
	return packed.Bytes(), nil
}
