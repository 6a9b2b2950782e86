// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/sandbox"
	"github.com/flux-pulumi/pulumi-controller/tests/process"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// publishesLab is a server that has the lab provider, which does something before it starts, and counts
// who downloads it.
func (l *lab) publishesLab(before string) (url string, downloads *atomic.Int32) {
	l.Helper()
	built, err := process.FindBin("lab/pulumi-resource-lab")
	l.Expect(err).NotTo(HaveOccurred())
	// A script is smaller than the provider.
	script := "#!/bin/sh\n" + before + "\nexec " + built + " \"$@\"\n"
	var archive bytes.Buffer
	zip := gzip.NewWriter(&archive)
	files := tar.NewWriter(zip)
	l.Expect(files.WriteHeader(&tar.Header{Name: "pulumi-resource-lab", Mode: 0o755, Size: int64(len(script))})).To(Succeed())
	_, err = files.Write([]byte(script))
	l.Expect(err).NotTo(HaveOccurred())
	l.Expect(files.Close()).To(Succeed())
	l.Expect(zip.Close()).To(Succeed())
	downloads = &atomic.Int32{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/pulumi-resource-lab-v0.1.0-"+runtime.GOOS+"-"+runtime.GOARCH+".tar.gz") {
			http.NotFound(w, r)
			return
		}
		downloads.Add(1)
		_, _ = w.Write(archive.Bytes())
	}))
	l.Cleanup(server.Close)
	return server.URL, downloads
}

// acquires lets runs download plugins, in a sandbox that has nothing of the cache, unless it is off.
func (l *lab) acquires(isOff bool) {
	l.Helper()
	kernel := sandbox.ThisKernel()
	if !kernel.Usable() {
		l.Skip(kernel.Missing())
	}
	l.driver.NoPluginDownload = false
	l.Expect(os.MkdirAll(l.cloud, 0o700)).To(Succeed())
	built, err := process.FindBin("pulumi")
	l.Expect(err).NotTo(HaveOccurred())
	real, err := filepath.EvalSymlinks(built)
	l.Expect(err).NotTo(HaveOccurred())
	self, err := os.Executable()
	l.Expect(err).NotTo(HaveOccurred())
	provider, err := process.FindBin("lab/pulumi-resource-lab")
	l.Expect(err).NotTo(HaveOccurred())
	provider, err = filepath.EvalSymlinks(provider)
	l.Expect(err).NotTo(HaveOccurred())
	l.driver.Sandbox = sandbox.New(kernel, []string{filepath.Dir(built), filepath.Dir(real), filepath.Dir(provider), self},
		[]string{l.cloud, l.calls}, []string{l.driver.Cache})
	if isOff {
		l.driver.Sandbox = nil
	}
}

// runsLab is the result of a run of a program with the lab provider, with options for its plugin.
func (l *lab) runsLab(options string) (Directory, run.Result) {
	r := l.update("resources: {a: {type: \"lab:index:Thing\", properties: {name: a}, options: {version: 0.1.0" + options + "}}}\n")
	r.Config = map[string]json.RawMessage{"lab:directory": jsonString(l.cloud)}
	return l.doIn(l.Context(), r)
}

