// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package languages

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/tests/sources"
)

// registryToken is what the registry wants to see.
const registryToken = "canary-of-the-registry-90ce"

// registry is a registry of npm. Unless it is public, each request needs the token.
type registry struct {
	*httptest.Server
	public bool
	// versions are the manifests of the versions of a package, in the words of the registry.
	versions map[string]map[string]map[string]any
	latest   map[string]string
	tarballs map[string][]byte
	// files are tarballs that are on disk.
	files map[string]string
	// downloads counts the tarballs that were asked for.
	downloads atomic.Int64
}

func newRegistry(t *testing.T) *registry {
	t.Helper()
	r := &registry{
		versions: map[string]map[string]map[string]any{}, latest: map[string]string{},
		tarballs: map[string][]byte{}, files: map[string]string{},
	}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

// npmrc has npm ask the registry, with a token from the environment.
func (r *registry) npmrc() string {
	return "registry=" + r.URL + "/\n" + strings.TrimPrefix(r.URL, "http:") + "/:_authToken=${NPM_TOKEN}\n"
}

// ServeHTTP answers with what the registry knows of a package, or with a tarball.
func (r *registry) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	name := strings.TrimPrefix(request.URL.Path, "/") // with a / in place of %2f
	if strings.HasSuffix(name, ".tgz") {
		r.downloads.Add(1)
	}
	switch {
	case !r.public && request.Header.Get("Authorization") != "Bearer "+registryToken:
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
func (r *registry) offer(manifest map[string]any, integrity string) (tarball string) {
	name, version := manifest["name"].(string), manifest["version"].(string)
	tarball = path.Join(name, "-", version+".tgz")
	manifest["dist"] = map[string]string{"tarball": r.URL + "/" + tarball, "integrity": integrity}
	if r.versions[name] == nil {
		r.versions[name] = map[string]map[string]any{}
	}
	r.versions[name][version], r.latest[name] = manifest, version
	return tarball
}

// publish adds a package with a module. It returns the digest by which lock files name it.
func (r *registry) publish(t *testing.T, name, version, module string) (integrity string) {
	t.Helper()
	return r.publishFiles(t, name, version, sources.Files{"index.js": module})
}

// publishFiles adds a package with the files, of which index.js is the module.
func (r *registry) publishFiles(t *testing.T, name, version string, files sources.Files) (integrity string) {
	t.Helper()
	g := NewWithT(t)
	manifest := map[string]any{"name": name, "version": version, "main": "index.js"}
	text, err := json.Marshal(manifest)
	g.Expect(err).NotTo(HaveOccurred())
	var packed bytes.Buffer
	compressed := gzip.NewWriter(&packed)
	archive := tar.NewWriter(compressed)
	for file, content := range both(files, sources.Files{"package.json": string(text)}) {
		g.Expect(archive.WriteHeader(&tar.Header{Name: "package/" + file, Mode: 0o644, Size: int64(len(content))})).To(Succeed())
		_, err := archive.Write([]byte(content))
		g.Expect(err).NotTo(HaveOccurred())
	}
	g.Expect(archive.Close()).To(Succeed())
	g.Expect(compressed.Close()).To(Succeed())
	digest := sha512.Sum512(packed.Bytes())
	integrity = "sha512-" + base64.StdEncoding.EncodeToString(digest[:])
	r.tarballs[r.offer(manifest, integrity)] = packed.Bytes()
	return integrity
}

// lock is a package-lock.json.
type lock struct {
	Name            string                    `json:"name"`
	LockfileVersion int                       `json:"lockfileVersion"`
	Requires        bool                      `json:"requires"`
	Packages        map[string]map[string]any `json:"packages"`
}

// publishSDK adds the packages of bin/nodejs. It returns the manifest and the lock file of a program that has Pulumi's
// package and the compiler of them.
func (r *registry) publishSDK(t *testing.T) sources.Files {
	t.Helper()
	g := NewWithT(t)
	sdk, err := sdkDir()
	g.Expect(err).NotTo(HaveOccurred())
	dir := filepath.Dir(sdk)
	var all lock
	text, err := os.ReadFile(filepath.Join(dir, "package-lock.json"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(json.Unmarshal(text, &all)).To(Succeed())
	all.Packages[""] = map[string]any{
		"name": "app", "main": "index.ts",
		"dependencies": map[string]string{"@pulumi/pulumi": "3.259.0", "@types/node": "22.19.1", "typescript": "5.9.3"},
	}
	for place, locked := range all.Packages {
		if place == "node_modules/pnpm" || place == "node_modules/@pulumi/policy" {
			delete(all.Packages, place) // they need no other package, and none needs them: they are only offered
		}
		text, err := os.ReadFile(filepath.Join(dir, place, "package.json"))
		if place == "" || err != nil {
			continue // that of another platform
		}
		var manifest map[string]any
		g.Expect(json.Unmarshal(text, &manifest)).To(Succeed())
		manifest["version"] = locked["version"] // which is v1.21.0 in that of @pulumi/policy
		integrity := locked["integrity"].(string)
		digest, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(integrity, "sha512-"))
		g.Expect(err).NotTo(HaveOccurred())
		sum := hex.EncodeToString(digest)
		r.files[r.offer(manifest, integrity)] = filepath.Join(dir, "tarballs", "sha512", sum[:2], sum[2:4], sum[4:])
	}
	delete(all.Packages, "node_modules/@pulumi/random") // which only those who ask for it get
	manifest, err := json.Marshal(all.Packages[""])
	g.Expect(err).NotTo(HaveOccurred())
	locked, err := json.MarshalIndent(all, "", "  ")
	g.Expect(err).NotTo(HaveOccurred())
	return sources.Files{"package.json": string(manifest), "package-lock.json": string(locked), ".npmrc": r.npmrc()}
}
