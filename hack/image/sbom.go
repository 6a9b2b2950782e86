// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"debug/buildinfo"
	"fmt"
	"net/textproto"
	"os"
	"path"
	"runtime/debug"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	spdxjson "github.com/spdx/tools-golang/json"
	"github.com/spdx/tools-golang/spdx/v2/common"
	"github.com/spdx/tools-golang/spdx/v2/v2_3"
)

// project is where the documents of the project are named after.
const project = "https://github.com/flux-pulumi/pulumi-controller"

// sbom is a software bill of materials, in SPDX 2.3: the image, the programs and the packages of Debian
// in it, and the modules that the programs are built from. It is read from what is packed, so that it
// cannot differ from that.
type sbom struct {
	document *v2_3.Document
	known    map[common.ElementID]bool
}

// writeSBOM writes the bill of materials of an image.
func writeSBOM(o options, layers []layer, digest v1.Hash) error {
	made, err := newSBOM(o, layers, digest)
	if err != nil {
		return fmt.Errorf("listing what is in the image: %w", err)
	}
	var text bytes.Buffer
	if err := spdxjson.Write(made, &text, spdxjson.Indent("  ")); err != nil {
		return err
	}
	return os.WriteFile(o.sbom, text.Bytes(), 0o644)
}

func newSBOM(o options, layers []layer, digest v1.Hash) (*v2_3.Document, error) {
	image := element("Image", o.name)
	s := sbom{known: map[common.ElementID]bool{}, document: &v2_3.Document{
		SPDXVersion: v2_3.Version, DataLicense: v2_3.DataLicense, SPDXIdentifier: "DOCUMENT",
		DocumentName: o.name, DocumentNamespace: project + "/sbom/" + digest.Hex,
		CreationInfo: &v2_3.CreationInfo{
			Creators: []common.Creator{{CreatorType: "Tool", Creator: "pulumi-controller-image"}},
			Created:  o.created.UTC().Format(time.RFC3339),
		},
	}}
	s.add("DOCUMENT", common.TypeRelationshipDescribe, &v2_3.Package{
		PackageName: o.name, PackageSPDXIdentifier: image, PackageVersion: digest.String(), PrimaryPackagePurpose: "CONTAINER",
		PackageChecksums: []common.Checksum{{Algorithm: common.SHA256, Value: digest.Hex}},
	})
	for _, l := range layers {
		for _, e := range l.entries {
			if err := s.entry(image, e, o); err != nil {
				return nil, fmt.Errorf("%s: %w", e.path, err)
			}
		}
	}
	return s.document, nil
}

// entry adds what a file of the image is about.
func (s *sbom) entry(image common.ElementID, e entry, o options) error {
	switch {
	case path.Dir(e.path) == "var/lib/dpkg/status.d":
		control, err := textproto.NewReader(bufio.NewReader(bytes.NewReader(append(e.data, '\n', '\n')))).ReadMIMEHeader()
		if err != nil {
			return err
		}
		name, version := control.Get("Package"), control.Get("Version")
		s.add(image, common.TypeRelationshipContains, &v2_3.Package{
			PackageName: name, PackageSPDXIdentifier: element("Debian", name), PackageVersion: version,
			PackageExternalReferences: purl("pkg:deb/debian/" + name + "@" + strings.ReplaceAll(version, "+", "%2B") + "?arch=" + o.arch),
		})
	case e.source != "":
		build, err := buildinfo.ReadFile(e.source)
		if err != nil {
			return err
		}
		s.program(image, build, o.revision)
	}
	return nil
}

// program adds a program with what it is built from. The controller is built from a checkout, of which
// the revision is the version.
func (s *sbom) program(image common.ElementID, build *buildinfo.BuildInfo, revision string) {
	program := build.Main
	if (program.Version == "" || program.Version == "(devel)") && strings.HasPrefix(build.Path, "github.com/flux-pulumi/") {
		program.Version = revision
	}
	id := s.module(image, common.TypeRelationshipContains, program)
	s.module(id, common.TypeRelationshipDependsOn, debug.Module{Path: "stdlib", Version: strings.TrimPrefix(build.GoVersion, "go")})
	for _, dependency := range build.Deps {
		if dependency.Replace != nil {
			dependency = dependency.Replace
		}
		s.module(id, common.TypeRelationshipDependsOn, *dependency)
	}
}

func (s *sbom) module(of common.ElementID, relationship string, m debug.Module) common.ElementID {
	id := element("Go", m.Path+"-"+m.Version)
	found := &v2_3.Package{PackageName: m.Path, PackageSPDXIdentifier: id, PackageVersion: m.Version}
	if m.Version != "" {
		found.PackageExternalReferences = purl("pkg:golang/" + m.Path + "@" + strings.ReplaceAll(m.Version, "+", "%2B"))
	}
	s.add(of, relationship, found)
	return id
}

// add adds a package, unless it is there, and what it is to another one.
func (s *sbom) add(of common.ElementID, relationship string, p *v2_3.Package) {
	if !s.known[p.PackageSPDXIdentifier] {
		s.known[p.PackageSPDXIdentifier] = true
		p.PackageDownloadLocation = "NOASSERTION"
		s.document.Packages = append(s.document.Packages, p)
	}
	s.document.Relationships = append(s.document.Relationships, &v2_3.Relationship{
		RefA: common.MakeDocElementID("", string(of)), RefB: common.MakeDocElementID("", string(p.PackageSPDXIdentifier)), Relationship: relationship,
	})
}

func purl(locator string) []*v2_3.PackageExternalReference {
	return []*v2_3.PackageExternalReference{{Category: common.CategoryPackageManager, RefType: common.TypePackageManagerPURL, Locator: locator}}
}

// element returns an identifier, which has only letters, digits, dots and dashes.
func element(kind, name string) common.ElementID {
	return common.ElementID(kind + "-" + strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.':
			return r
		}
		return '-'
	}, name))
}
