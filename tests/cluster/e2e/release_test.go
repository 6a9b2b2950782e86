// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"
)

// release is the directory of the files that `make release` has made.
type release struct{ dir, version string }

// releaseAt finds the version by the plugin's entry in Flux's catalogue.
func releaseAt(g Gomega, dir string) release {
	text, err := os.ReadFile(filepath.Join(dir, "pulumi.yaml"))
	g.Expect(err).NotTo(HaveOccurred())
	_, after, found := strings.Cut(string(text), "- version: ")
	g.Expect(found).To(BeTrue())
	version, _, _ := strings.Cut(after, "\n")
	return release{dir: dir, version: version}
}

func (r release) image() string {
	return filepath.Join(r.dir, "pulumi-controller_"+r.version+"_linux_"+runtime.GOARCH+".tar")
}

// plugin unpacks the plugin for this machine, and returns it.
func (r release) plugin(w *world) string {
	w.test.Helper()
	dir := w.test.TempDir()
	archive := filepath.Join(r.dir, "flux-pulumi_"+r.version+"_linux_"+runtime.GOARCH+".tar.gz")
	output, err := exec.CommandContext(w.ctx, "tar", "-xzf", archive, "-C", dir).CombinedOutput()
	w.Expect(err).NotTo(HaveOccurred(), string(output))
	return filepath.Join(dir, "flux-pulumi")
}

// TestARelease installs the files of a release on a node that has nothing else of the project, upgrades to the release from
// the one before it, and goes back, with the commands of docs/installation.md.
func TestARelease(t *testing.T) {
	if os.Getenv("RELEASE") == "" {
		t.Skip("there is no release to test: make test-release VERSION=1.2.3 makes one, and the one before it")
	}
	g := NewWithT(t)
	before, now := releaseAt(g, os.Getenv("RELEASE_BEFORE")), releaseAt(g, os.Getenv("RELEASE"))
	w := newWorldOf(t, before.image(), now.image())
	w.steps(
		step{"Flux is installed", (*world).installFlux},
		step{"the release before is installed", func(w *world) {
			w.kubectl("apply", "--server-side", "-f", filepath.Join(before.dir, "install.yaml"))
			w.runs(before)
			w.namespace(w.tenant)
			w.apply(w.greeting("hello"))
			w.awaitValue("greeting", "hello")
		}},
		step{"the CRDs and the controller are upgraded", func(w *world) {
			started := w.lastRun("greeting")
			w.kubectl("apply", "--server-side", "-f", filepath.Join(now.dir, "pulumi-controller.crds.yaml"))
			w.kubectl("apply", "--server-side", "-f", filepath.Join(now.dir, "install.yaml"))
			w.runs(now)
			// This leads to a reconcile, and a request would lead to a run.
			w.kubectl("--namespace", w.tenant, "patch", "stack", "greeting", "--type=merge", "--patch", `{"spec":{"interval":"20m"}}`)
			w.Eventually(func(g Gomega) {
				stack := w.stackNow(g, "greeting")
				g.Expect(stack.Status.ObservedGeneration).To(Equal(stack.Generation))
				g.Expect(conditions.IsReady(stack)).To(BeTrue())
			}).Should(Succeed())
			w.Expect(w.lastRun("greeting")).To(Equal(started), "an upgrade runs nothing")
			w.apply(w.greeting("upgraded"))
			w.awaitValue("greeting", "upgraded")
			w.check(now)
		}},
		step{"the release before is back", func(w *world) {
			w.flux(before, "install", "--crds=false", "--force")
			w.runs(before)
			w.apply(w.greeting("back"))
			w.awaitValue("greeting", "back")
			w.check(before)
		}},
		step{"the plugin upgrades", func(w *world) {
			w.flux(now, "install", "--force")
			w.runs(now)
			w.kubectl("--namespace", w.tenant, "delete", "stack", "greeting", "--timeout="+patience.String())
			w.check(now)
		}},
	)
}

// greeting is a Stack whose program takes no plugin: a release has none.
func (w *world) greeting(text string) string {
	return `apiVersion: pulumi.com/v1
kind: Program
metadata: {name: greeting, namespace: ` + w.tenant + `}
program:
  configuration: {text: {type: String}}
  outputs: {value: "${text}"}
---
apiVersion: pulumi.com/v1
kind: Stack
metadata: {name: greeting, namespace: ` + w.tenant + `}
spec:
  stack: production
  backend: ` + w.backend() + `
  programRef: {name: greeting}
  destroyOnFinalize: true
  config: {text: "` + text + `"}
  envRefs:
` + w.variables()
}

// runs waits until there is the controller of the release, and no other.
func (w *world) runs(r release) {
	w.test.Helper()
	w.rolledOut(controller)
	w.Eventually(func(g Gomega) {
		pods := w.pods(g)
		g.Expect(pods).To(HaveLen(1))
		g.Expect(pods[0].Spec.Containers[0].Image).To(Equal("ghcr.io/flux-pulumi/pulumi-controller:v" + r.version))
	}).Should(Succeed())
}

// flux runs the plugin of the release.
func (w *world) flux(r release, args ...string) string {
	w.test.Helper()
	output, err := w.command(r.plugin(w), args...).CombinedOutput()
	w.Expect(err).NotTo(HaveOccurred(), "%v: %s", args, output)
	return string(output)
}

// check expects that the plugin finds nothing wrong, and the version of the release.
func (w *world) check(r release) {
	w.test.Helper()
	w.Expect(w.flux(r, "check")).To(ContainSubstring("v" + r.version))
}

func (w *world) lastRun(name string) string {
	w.test.Helper()
	stack := w.stackNow(w, name)
	w.Expect(stack.Status.LastRun).NotTo(BeNil())
	return stack.Status.LastRun.ID
}
