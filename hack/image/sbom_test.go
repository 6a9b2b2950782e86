// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	. "github.com/onsi/gomega"
	spdxjson "github.com/spdx/tools-golang/json"
	"github.com/spdx/tools-golang/spdx"
	"github.com/spdx/tools-golang/spdx/v2/common"
)

// The program of the image is that of this test.
func TestTheBillOfMaterialsNamesWhatThePackedFilesAreMadeOf(t *testing.T) {
	g := NewWithT(t)
	self, err := os.Executable()
	g.Expect(err).NotTo(HaveOccurred())
	build, ok := debug.ReadBuildInfo()
	g.Expect(ok).To(BeTrue())
	o := options{name: "example.com/a/b:c", arch: "arm64", revision: "abc", sbom: filepath.Join(t.TempDir(), "sbom"), created: time.Unix(0, 0)}
	layers := []layer{{name: "base", entries: []entry{
		{path: "etc/passwd", data: []byte("root")},
		{path: "var/lib/dpkg/status.d/tini", data: []byte("Package: tini\nVersion: 0.19.0-3+b8\nDescription: init\n for containers\n")},
		{path: "usr/local/bin/program", source: self},
	}}}
	digest := v1.Hash{Algorithm: "sha256", Hex: "0123"}
	g.Expect(writeSBOM(o, layers, digest)).To(Succeed())

	file, err := os.Open(o.sbom)
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { _ = file.Close() }()
	document, err := spdxjson.Read(file)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(document.DocumentName).To(Equal("example.com/a/b:c"))
	versions, locators, ids := map[string]string{}, []string{}, map[common.ElementID]bool{"DOCUMENT": true}
	for _, p := range document.Packages {
		versions[p.PackageName] = p.PackageVersion
		g.Expect(ids).NotTo(HaveKey(p.PackageSPDXIdentifier), "each is listed once")
		ids[p.PackageSPDXIdentifier] = true
		for _, reference := range p.PackageExternalReferences {
			locators = append(locators, reference.Locator)
		}
	}
	g.Expect(versions).To(HaveKeyWithValue("example.com/a/b:c", "sha256:0123"))
	g.Expect(versions).To(HaveKeyWithValue("tini", "0.19.0-3+b8"))
	g.Expect(versions).To(HaveKeyWithValue("github.com/flux-pulumi/pulumi-controller/hack/image", "abc"))
	g.Expect(versions).To(HaveKey("stdlib"))
	g.Expect(build.Deps).NotTo(BeEmpty())
	for _, module := range build.Deps {
		g.Expect(versions).To(HaveKeyWithValue(module.Path, module.Version))
	}
	g.Expect(locators).To(ContainElements("pkg:deb/debian/tini@0.19.0-3%2Bb8?arch=arm64", HavePrefix("pkg:golang/github.com/spdx/tools-golang@v")))
	g.Expect(document.Relationships).To(ContainElement(HaveField("Relationship", spdx.RelationshipDescribes)))
	for _, r := range document.Relationships {
		g.Expect(ids).To(HaveKey(r.RefA.ElementRefID))
		g.Expect(ids).To(HaveKey(r.RefB.ElementRefID))
	}
}

func TestAFileThatIsNoProgramHasNoBillOfMaterials(t *testing.T) {
	g := NewWithT(t)
	file := filepath.Join(t.TempDir(), "script")
	g.Expect(os.WriteFile(file, []byte("#!/bin/sh"), 0o755)).To(Succeed())
	o := options{name: "example.com/a/b:c", sbom: filepath.Join(t.TempDir(), "sbom")}
	g.Expect(writeSBOM(o, []layer{{entries: []entry{{path: "usr/bin/script", source: file}}}}, v1.Hash{})).
		To(MatchError(ContainSubstring("usr/bin/script: ")))
	g.Expect(o.sbom).NotTo(BeAnExistingFile())
}
