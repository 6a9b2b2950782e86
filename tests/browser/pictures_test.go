// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"os"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// TestPictures takes those of the documentation: SCREENSHOTS=../../docs/pictures, as make pictures does.
func TestPictures(t *testing.T) {
	short.Skip(t)
	if os.Getenv("SCREENSHOTS") == "" {
		t.Skip("make pictures takes the pictures")
	}
	s := world(t)
	for _, one := range []struct {
		name, address, selector, text string
		look                          look
	}{
		{"page-stacks", "stacks", ".stacks", "AccessDenied", look{"", 1280, 800, "light"}},
		{"page-graph", "graph", ".graph", "postgres", look{"", 1280, 600, "light"}},
		{"page-plan", "stacks/platform/cluster/plan", ".diff", "m7i.xlarge", look{"", 1280, 800, "light"}},
		{"page-run", "stacks/data/postgres", ".steps", "parameter-group", look{"", 1280, 640, "dark"}},
	} {
		p := newTab(t, one.look)
		p.open(s.url + "/#/" + one.address)
		p.reads(one.selector, one.text)
		p.sees("a live page", `document.getElementById("link-text").textContent === "Live"`)
		p.picture(one.name)
		p.do(chromedp.Navigate("about:blank"))
	}
}
