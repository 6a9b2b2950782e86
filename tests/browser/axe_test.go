// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"os"

	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

const axe = "../../bin/axe/node_modules/axe-core/axe.min.js"

// awaited lets an evaluation wait for its promise.
func awaited(e *runtime.EvaluateParams) *runtime.EvaluateParams { return e.WithAwaitPromise(true) }

// isAccessible fails the test for each thing that axe finds serious. It says nothing on a machine without npm's packages.
func (p *tab) isAccessible(view string) {
	p.t.Helper()
	source, err := os.ReadFile(axe)
	if err != nil {
		p.t.Logf("axe is not there, make bin/axe installs it: %s", err)
		return
	}
	// As the browser's own tools would run it: the page's policy lets no script in.
	var found []string
	p.do(chromedp.Evaluate(string(source)+`;0`, nil), chromedp.Evaluate(`axe.run(document, {resultTypes: ["violations"]}).then((r) => r.violations
		.filter((v) => ["serious", "critical", "moderate"].includes(v.impact))
		.flatMap((v) => v.nodes.map((n) => v.impact + " " + v.id + ": " + n.target.join(" ") + ": " + n.failureSummary)))`,
		&found, awaited))
	for _, one := range found {
		p.t.Errorf("%s: %s", view, one)
	}
}
