// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

// TestTheSiteLeadsToEachPage compares the menu of make site, which a build does not check, with the pages.
func TestTheSiteLeadsToEachPage(t *testing.T) {
	g := NewWithT(t)
	root, texts := sources(t)
	config, err := os.ReadFile(filepath.Join(root, "hack", "site", "config.mjs"))
	g.Expect(err).NotTo(HaveOccurred())
	menu := map[string]bool{}
	for _, found := range regexp.MustCompile(`link: "/(docs/[^"]+[^"/])"`).FindAllStringSubmatch(string(config), -1) {
		menu[found[1]+".md"] = true
	}
	_, guides, _ := strings.Cut(string(config), "sidebar: [")
	for _, found := range regexp.MustCompile(`\["[^"]+",\s*"([a-z-]+)"\]`).FindAllStringSubmatch(guides, -1) {
		menu["docs/guides/"+found[1]+".md"] = true
	}
	for page := range menu {
		g.Expect(texts).To(HaveKey(page))
	}
	g.Expect(len(menu)).To(BeNumerically(">", 25))
	for page := range texts {
		// These are for who changes the controller, or parts of another page.
		if strings.HasPrefix(page, "docs/guides/") {
			g.Expect(menu).To(HaveKey(page), "hack/site/config.mjs does not lead to it")
		}
	}
}
