// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/fluxcd/pkg/runtime/logger"

	"github.com/flux-pulumi/pulumi-controller/internal/pulumi"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/tests/process"

	. "github.com/onsi/gomega"
)

// fluxEntry has the fields by which `flux logs` shows and filters lines.
type fluxEntry struct {
	Timestamp      time.Time `json:"ts"`
	Level          string    `json:"level"`
	Message        string    `json:"msg"`
	Error          string    `json:"error"`
	ControllerKind string    `json:"controllerKind"`
	Name           string    `json:"name"`
	Namespace      string    `json:"namespace"`
	// These are not Flux's.
	Operation string `json:"operation"`
	Revision  string `json:"revision"`
}

// logFile sets up the controller's log as main does, writing to a file.
func logFile(t *testing.T) (string, func(*Options)) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "log")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	// The logger of pkg/runtime keeps the standard error of the time it is created.
	stderr := os.Stderr
	os.Stderr = file
	log := logger.NewLogger(logger.Options{LogEncoding: "json", LogLevel: "info"})
	os.Stderr = stderr
	return path, func(o *Options) { o.Log = log }
}

func TestFluxLogsShowsWhatPulumiDoes(t *testing.T) {
	plugin, err := process.FindBin(filepath.Join("lab", "pulumi-resource-lab"))
	if err != nil {
		t.Fatal(err)
	}
	path, toFile := logFile(t)
	f := withCLI(t)
	toFile(&f.runner.options)
	driver := f.runner.options.Driver.(*pulumi.Driver)
	installed := filepath.Join(driver.Cache, "plugins", "resource-lab-v0.1.0")
	f.Expect(os.MkdirAll(installed, 0o700)).To(Succeed())
	f.Expect(os.Symlink(plugin, filepath.Join(installed, "pulumi-resource-lab"))).To(Succeed())
	r := cliRun(t)
	r.Revision, r.Project = "main@sha1:1", run.Project{Name: "demo", Runtime: "yaml"}
	r.Masks = []string{"hunter2"}
	r.Program = run.Program{YAML: fmt.Appendf(nil, `
resources:
  prov: {type: "pulumi:providers:lab", defaultProvider: true, properties: {directory: %q}}
  a: {type: "lab:index:Thing", properties: {name: a}}
  hunter2: {type: "lab:index:Thing", properties: {name: hunter2, failures: {create: "no room for hunter2"}},
    options: {dependsOn: ["${a}"]}}
`, t.TempDir())}
	f.Expect(f.runner.Reserve("ns", "a")).To(BeTrue())
	f.Expect(f.runner.Start(r)).To(Succeed())
	f.Eventually(func() run.Phase { return f.phase(r.ID) }).Should(Equal(run.Ended))

	text, err := os.ReadFile(path)
	f.Expect(err).NotTo(HaveOccurred())
	f.Expect(string(text)).NotTo(ContainSubstring("hunter2"))
	var messages []string
	for line := range bytes.Lines(text) {
		var entry fluxEntry
		f.Expect(json.Unmarshal(line, &entry)).To(Succeed(), "flux logs passes over what is not JSON: %s", line)
		f.Expect(entry.Timestamp).To(BeTemporally("~", time.Now(), 10*time.Minute))
		messages = append(messages, entry.Message)
		entry.Timestamp, entry.Message = time.Time{}, ""
		f.Expect(entry).To(Equal(fluxEntry{
			Level: "info", ControllerKind: "Stack", Namespace: "ns", Name: "a", Operation: "update", Revision: "main@sha1:1",
		}), "%s", line)
	}
	f.Expect(messages).To(ContainElements("lab:index:Thing (a): create started", "lab:index:Thing (a): create done"))
	f.Expect(messages).To(ContainElement(ContainSubstring("no room for ***")))
}
