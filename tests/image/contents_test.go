// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"archive/tar"
	"bytes"
	"crypto/x509"
	"debug/elf"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// testConfig compares the config of the image with its stage of the Dockerfile.
func testConfig(t *testing.T, image v1.Image) {
	g := NewWithT(t)
	file, err := image.ConfigFile()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(file.OS).To(Equal("linux"))
	g.Expect(file.Architecture).To(Equal(runtime.GOARCH))
	g.Expect(file.Created.Unix()).To(BeZero(), "the same contents are the same image at any time")
	g.Expect(file.Config.User).To(Equal("65534:65534"), "that of Flux's controllers")

	stage := stagesOf(t)["image"]
	g.Expect(stage[0]).To(Equal("FROM scratch AS image"), "it begins from nothing")
	how := strings.ReplaceAll(strings.Join(stage[1:], "\n")+"\n", " \\\n", " ")
	labels := make([]string, 0, len(file.Config.Labels))
	for name, value := range file.Config.Labels {
		labels = append(labels, fmt.Sprintf("%s=%q", name, value))
	}
	slices.Sort(labels)
	quoted := make([]string, len(file.Config.Entrypoint))
	for i, word := range file.Config.Entrypoint {
		quoted[i] = fmt.Sprintf("%q", word)
	}
	for line := range strings.Lines(how) {
		instruction, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch instruction {
		case "LABEL":
			said := strings.Split(strings.ReplaceAll(rest, `" `, "\"\n"), "\n")
			for i := range said {
				said[i] = strings.TrimSpace(said[i])
			}
			slices.Sort(said)
			g.Expect(said).To(Equal(labels))
		case "ENV":
			g.Expect([]string{rest}).To(Equal(file.Config.Env))
		case "WORKDIR":
			g.Expect(rest).To(Equal(file.Config.WorkingDir))
		case "USER":
			g.Expect(rest).To(Equal(file.Config.User))
		case "ENTRYPOINT":
			g.Expect(rest).To(Equal("[" + strings.Join(quoted, ", ") + "]"))
		}
	}
	g.Expect(instructions(how)).To(Equal([]string{"COPY", "COPY", "COPY", "LABEL", "ENV", "WORKDIR", "USER", "ENTRYPOINT"}))
	g.Expect(file.History).To(HaveLen(3))
	for _, layer := range file.History {
		g.Expect(how).To(ContainSubstring("COPY --from=build /src/bin/image/" + layer.CreatedBy + "/ /\n"))
	}
}

// instructions returns the first words of the lines.
func instructions(text string) []string {
	var all []string
	for line := range strings.Lines(text) {
		all = append(all, strings.Fields(line)[0])
	}
	return all
}

// modes returns the permissions of everything in the image except directories.
func modes() map[string]int64 {
	return map[string]int64{
		"bin/sh":                                 0o777, // of the link
		"usr/bin/sh":                             0o777,
		"usr/bin/busybox":                        0o755,
		"usr/bin/tini":                           0o755,
		"usr/local/bin/pulumi":                   0o755,
		"usr/local/bin/pulumi-controller":        0o755,
		"usr/local/bin/pulumi-language-yaml":     0o755,
		"etc/group":                              0o644,
		"etc/os-release":                         0o644,
		"etc/passwd":                             0o644,
		"etc/ssl/certs/ca-certificates.crt":      0o644,
		"usr/share/doc/busybox-static/copyright": 0o644,
		"usr/share/doc/tini/copyright":           0o644,
		"var/lib/dpkg/status.d/busybox-static":   0o644,
		"var/lib/dpkg/status.d/tini":             0o644,
	}
}

func testContents(t *testing.T, root string, files map[string]*tar.Header) {
	g := NewWithT(t)
	found := map[string]int64{}
	for name, header := range files {
		g.Expect([]int{header.Uid, header.Gid}).To(Equal([]int{0, 0}), "the owner of "+name)
		g.Expect(header.ModTime.Unix()).To(BeZero(), "the time of "+name)
		switch {
		case name == "tmp":
			g.Expect(header.Mode).To(Equal(int64(0o1777)), name)
		case header.Typeflag == tar.TypeDir:
			g.Expect(header.Mode).To(Equal(int64(0o755)), name)
		default:
			found[name] = header.Mode
		}
	}
	g.Expect(found).To(Equal(modes()), "no other file, none with the rights of its owner, none that can be changed")
	testStatic(t, root)
	testCertificates(t, root)
}

// testStatic expects each program to be for this machine and statically linked.
func testStatic(t *testing.T, root string) {
	machines := map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}
	for name, mode := range modes() {
		if mode != 0o755 {
			continue
		}
		g := NewWithT(t)
		program, err := elf.Open(filepath.Join(root, name))
		g.Expect(err).NotTo(HaveOccurred(), name)
		g.Expect(program.Machine).To(Equal(machines[runtime.GOARCH]), name)
		g.Expect(program.ImportedLibraries()).To(BeEmpty(), name)
		g.Expect(program.Section(".interp")).To(BeNil(), name)
		g.Expect(program.Close()).To(Succeed())
	}
}

func testCertificates(t *testing.T, root string) {
	g := NewWithT(t)
	data, err := os.ReadFile(filepath.Join(root, "etc/ssl/certs/ca-certificates.crt"))
	g.Expect(err).NotTo(HaveOccurred())
	known := x509.NewCertPool()
	g.Expect(known.AppendCertsFromPEM(data)).To(BeTrue())
	count := 0
	for block, rest := pem.Decode(data); block != nil; block, rest = pem.Decode(rest) {
		certificate, err := x509.ParseCertificate(block.Bytes)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(certificate.IsCA).To(BeTrue(), certificate.Subject.String())
		count++
	}
	g.Expect(count).To(BeNumerically(">", 100))
	g.Expect(bytes.Count(data, []byte("BEGIN CERTIFICATE"))).To(Equal(count))
}
