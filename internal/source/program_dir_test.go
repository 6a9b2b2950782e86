// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package source_test

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/source"
)

func TestProgramDir(t *testing.T) {
	g := NewWithT(t)
	outside := t.TempDir()
	root := filepath.Join(outside, "artifact")
	for _, dir := range []string{"infra/prod", "empty", "many"} {
		g.Expect(os.MkdirAll(filepath.Join(root, dir), 0o700)).To(Succeed())
	}
	for _, file := range []string{
		"Pulumi.yaml", "infra/Main.yaml", "many/a", "many/b", "many/c", "many/d", "many/e", "many/f",
		"many/g", "many/h", "many/i", "many/j", "many/k",
	} {
		g.Expect(os.WriteFile(filepath.Join(root, file), nil, 0o600)).To(Succeed())
	}
	// Fetch skips links. Should one be there anyway, it must not lead outside.
	g.Expect(os.Symlink("..", filepath.Join(root, "out"))).To(Succeed())

	for name, tt := range map[string]struct{ dir, want, wantErr string }{
		"nothing is the root":             {"", ".", ""},
		"a dot is the root":               {".", ".", ""},
		"a slash is the root":             {"/", ".", ""},
		"a directory":                     {"infra/prod", "infra/prod", ""},
		"as Flux users write it":          {"./infra/prod/", "infra/prod", ""},
		"from the root, as Flux takes it": {"/infra", "infra", ""},
		"up and down again":               {"infra/../empty", "empty", ""},
		"up and out":                      {"../artifact", "", `dir "../artifact" leads outside of the artifact`},
		"up and out from within":          {"infra/../../artifact", "", "leads outside of the artifact"},
		"up and out from the root":        {"/../etc", "", "leads outside of the artifact"},
		"out by a link":                   {"out", "", `dir "out" cannot be used: `},
		"missing in the root": {"prod", "",
			`dir "prod" is not in the artifact, which has "Pulumi.yaml", "empty/", "infra/", "many/", "out": symbolic links, and files that .sourceignore`},
		"missing further down": {"infra/dev/eu", "",
			`dir "infra/dev/eu" is not in the artifact, where "infra" has "Main.yaml", "prod/": symbolic links`},
		"missing in an empty directory": {"empty/a", "", `where "empty" is empty`},
		"missing among many":            {"many/z", "", `"i", "j" and more`},
		"a file":                        {"Pulumi.yaml", "", `dir "Pulumi.yaml" is a file: set the directory that contains it`},
		"below a file":                  {"infra/Main.yaml/a", "", `dir "infra/Main.yaml/a" is not in the artifact, where "infra" has`},
		"a NUL byte":                    {"a\x00b", "", `dir "a\x00b" cannot be used`},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			got, err := source.ProgramDir(root, tt.dir)
			if tt.wantErr == "" {
				g.Expect(err).ToNot(HaveOccurred())
				g.Expect(got).To(Equal(filepath.Join(root, tt.want)))
				return
			}
			g.Expect(err).To(MatchError(source.ErrDir))
			g.Expect(err).To(MatchError(ContainSubstring(tt.wantErr)))
			g.Expect(err.Error()).ToNot(ContainSubstring(outside), "no path of this machine")
		})
	}
	t.Run("no artifact", func(t *testing.T) {
		g := NewWithT(t)
		_, err := source.ProgramDir(filepath.Join(outside, "missing"), "")
		g.Expect(err).To(MatchError(source.ErrWorkspace))
	})
}
