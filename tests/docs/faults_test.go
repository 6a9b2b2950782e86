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

func TestLinksOfTheDocumentationLeadSomewhere(t *testing.T) {
	g := NewWithT(t)
	root, err := process.RepoRoot()
	g.Expect(err).NotTo(HaveOccurred())
	faults, pages, err := Faults(os.DirFS(root), "README.md", "CONTRIBUTING.md", "docs", "examples")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(faults).To(BeEmpty())
	// Otherwise a bug in finding the pages would look as if all were right.
	g.Expect(pages).To(BeNumerically(">=", 30))
}

func TestABrokenLinkIsReported(t *testing.T) {
	for _, test := range []struct {
		name, text string
		faults     []string
	}{
		{"a file", "[a](code.go)", nil},
		{"a directory", "[a](..) and [b](../docs/)", nil},
		{"a page of another directory, and its heading", "[a](../README.md) and [b](../README.md#to-begin)", nil},
		{"a heading of the page itself", "# Here\n\n[a](#here)", nil},
		{"a name with a space", "[a](a%20b.md) and [c](<a b.md>)", nil},
		{"what is elsewhere", "[a](https://example.com/gone) and [b](mailto:a@example.com) and <https://example.com/gone>", nil},
		{"a file that is not there", "[a](gone.md)", []string{`docs/page.md line 1: "gone.md": there is no such file`}},
		{"a file in other letters", "[a](../readme.md)", []string{`docs/page.md line 1: "../readme.md": there is no such file`}},
		{"a heading that is not there", "[a](../README.md#the-end)", []string{`docs/page.md line 1: "../README.md#the-end": there is no such heading, but to-begin`}},
		{"a heading of the page itself that is not there", "# Here\n\n[a](#there)", []string{`docs/page.md line 3: "#there": there is no such heading, but here`}},
		{"a line of a file", "[a](code.go#L1)", []string{`docs/page.md line 1: "code.go#L1": only pages have headings, and lines move`}},
		{"a place outside", "[a](../../other/README.md)", []string{`docs/page.md line 1: "../../other/README.md": leads out of the repository`}},
		{"the root of a site", "[a](/README.md)", []string{`docs/page.md line 1: "/README.md": is not relative, which only some viewers can follow`}},
		{"no address", "[a](%zz)", []string{`docs/page.md line 1: "%zz": parse "%zz": invalid URL escape "%zz"`}},
		{"a link in HTML", `text <a href="gone.md">a</a>`, []string{
			`docs/page.md line 1: <a href="gone.md">: is HTML, whose links are not looked at: write it in Markdown`,
			`docs/page.md line 1: </a>: is HTML, whose links are not looked at: write it in Markdown`,
		}},
		{"a comment, and the end of a line", "<!-- a -->\n\na<br>b", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			g := NewWithT(t)
			repository := fstest.MapFS{
				"README.md":     {Data: []byte("## To begin\n")},
				"docs/page.md":  {Data: []byte(test.text)},
				"docs/a b.md":   {Data: nil},
				"docs/code.go":  {Data: []byte("[no page](gone.md)")},
				"other/page.md": {Data: []byte("[not looked at](gone.md)")},
			}
			faults, pages, err := Faults(repository, "README.md", "docs")
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(faults).To(Equal(test.faults))
			g.Expect(pages).To(Equal(3))
		})
	}
}

func TestAPlaceThatIsNotThereIsAnError(t *testing.T) {
	_, _, err := Faults(fstest.MapFS{}, "docs")
	NewWithT(t).Expect(err).To(MatchError(ContainSubstring("finding the pages of docs: ")))
}
