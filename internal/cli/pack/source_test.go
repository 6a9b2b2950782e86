// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pack

import (
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
)

func TestExcludesOfTheSourceApply(t *testing.T) {
	for name, test := range map[string]struct {
		source Source
		files  map[string]string
		want   []string
	}{
		"nothing": {Source{}, nil, []string{"Pulumi.yaml", "docs/a.md", "lib/index.ts"}},
		"files, in place of what Flux leaves out by itself": {Source{Ignore: "# comment\n*.md\n"}, nil,
			[]string{"Pulumi.yaml", "lib/index.ts", "logo.png"}},
		"in a .sourceignore, in place of that": {Source{}, map[string]string{".sourceignore": "*.md\n"}, []string{"Pulumi.yaml", "lib/index.ts", "logo.png"}},
		"in a .sourceignore beside it, in place of that": {Source{}, map[string]string{"apps/web/.sourceignore": "*.md\n"},
			[]string{"Pulumi.yaml", "docs/a.md", "lib/index.ts", "logo.png"}},
		"in a .sourceignore below it, in place of that": {Source{}, map[string]string{"infra/net/lib/.sourceignore": "*.md\n"},
			[]string{"Pulumi.yaml", "docs/a.md", "lib/index.ts", "lib/.sourceignore", "logo.png"}},
		"in a .sourceignore that git does not have": {Source{}, map[string]string{".gitignore": "/apps\n", "apps/web/.sourceignore": "*.md\n"},
			[]string{"Pulumi.yaml", "docs/a.md", "lib/index.ts"}},
		"in a .sourceignore without a pattern": {Source{}, map[string]string{"apps/web/.sourceignore": "# none\n"},
			[]string{"Pulumi.yaml", "docs/a.md", "lib/index.ts"}},
		"all but some files": {Source{Ignore: "*\n!*.yaml\n!*.ts\n"}, map[string]string{"infra/net/lib/a/b.ts": ""},
			[]string{"Pulumi.yaml", "lib/index.ts", "lib/a/b.ts"}},
		"all but some files, in a .sourceignore": {Source{}, map[string]string{"infra/.sourceignore": "*\n!*.yaml\n!*.ts\n", "infra/net/.gitignore": "mods/\n", "infra/net/mods/a.ts": ""},
			[]string{"Pulumi.yaml", "lib/index.ts"}},
		"all but a directory": {Source{Ignore: "/*\n!/infra/net\n", Dir: "./infra/net/"}, nil,
			[]string{"Pulumi.yaml", "docs/a.md", "lib/index.ts", "logo.png"}},
		"from the top of the source": {Source{Ignore: "/infra/net/docs\n/lib\n", Dir: "infra/net"}, nil,
			[]string{"Pulumi.yaml", "lib/index.ts", "logo.png"}},
		"whose top is the directory": {Source{Ignore: "/lib/\n", Dir: "."}, nil, []string{"Pulumi.yaml", "docs/a.md", "logo.png"}},
		"before what Flux leaves out by itself": {Source{Ignore: "!*.png\n"}, nil,
			[]string{"Pulumi.yaml", "docs/a.md", "lib/index.ts", "logo.png"}},
		"before a .sourceignore": {Source{Ignore: "!/docs\n"}, map[string]string{"infra/.sourceignore": "/net/docs\n/net/lib\n"},
			[]string{"Pulumi.yaml", "docs/a.md", "logo.png"}},
		"after what git does not have": {Source{Ignore: "!*\n"}, map[string]string{".gitignore": "lib/\n*.env\n", "infra/net/a.env": ""},
			[]string{"Pulumi.yaml", "docs/a.md", "logo.png"}},
		"nor has a .sourceignore it": {Source{}, map[string]string{".gitignore": "lib/\n*.env\n", ".sourceignore": "/*\n!/infra\n", "infra/net/a.env": ""},
			[]string{"Pulumi.yaml", "docs/a.md", "logo.png"}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			top := t.TempDir()
			write(t, top, map[string]string{".git/HEAD": "", "infra/net/Pulumi.yaml": "name: net\n", "infra/net/docs/a.md": "",
				"infra/net/lib/index.ts": "", "infra/net/logo.png": ""})
			write(t, top, test.files)
			packed, err := Dir(t.Context(), filepath.Join(top, "infra/net"), Options{Limit: 1 << 20, Source: test.source})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(unpacked(t, packed.Data)).To(ConsistOf(test.want))
		})
	}
}
