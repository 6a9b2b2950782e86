// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"os"
	"testing"
	"testing/fstest"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/tests/process"
)

func TestEveryPageIsReachedFromTheREADME(t *testing.T) {
	g := NewWithT(t)
	root, err := process.RepoRoot()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(Unreached(os.DirFS(root), "README.md", "docs", "examples")).To(BeEmpty())
}

func TestAPageThatNothingLinksToIsReported(t *testing.T) {
	g := NewWithT(t)
	repository := fstest.MapFS{
		"README.md":        {Data: []byte("[a](docs/a.md#here), [not a page](docs), [elsewhere](https://example.com/docs/lost.md)")},
		"docs/a.md":        {Data: []byte("[b](deep/b.md)")},
		"docs/deep/b.md":   {Data: []byte("[a circle](../a.md)")},
		"docs/README.md":   {Data: []byte("[an index that nothing leads to reaches nothing](lost.md)")},
		"docs/lost.md":     {Data: nil},
		"docs/picture.svg": {Data: nil},
	}
	g.Expect(Unreached(repository, "README.md", "docs")).To(Equal([]string{"docs/lost.md"}))
}
