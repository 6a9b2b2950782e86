// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"golang.org/x/sys/unix"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/snapshot"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// withNode installs the host for Node.js, or skips the test on a machine without npm.
func (l *lab) withNode() *lab {
	l.Helper()
	l.withTool("npm")
	l.installPlugin("language", "nodejs")
	return l
}

// installs are the files of a program whose package.json has these members.
func installs(members string) map[string]string {
	return map[string]string{"Pulumi.yaml": "name: demo\nruntime: nodejs\n", "package.json": `{"name": "demo", ` + members + `}`, "index.js": ""}
}

// npm and the registries are real ones, and so are their messages.
func TestAnInstallationThatFailsSaysWhy(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	const needsPackage = `"dependencies": {"a": "1.0.0"}`
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, `{"error": "your token has expired"}`, http.StatusForbidden)
	}))
	t.Cleanup(refusing.Close)
	for name, test := range map[string]struct {
		files    map[string]string
		registry string
		want     []string
		outcome  run.Outcome
	}{
		"a registry that is away": {
			files: installs(needsPackage), registry: "http://127.0.0.1:9/",
			want: []string{"ECONNREFUSED 127.0.0.1:9"}, outcome: run.RegistryUnavailable,
		},
		"a registry that refuses": {
			files: installs(needsPackage), registry: refusing.URL,
			want: []string{"403 Forbidden - GET " + refusing.URL + "/a - your token has expired"}, outcome: run.Failed,
		},
		"a script that fails": {
			files: installs(`"scripts": {"postinstall": "echo cannot compile it >&2; exit 3"}`),
			want:  []string{"cannot compile it\n", "echo cannot compile it >&2; exit 3"}, outcome: run.Failed,
		},
		"a script that is killed": {
			files: installs(`"scripts": {"postinstall": "kill -9 $$"}`),
			want:  []string{"if it was out of memory, raise the memory limit"}, outcome: run.Failed,
		},
		"a node_modules of another platform": {
			files: func() map[string]string {
				files := installs(needsPackage)
				files["package-lock.json"] = `{"name": "demo", "lockfileVersion": 3, "packages": {"": {"name": "demo", ` + needsPackage +
					`}, "node_modules/a": {"version": "1.0.0", "os": ["darwin"]}}}`
				files["node_modules/a/package.json"] = `{"name": "a", "version": "1.0.0", "os": ["darwin"]}`
				return files
			}(),
			want: []string{"Unsupported platform for a@1.0.0"}, outcome: run.Failed,
		},
		"a manifest that is no JSON": {
			files: installs(`"dependencies": `), want: []string{"Invalid package.json"}, outcome: run.Failed,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t).withNode()
			snapshots := t.TempDir()
			l.driver.Snapshots = snapshot.New(snapshots, 1<<30)
			dir, r := l.sourced(test.files)
			r.Env["npm_config_registry"], r.Env["npm_config_fetch_retries"] = test.registry, "0"
			result := l.doWritten(t.Context(), dir, r)
			l.Expect(result.Outcome).To(Equal(test.outcome))
			l.Expect(result.Message).To(HavePrefix(installing + ": "))
			for _, want := range test.want {
				l.Expect(result.Message).To(ContainSubstring(want))
			}
			l.Expect(result.Interrupted).To(BeFalse())
			l.Expect(l.newCalls()).To(HaveExactElements("install"))
			l.Expect(os.ReadDir(l.backend)).To(HaveLen(1), "nothing but what was there")
			l.Expect(filepath.Glob(filepath.Join(snapshots, "*", "*"))).To(BeEmpty(), "nothing of it is kept")
		})
	}
}

func TestAnInstallationThatDoesNotEndIsEnded(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	for name, files := range map[string]map[string]string{
		"a registry that does not answer": installs(`"dependencies": {"a": "1.0.0"}`),
		"a script that prints for ever":   installs(`"scripts": {"postinstall": "touch $PROOF; exec yes"}`),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t).withNode()
			asked := filepath.Join(t.TempDir(), "asked")
			registry := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, request *http.Request) {
				if err := os.WriteFile(asked, nil, 0o600); err != nil {
					t.Error(err)
				}
				<-request.Context().Done()
			}))
			t.Cleanup(registry.Close)
			dir, r := l.sourced(files)
			r.Env["npm_config_registry"], r.Env["PROOF"] = registry.URL, asked
			ctx, cancel := context.WithCancelCause(t.Context())
			results := make(chan run.Result, 1)
			go func() { results <- l.driver.Do(ctx, dir, r, func(string) {}) }()
			l.Eventually(asked).Should(BeAnExistingFile())
			cancel(context.DeadlineExceeded)
			var result run.Result
			l.Eventually(results).Should(Receive(&result))
			l.Expect(result.Outcome).To(Equal(run.TimedOut))
			l.Expect(result.Message).To(ContainSubstring("The registry may not answer, a script of a package may not end, or spec.timeout is too short"))
			l.Expect(Alive(r.ID)).To(BeZero())
		})
	}
}

// The CLI of Pulumi does not read on what the language host prints once it cannot print a line itself.
func TestAnInstallationThatFillsTheDiskSaysSo(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	l := newLab(t).withNode()
	disk := t.TempDir()
	if err := unix.Mount("tmpfs", disk, "tmpfs", 0, "size=16m"); err != nil {
		t.Skipf("a file system cannot be mounted here (it takes root): %v", err)
	}
	t.Cleanup(func() { l.Eventually(unix.Unmount).WithArguments(disk, 0).Should(Succeed()) })
	_, r := l.written("{}")
	dir := Directory(filepath.Join(disk, "run"))
	writeTree(t, dir.Workspace(), installs(`"scripts": {"postinstall": "cat /dev/zero > big"}`))
	result := l.doWritten(t.Context(), dir, r)
	l.Expect(result.Outcome).To(Equal(run.WorkspaceFailed))
	l.Expect(result.Message).To(And(HavePrefix(installing+": "), ContainSubstring("No space left on device")))
	l.Expect(l.newCalls()).To(Equal([]string{"install"}))
}

func TestAManifestOfManyMegabytesIsRead(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	many := make([]string, 60_000)
	for n := range many {
		many[n] = fmt.Sprintf("%q: %q", fmt.Sprintf("package-with-a-rather-long-name-%d", n), "https://registry.example/a/package.tgz")
	}
	dir := t.TempDir()
	writeTree(t, dir, map[string]string{"package.json": `{"dependencies": {` + strings.Join(many, ",") + `}}`})
	root, err := os.OpenRoot(dir)
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { _ = root.Close() }()
	i := installation{needs: needs{runtime: "nodejs"}, artifact: "sha256:1"}
	first, err := i.key(root)
	g.Expect(err).NotTo(HaveOccurred())
	i.artifact = "sha256:2"
	g.Expect(i.key(root)).To(Equal(first), "nothing in it refers to the rest of the source")
}
