// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestALockFileThatTheInstallationHasChanged(t *testing.T) {
	t.Parallel()
	const npm = `{"lockfileVersion": 3, "packages": {"": {"version": "1.0.0"}, "node_modules/a": {"version": "1.0.0"}, ` +
		`"node_modules/b": {"version": "1.0.0", "optional": true}}}`
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
		"no JSON":                     {file: "package-lock.json", before: `<<<<<<< HEAD`, after: npm},
		"yarn":                        {file: "yarn.lock", before: "a@1:\n", after: "a@1:\n"},
		"yarn, changed":               {file: "yarn.lock", before: "a@1:\n", after: "a@2:\n", want: true},
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
	now := lockedVersions{"yarn.lock": versionsIn("yarn.lock", []byte("a"))}
	NewWithT(t).Expect(now.changedSince(lockedVersions{})).To(BeEmpty(), "there was none, which is for the program to decide")
}
