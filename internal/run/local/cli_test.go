// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/pulumi"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/source"
	"github.com/flux-pulumi/pulumi-controller/tests/cloud"
	"github.com/flux-pulumi/pulumi-controller/tests/process"
)

// withCLI returns a fixture with the real driver and the real fetcher.
func withCLI(t *testing.T) *fixture {
	t.Helper()
	cli, err := process.FindBin("pulumi")
	if err != nil {
		t.Fatal(err)
	}
	return newFixture(t, func(o *Options) {
		o.Driver = &pulumi.Driver{
			Bin: filepath.Dir(cli), Path: []string{"/usr/bin", "/bin"}, Cache: t.TempDir(), NoPluginDownload: true,
		}
		o.Fetcher = source.New(source.Options{})
	})
}

// serve serves an archive of the files and returns the artifact.
func serve(t *testing.T, files map[string]string) run.Artifact {
	t.Helper()
	g := NewWithT(t)
	var archive bytes.Buffer
	zipped := gzip.NewWriter(&archive)
	writer := tar.NewWriter(zipped)
	for name, text := range files {
		g.Expect(writer.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(text))})).To(Succeed())
		_, err := writer.Write([]byte(text))
		g.Expect(err).NotTo(HaveOccurred())
	}
	g.Expect(writer.Close()).To(Succeed())
	g.Expect(zipped.Close()).To(Succeed())
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(archive.Bytes())
	}))
	t.Cleanup(server.Close)
	return run.Artifact{
		URL: server.URL + "/artifact.tar.gz", Digest: fmt.Sprintf("sha256:%x", sha256.Sum256(archive.Bytes())), Dir: "./deploy/",
	}
}

func cliRun(t *testing.T) run.Run {
	r := aRun(filepath.Base(filepath.Dir(t.TempDir())), "a")
	r.Stack, r.Backend, r.Secrets = "dev", "file://"+t.TempDir(), nil
	r.Env = map[string]string{"PULUMI_CONFIG_PASSPHRASE": "x", "PULUMI_IGNORE_AMBIENT_PLUGINS": "true"}
	return r
}

func TestAnArtifactIsRunByTheRealCLI(t *testing.T) {
	f := withCLI(t)
	artifact := serve(t, map[string]string{
		"deploy/Pulumi.yaml": "name: shop\nruntime: yaml\n", "deploy/Main.yaml": "outputs: {o: hello}\n",
	})
	r := cliRun(t)
	r.Program = run.Program{Artifact: &artifact}
	f.Expect(f.runner.Reserve("ns", "a")).To(BeTrue())
	f.Expect(f.runner.Start(r)).To(Succeed())
	f.Eventually(func() run.Phase { return f.phase(r.ID) }).Should(Equal(run.Ended))
	_, result := f.runner.Look(run.Ref{ID: r.ID})
	f.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	f.Expect(string(result.Outputs["o"])).To(Equal(`"hello"`))
	f.Expect(result.Project).To(Equal(run.Project{Name: "shop", Runtime: "yaml"}))
}

func TestAShutdownLetsTheRealCLIFinishAndUnlock(t *testing.T) {
	plugin, err := process.FindBin(filepath.Join("lab", "pulumi-resource-lab"))
	if err != nil {
		t.Fatal(err)
	}
	f := withCLI(t)
	driver := f.runner.options.Driver.(*pulumi.Driver)
	installed := filepath.Join(driver.Cache, "plugins", "resource-lab-v0.1.0")
	f.Expect(os.MkdirAll(installed, 0o700)).To(Succeed())
	f.Expect(os.Symlink(plugin, filepath.Join(installed, "pulumi-resource-lab"))).To(Succeed())
	dir, r := t.TempDir(), cliRun(t)
	r.Project = run.Project{Name: "demo", Runtime: "yaml"}
	r.Program = run.Program{YAML: fmt.Appendf(nil, `
resources:
  prov: {type: "pulumi:providers:lab", defaultProvider: true, properties: {directory: %q}}
  a: {type: "lab:index:Thing", properties: {name: a, hold: create}}
`, dir)}
	f.Expect(f.runner.Reserve("ns", "a")).To(BeTrue())
	f.Expect(f.runner.Start(r)).To(Succeed())
	f.Eventually(func() string {
		text, _ := os.ReadFile(filepath.Join(dir, "journal.jsonl"))
		return string(text)
	}).Should(ContainSubstring("begin"))
	ended := make(chan error, 1)
	go func() { ended <- f.runner.Shutdown(context.Background()) }()
	f.Eventually(cloud.Open(dir).ToldToStop).Should(BeTrue())
	f.Expect(cloud.Open(dir).Release()).To(Succeed())
	f.Eventually(ended).Should(Receive(BeNil()))
	_, result := f.runner.Look(run.Ref{ID: r.ID})
	f.Expect(result.Outcome).To(Equal(run.Cancelled), result.Message)
	f.Expect(result.Changes.Created).To(Equal(2))
	locks, err := filepath.Glob(r.Backend[len("file://"):] + "/.pulumi/locks/organization/demo/dev/*.json")
	f.Expect(err).NotTo(HaveOccurred())
	f.Expect(locks).To(BeEmpty())
	alive, err := pulumi.Alive(r.ID)
	f.Expect(err).NotTo(HaveOccurred())
	f.Expect(alive).To(BeZero())
}