// The platform's mirror is what all runs share, and a server that a program names stays its own.
func TestARunNeverWritesThePluginsOfOthers(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.acquires(false)
	mirror, downloads := l.publishesLab("")
	hostile, ofHostile := l.publishesLab(planted(l.driver))
	shared := l.driver.sharedPlugins()
	ofServer := ", pluginDownloadURL: \"" + hostile + "\""

	// Nothing publishes it under that name: it stays in the directory of the run.
	none := httptest.NewServer(http.NotFoundHandler())
	l.Cleanup(none.Close)
	l.driver.PackEnv = map[string]string{"PULUMI_PLUGIN_DOWNLOAD_URL_OVERRIDES": "^.*$=" + none.URL}
	_, result := l.runsLab(ofServer)
	l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	l.Expect(ofHostile.Load()).To(BeEquivalentTo(1))
	l.Expect(os.ReadDir(shared)).To(BeEmpty(), "also of what the plugin itself plants there")
	l.Expect(filepath.Join(l.driver.Cache, "schemas")).NotTo(BeADirectory(), "schemas decide what is passed to providers")
	l.Expect(os.ReadDir(l.driver.sharedSchemas())).To(BeEmpty(), "none of a plugin that all runs do not have")
	l.Expect(l.saidLines()).To(ContainElement(HavePrefix("the plugin lab 0.1.0 stays in the directory of this run: installing it for all runs: ")))

	// The next run does not wait for that again, and can do without.
	_, result = l.runsLab(ofServer)
	l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	l.Expect(strings.Join(l.newCalls(), "\n")).To(MatchRegexp(`(?s)^[^/]*plugin install[^/]*plugin install[^/]*$`), "both attempts are of the first run")

	// What all runs get is what the platform's source has.
	l.driver.PackEnv = map[string]string{"PULUMI_PLUGIN_DOWNLOAD_URL_OVERRIDES": "^.*$=" + mirror}
	l.Expect(os.RemoveAll(l.driver.unshared())).To(Succeed())
	_, result = l.runsLab(ofServer)
	l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	l.Expect(ofHostile.Load()).To(BeEquivalentTo(3))
	l.Expect(downloads.Load()).To(BeEquivalentTo(1))
	l.Expect(os.ReadFile(filepath.Join(shared, "resource-lab-v0.1.0", "pulumi-resource-lab"))).NotTo(ContainSubstring("planted"))
	l.Expect(l.saidLines()).To(ContainElement("installed the plugin lab 0.1.0 for all runs"))

	// The next run downloads nothing, whatever it names, and cannot write it.
	dir, result := l.runsLab(ofServer)
	l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	l.Expect(downloads.Load() + ofHostile.Load()).To(BeEquivalentTo(4))
	l.Expect(os.Readlink(filepath.Join(dir.pulumiHome(), "plugins", "resource-lab-v0.1.0", "pulumi-resource-lab"))).To(HavePrefix(shared))
	l.Expect(l.things()).To(Equal(1))
	l.Expect(os.ReadDir(l.driver.sharedSchemas())).To(BeEmpty(), "that of another server has another name")
	l.Expect(string(dir.pluginStep())).NotTo(BeADirectory())
}

// planted is a command that plants something in what runs share.
func planted(d *Driver) string {
	return "for dir in plugins plugins/resource-other-v1.0.0 schemas provider-schemas; do mkdir -p " + d.Cache + "/$dir; echo planted >" + d.Cache + "/$dir/planted; done 2>/dev/null"
}

// Without a sandbox it is so: the test above can fail.
func TestWithoutASandboxAPluginPlantsOthers(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	l := newLab(t)
	l.acquires(true)
	hostile, _ := l.publishesLab(planted(l.driver))
	_, result := l.runsLab(", pluginDownloadURL: \"" + hostile + "\"")
	l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	for _, dir := range []string{"plugins", "plugins/resource-other-v1.0.0", "plugins/resource-lab-v0.1.0", "schemas", "provider-schemas"} {
		l.Expect(filepath.Join(l.driver.Cache, dir)).To(BeADirectory(), dir)
	}
}

// Programs also never write the schemas of plugins that the platform has installed beforehand.
func TestASchemaIsAskedForOnce(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	l := newLab(t)
	l.withProvider()
	l.acquires(false)
	l.driver.NoPluginDownload = true
	schema := filepath.Join(l.driver.sharedSchemas(), "lab-0.1.0.json")
	l.Expect(os.Remove(schema)).To(Succeed())
	first, result := l.runsLab("")
	l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	l.Expect(os.ReadFile(schema)).To(ContainSubstring("lab:index:Thing"))
	l.Expect(filepath.Join(first.schemas(), "lab-0.1.0.json")).To(BeARegularFile())

	// Pulumi YAML replaces what it does not use. With plugins of its own, the links of a run are younger than the schema.
	for _, none := range []bool{true, false} {
		l.driver.NoPluginDownload = none
		next, result := l.runsLab("")
		l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
		l.Expect(os.Readlink(filepath.Join(next.schemas(), "lab-0.1.0.json"))).To(Equal(schema))
	}
	l.Expect(strings.Join(l.newCalls(), "\n")).To(MatchRegexp(`(?s)^[^/]*get-schema[^/]*$`), "of the first run alone")
}
