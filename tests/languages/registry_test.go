// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package languages

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/tests/sources"
	"github.com/flux-pulumi/pulumi-controller/tests/toolchain"
)

// registryToken is what the registry wants to see.
const registryToken = "canary-of-the-registry-90ce"

// registry is a registry of npm for a test.
type registry struct{ *toolchain.Registry }

// newRegistry starts a registry in which each request needs the token.
func newRegistry(t *testing.T) *registry {
	t.Helper()
	return startRegistry(t, registryToken)
}

// newPublicRegistry starts one that needs none.
func newPublicRegistry(t *testing.T) *registry {
	t.Helper()
	return startRegistry(t, "")
}

func startRegistry(t *testing.T, token string) *registry {
	t.Helper()
	r := &registry{toolchain.NewRegistry(token)}
	t.Cleanup(r.Close)
	return r
}

// publish adds a package with a module. It returns the digest by which lock files name it.
func (r *registry) publish(t *testing.T, name, version, module string) (integrity string) {
	t.Helper()
	return r.publishFiles(t, name, version, sources.Files{"index.js": module})
}

// publishFiles adds a package with the files, of which index.js is the module.
func (r *registry) publishFiles(t *testing.T, name, version string, files sources.Files) (integrity string) {
	t.Helper()
	integrity, err := r.Publish(name, version, files)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return integrity
}

// publishSDK adds the packages of bin/nodejs. It returns the manifest and the lock file of a program that has Pulumi's
// package and the compiler of them.
func (r *registry) publishSDK(t *testing.T) sources.Files {
	t.Helper()
	files, err := r.PublishSDK()
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return files
}
