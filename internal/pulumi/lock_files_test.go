// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"golang.org/x/sys/unix"
)

func TestALockFileThatTheInstallationHasChanged(t *testing.T) {
	t.Parallel()
	const npm = `{"lockfileVersion": 3, "packages": {"": {"version": "1.0.0"}, "node_modules/a": {"version": "1.0.0"}, ` +
		`"node_modules/b": {"version": "1.0.0", "optional": true}}}`
	const yarn = "# yarn lockfile v1\n\n\n\"@x/a@^1.0.0\", \"@x/a@^1.2.0\":\n  version \"1.2.0\"\n" +
		"  resolved \"https://yarn.example/@x/a/-/a-1.2.0.tgz#1\"\n\nb@^1.0.0:\n  version \"1.0.0\"\n"
	const berry = "__metadata:\n  version: 8\n\n\"a@npm:^1.0.0\":\n  version: 1.2.0\n  checksum: 10c0/1\n"
	const module = "module demo\n\ngo 1.25\n\nrequire (\n\texample.com/a v1.0.0\n\texample.com/b v1.1.0\n)\n"
	for name, test := range map[string]struct {
		file, before, after string
		want                bool
	}{
		"npm":                         {file: "package-lock.json", before: npm, after: npm},
		"npm, another version":        {file: "package-lock.json", before: npm, after: `{"packages": {"node_modules/a": {"version": "1.0.1"}}}`, want: true},
		"npm, a package more":         {file: "npm-shrinkwrap.json", before: npm, after: npm[:len(npm)-2] + `, "node_modules/c": {"version": "1.0.0"}}}`, want: true},
		"npm, a package less":         {file: "package-lock.json", before: npm, after: `{"packages": {"node_modules/a": {"version": "1.0.0"}}}`},
		"npm, written differently":    {file: "package-lock.json", before: npm, after: `{"packages": {"": {"version": "2.0.0"}, "node_modules/a": {"version": "1.0.0", "peer": true}}}`},
		"npm, a link to a package":    {file: "package-lock.json", before: npm, after: `{"packages": {"node_modules/c": {"link": true}, "c": {"version": "1.0.0"}}}`},
		"npm, no package before":      {file: "package-lock.json", before: `{"packages": {"": {}}}`, after: npm, want: true},
		"npm 6":                       {file: "package-lock.json", before: `{"lockfileVersion": 1, "dependencies": {"a": {"version": "1.0.0"}}}`, after: npm},
		"npm, a merge conflict":       {file: "package-lock.json", before: "<<<<<<< HEAD\n" + npm, after: npm, want: true},
		"npm, cut off":                {file: "package-lock.json", before: npm[:len(npm)/2], after: npm, want: true},
		"npm, nothing before":         {file: "package-lock.json", before: "{}", after: npm, want: true},
		"yarn":                        {file: "yarn.lock", before: yarn, after: yarn},
		"yarn, another version":       {file: "yarn.lock", before: yarn, after: strings.ReplaceAll(yarn, `version "1.2.0"`, `version "1.3.0"`), want: true},
		"yarn, another range":         {file: "yarn.lock", before: yarn, after: strings.ReplaceAll(yarn, "a@^1.0.0", "a@^1.1.0")},
		"yarn, a package more":        {file: "yarn.lock", before: yarn, after: yarn + "\nc@^1.0.0:\n  version \"1.0.0\"\n", want: true},
		"yarn, by npm":                {file: "yarn.lock", before: yarn, after: strings.ReplaceAll(yarn, "yarn.example", "npm.example")},
		"yarn 4, another version":     {file: "yarn.lock", before: berry, after: strings.ReplaceAll(berry, "1.2.0", "1.3.0"), want: true},
		"yarn 4, another checksum":    {file: "yarn.lock", before: berry, after: strings.ReplaceAll(berry, "10c0/", "10/")},
		"go.mod, another version":     {file: "go.mod", before: module, after: "module demo\n\ngo 1.25\n\nrequire example.com/a v1.0.1\n", want: true},
		"go.mod, a module more":       {file: "go.mod", before: "module demo\n\ngo 1.25\n", after: module, want: true},
		"go.mod, written differently": {file: "go.mod", before: module, after: "module demo\n\ngo 1.25.0\n\nrequire example.com/a v1.0.0 // indirect\n"},
		"go.sum, a module more":       {file: "go.sum", before: "a v1 h1:x=\n", after: "a v1 h1:x=\nb v1 h1:y=\n", want: true},
		"go.sum, a module less":       {file: "go.sum", before: "a v1 h1:x=\nb v1 h1:y=\n", after: "a v1 h1:x=\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := "infra/" + test.file
			changed := lockedVersions{path: versionsIn(test.file, []byte(test.after))}.
				changedSince(lockedVersions{path: versionsIn(test.file, []byte(test.before))})
			NewWithT(t).Expect(len(changed) > 0).To(Equal(test.want))
		})
	}
	now := lockedVersions{"yarn.lock": versionsIn("yarn.lock", []byte(yarn))}
	NewWithT(t).Expect(now.changedSince(lockedVersions{})).To(BeEmpty(), "there was none, which is for the program to decide")
}

// An installation may put anything in the place of a lock file.
func TestAPipeInPlaceOfALockFileHoldsUpNothing(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	writeTree(t, dir, map[string]string{"package.json": "{}", "go.sum": ""})
	root, err := os.OpenRoot(dir)
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { _ = root.Close() }()
	seen := survey(root, ".", "", nil)
	pipe := filepath.Join(dir, "go.sum")
	g.Expect(os.Remove(pipe)).To(Succeed())
	g.Expect(unix.Mkfifo(pipe, 0o600)).To(Succeed())
	read := func() lockedVersions { return readLocks(root, seen) }
	g.Expect(read()).To(BeEmpty())

	writer, err := os.OpenFile(pipe, os.O_RDWR, 0)
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { _ = writer.Close() }()
	g.Expect(read()).To(BeEmpty(), "also while another process has it open")
}
