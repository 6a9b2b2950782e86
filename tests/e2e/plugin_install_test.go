// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/tests/process"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// catalogue is what Flux's catalogue of plugins has, beside the manifests of each.
const catalogue = `apiVersion: cli.fluxcd.io/v1beta1
kind: PluginCatalog
plugins:
  - name: pulumi
    description: Inspect and control the Stacks of pulumi-controller
    license: Apache-2.0
`

// TestFluxInstallsTheReleaseOfThePlugin makes the release of this platform, and has the
// real flux install it from a catalogue on this machine.
func TestFluxInstallsTheReleaseOfThePlugin(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	g := NewWithT(t)
	flux, err := process.FindBin("flux")
	g.Expect(err).NotTo(HaveOccurred())
	home, plugins, release := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "release")

	build := exec.CommandContext(t.Context(), "hack/release-cli.sh", "1.2.3", release)
	build.Dir = "../.."
	build.Env = append(os.Environ(), "PLATFORMS="+runtime.GOOS+"/"+runtime.GOARCH)
	said, err := build.CombinedOutput()
	g.Expect(err).NotTo(HaveOccurred(), string(said))

	server := httptest.NewServer(http.FileServer(http.Dir(release)))
	defer server.Close()
	manifest, err := os.ReadFile(filepath.Join(release, "pulumi.yaml"))
	g.Expect(err).NotTo(HaveOccurred())
	const there = "https://github.com/flux-pulumi/pulumi-controller/releases/download/v1.2.3"
	g.Expect(string(manifest)).To(ContainSubstring("url: " + there + "/"))
	publish := func(manifest []byte) {
		g.Expect(os.WriteFile(filepath.Join(release, "pulumi.yaml"), bytes.ReplaceAll(manifest, []byte(there), []byte(server.URL)), 0o600)).To(Succeed())
	}
	publish(manifest)
	g.Expect(os.WriteFile(filepath.Join(release, "catalog.yaml"), []byte(catalogue), 0o600)).To(Succeed())

	run := func(args ...string) (string, error) {
		command := exec.CommandContext(t.Context(), flux, args...)
		command.Env = []string{"HOME=" + home, "FLUXCD_PLUGINS=" + plugins, "FLUXCD_PLUGIN_CATALOG=" + server.URL + "/"}
		said, err := command.CombinedOutput()
		return string(said), err
	}
	g.Expect(run("plugin", "search", "pulumi")).To(ContainSubstring("Inspect and control the Stacks of pulumi-controller"))
	g.Expect(run("plugin", "install", "pulumi")).To(Equal("✔ installed pulumi v1.2.3\n"))
	g.Expect(run("plugin", "list")).To(MatchRegexp(`(?m)^pulumi\s+1\.2\.3\s`))
	g.Expect(run("pulumi", "version")).To(Equal("flux-pulumi: v1.2.3\n"))
	g.Expect(run("plugin", "uninstall", "pulumi")).To(ContainSubstring("✔ uninstalled pulumi"))

	publish(bytes.Replace(manifest, []byte("checksum: sha256:"), []byte("checksum: sha256:0000"), 1))
	text, err := run("plugin", "install", "pulumi")
	g.Expect(err).To(HaveOccurred())
	g.Expect(text).To(ContainSubstring("checksum"), "an archive that was exchanged is not installed")
}
