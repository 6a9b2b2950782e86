// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package messages

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/tests/process"
)

var update = flag.Bool("update", false, "write the list of messages")

// golden is for a review: it shows the texts that a change adds, one below the other.
const golden = "testdata/messages.txt"

func TestTheListOfMessages(t *testing.T) {
	g := NewWithT(t)
	root, err := process.RepoRoot()
	g.Expect(err).NotTo(HaveOccurred())
	files, err := collect(root)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(len(files)).To(BeNumerically(">", 100), "the code is where the test looks for it")
	list := listOf(files)
	if *update {
		g.Expect(os.MkdirAll(filepath.Dir(golden), 0o755)).To(Succeed())
		g.Expect(os.WriteFile(golden, []byte(list), 0o644)).To(Succeed())
	}
	written, err := os.ReadFile(golden)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(list).To(Equal(string(written)), "read the texts that have changed, and run: go test ./tests/messages -update")
}

// idiom matches turns that a reader has to guess at, each with a plain one: such as, for example, has not yet, continues, someone,
// releases, again, accepts, reports, repairs.
var idiom = regexp.MustCompile(`(?i)\b(as (when|where)|ha(s|ve) yet to|yet to be|go(es)? on|somebody|let(s|ting)? go|anew|takes? in|taken in|told|mends?|unmade|meanwhile)\b`)

func TestMessagesAreInPlainWords(t *testing.T) {
	g := NewWithT(t)
	root, err := process.RepoRoot()
	g.Expect(err).NotTo(HaveOccurred())
	files, err := collect(root)
	g.Expect(err).NotTo(HaveOccurred())
	for _, file := range files {
		for _, text := range file.texts {
			g.Expect(idiom.FindAllString(text, -1)).To(BeEmpty(), "%s: %s", file.path, text)
			if strings.Contains(text, "kubectl annotate") {
				g.Expect(text).To(ContainSubstring("--field-manager=flux-client-side-apply"), "Flux would remove the annotation: %s", text)
			}
		}
	}
	crds, err := filepath.Glob(filepath.Join(root, "config", "crd", "bases", "*.yaml"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(crds).NotTo(BeEmpty())
	for _, crd := range crds {
		text, err := os.ReadFile(crd)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(idiom.FindAllString(string(text), -1)).To(BeEmpty(), crd)
	}
}

func listOf(files []file) string {
	var list strings.Builder
	list.WriteString("Texts that a person may read, by package and file; … stands for what the code adds to a text. The descriptions\n" +
		"of the CRDs are in config/crd/bases. go test ./tests/messages -update writes this list.\n")
	for _, file := range files {
		list.WriteString("\n" + file.path + "\n")
		for _, text := range file.texts {
			list.WriteString("- " + strings.ReplaceAll(text, "\n", "\n  ") + "\n")
		}
	}
	return list.String()
}
