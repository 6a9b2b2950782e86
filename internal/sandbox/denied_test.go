// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package sandbox_test

import (
	"fmt"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/sandbox"
)

// The texts are those of the tools in a sandbox.
func TestDeniedPaths(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"Node, reading", "Error: EACCES: permission denied, open '/srv/den/f'\n    at Object.openSync (node:fs:573:18)\n    at /srv/own/index.js:1:15", "/srv/den/f"},
		{"Node, a directory", "Error: EACCES: permission denied, mkdir '/srv/den/a b'", "/srv/den/a b"},
		{"Node, moving", "Error: EACCES: permission denied, rename '/own/a' -> '/srv/den/a'", "/own/a /srv/den/a"},
		{"Node, a program", "Error: spawn /srv/den/x EACCES", "/srv/den/x"},
		{"Python", "Traceback (most recent call last):\n  File \"/own/main.py\", line 1, in <module>\nPermissionError: [Errno 13] Permission denied: '/srv/den/f'", "/srv/den/f"},
		{"Python, moving", "PermissionError: [Errno 13] Permission denied: '/own/a' -> '/srv/den/a'", "/own/a /srv/den/a"},
		{"pip", "ERROR: Could not install packages due to an OSError: [Errno 13] Permission denied: '/srv/den/t'\nConsider using the `--user` option or check the permissions.", "/srv/den/t"},
		{"Go", "open /srv/den/f: permission denied", "/srv/den/f"},
		{"Go, a program", "fork/exec /srv/den/x: permission denied", "/srv/den/x"},
		{"Go, moving", "rename /own/a /srv/den/a: permission denied", "/own/a /srv/den/a"},
		{"go, its cache", "failed to initialize build cache at /srv/den/c: mkdir /srv/den/c: permission denied", "/srv/den/c"},
		{"go, its directory", "go: creating work dir: mkdir /srv/den/go-build1003613409: permission denied", "/srv/den/go-build1003613409"},
		{"dash, creating", "sh: 1: cannot create /srv/den/new: Permission denied", "/srv/den/new"},
		{"dash, a program", "sh: 1: /srv/den/x: Permission denied", "/srv/den/x"},
		{"dash, a script", "sh: 1: .: cannot open /srv/den/f: Permission denied", "/srv/den/f"},
		{"bash", "bash: line 1: /srv/den/f: Permission denied", "/srv/den/f"},
		{"cat", "cat: /srv/den/f: Permission denied", "/srv/den/f"},
		{"mkdir", "mkdir: cannot create directory ‘/srv/den/y’: Permission denied", "/srv/den/y"},
		{"git", "fatal: cannot mkdir /srv/den/repo: Permission denied", "/srv/den/repo"},
		{"npm", "npm error code EACCES\nnpm error syscall mkdir\nnpm error path /srv/den/node_modules\nnpm error errno -13\n" +
			"npm error Error: EACCES: permission denied, mkdir '/srv/den/node_modules'\nnpm error     at async mkdir (node:internal/fs/promises:856:10)", "/srv/den/node_modules"},
		{"npm, its cache", "npm error code EACCES\nnpm error syscall mkdir\nnpm error path /srv/den/npm\nnpm error errno EACCES\nnpm error\n" +
			"npm error   sudo chown -R 0:0 \"/srv/other\"", "/srv/den/npm"},
		{".NET", "System.UnauthorizedAccessException: Access to the path '/srv/den/f' is denied.", "/srv/den/f"},
		{"Java", "java.nio.file.AccessDeniedException: /srv/den/f", "/srv/den/f"},
		{"Java, a stream", "java.io.FileNotFoundException: /srv/den/f (Permission denied)", "/srv/den/f"},
		{"a library", "/srv/den/lib.so: cannot open shared object file: Permission denied", "/srv/den/lib.so"},
		{"twice", "open /srv/den/f: permission denied\nopen /srv/den/f: permission denied", "/srv/den/f"},
		{"another error of npm", "npm error code ENOENT\nnpm error path /srv/den/npm", ""},
		{"no path", "Permission denied (publickey).", ""},
		{"a URL", "https://example.com/a/b: permission denied", ""},
		{"a relative path", "cat: den/f: Permission denied", ""},
		{"another error", "open /srv/den/f: no such file or directory", ""},
		{"not of the sandbox", "chown /srv/den/f: operation not permitted", ""},
		{"no text", "", ""},
		{"too long", "open /" + strings.Repeat("x", 5000) + ": permission denied", ""},
		{"too late", strings.Repeat("x\n", 40_000) + "open /srv/den/f: permission denied", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			NewWithT(t).Expect(strings.Join(sandbox.DeniedPaths(c.text), " ")).To(Equal(c.want))
		})
	}
}

func TestDeniedPathsAreBounded(t *testing.T) {
	g := NewWithT(t)
	var text strings.Builder
	for n := range 1000 {
		_, _ = fmt.Fprintf(&text, "open /srv/%d: permission denied\n", n)
	}
	g.Expect(sandbox.DeniedPaths(text.String())).To(HaveLen(32))
	g.Expect(sandbox.DeniedPaths("permission denied: " + strings.Repeat("/a ", 1000))).To(HaveLen(1))
}

func TestDenials(t *testing.T) {
	all := append(sandbox.System(), sandbox.Writes("/data/runs/own/workspace")...)
	all = append(all, sandbox.Reads("/data/runs/own", "/data/plugins")...)
	all = append(all, sandbox.Rule{Path: "/states", Access: sandbox.List})
	own := []string{"/run/secrets", "/data/runs", "/data/plugins"}
	const keeps = "the sandbox of local runs keeps programs from "
	for path, want := range map[string]string{
		"/data/runs/own/workspace/x": "",
		"/dev/null":                  "",
		"/usr/share/x":               keeps + "writing to /usr/share/x: the platform can list it in --sandbox-write-paths",
		"/srv/x":                     keeps + "/srv/x: the platform can list it in --sandbox-read-paths, or in --sandbox-write-paths if programs write to it",
		"/states/x":                  keeps + "/states/x: the platform can list it in --sandbox-read-paths, or in --sandbox-write-paths if programs write to it",
		"/tmp/x":                     keeps + "/tmp/x, which all users share: use the directory that TMPDIR names, or have the platform list the path in --sandbox-write-paths",
		"/run/secrets/x/token":       keeps + "/run/secrets/x/token, which is the controller's, and no flag allows it",
		"/run":                       keeps + "/run, which is the controller's, and no flag allows it",
		"/data":                      keeps + "/data, which is the controller's, and no flag allows it",
		"/data/runs/other":           keeps + "/data/runs/other, which is the controller's, and no flag allows it",
		"/data/plugins/x":            keeps + "writing to /data/plugins/x, which is the controller's, and no flag allows it",
	} {
		t.Run(path, func(t *testing.T) {
			g := NewWithT(t)
			denial, isDenied := sandbox.Denies(all, own, path)
			g.Expect(isDenied).To(Equal(want != ""))
			if isDenied {
				g.Expect(denial.Hint()).To(Equal(want))
			}
		})
	}
}
