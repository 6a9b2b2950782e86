// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// world answers all that the page asks of the platform.
func world(t *testing.T) *standIn {
	rows := platform()
	s := newStandIn(t, rows)
	s.answer("graph", grid(rows))
	s.answer("stacks/platform/cluster", cluster(rows[1]))
	s.answer("stacks/platform/cluster/plan", replacement())
	s.answer("stacks/platform/cluster/preview", object{"message": "The preview is asked for"})
	s.answer("stacks/platform/cluster/resources", tree())
	s.answer("stacks/platform/cluster/drift", object{})
	s.answer("stacks/platform/cluster/history/0190f2", object{"plan": replacement()["plan"], "log": "Updating (production):\n ~ aws:eks:Cluster production updated\nResources: 2 updated\n"})
	s.answer("stacks/platform/cluster/events", object{"events": []object{{"at": before(720e9), "type": "Normal", "reason": "WaitingForApproval", "message": "Plan waits for approval: 1 to replace, 2 to update", "count": 1}, {"at": before(97e12), "type": "Warning", "reason": "UpdateFailed", "message": "timeout while waiting for state", "count": 3}}})
	s.answer("stacks/platform/cluster/logs", object{"text": "Previewing update (production):\n    pulumi:pulumi:Stack cluster-production\n +- aws:eks:NodeGroup workers replace [diff: ~instanceTypes]\n ~  aws:eks:Cluster production update [diff: ~version]\nResources: 2 to update, 1 to replace\n"})
	s.answer("stacks/data/postgres", postgres(rows[4], 4))
	return s
}

// TestEachViewInEachLook opens each view wide and narrow, light and dark: it shows what it is for, fits into the width, and axe
// finds nothing serious.
func TestEachViewInEachLook(t *testing.T) {
	short.Skip(t)
	s := world(t)
	for _, l := range looks() {
		t.Run(l.name, func(t *testing.T) {
			p := newTab(t, l)
			for _, view := range []struct{ name, address, selector, text string }{
				{"stacks", "stacks", ".stacks", "AccessDenied"},
				{"graph", "graph", ".graph", "postgres"},
				{"stack", "stacks/platform/cluster", ".card", "Nothing until the plan is approved"},
				{"run", "stacks/data/postgres", ".steps", "parameter-group"},
				{"plan", "stacks/platform/cluster/plan", ".diff", "m7i.xlarge"},
				{"resources", "stacks/platform/cluster/resources", ".tree", "workers"},
				{"outputs", "stacks/platform/cluster/outputs", "table", "endpoint"},
				{"history", "stacks/platform/cluster/history", ".change", "maria@example.com"},
				{"drift", "stacks/platform/cluster/drift", ".card", "No resource was changed outside of Pulumi."},
				{"events", "stacks/platform/cluster/events", "table", "3 times"},
				{"logs", "stacks/platform/cluster/logs", ".logs", "2 to update"},
			} {
				p.open(s.url + "/#/" + view.address)
				p.reads(view.selector, view.text)
				p.sees("nothing wider than the window at "+view.name, `document.documentElement.scrollWidth <= innerWidth`)
				p.picture(l.name + "-" + view.name)
				p.isAccessible(view.name)
			}
			p.do(chromedp.Navigate("about:blank"))
		})
	}
}
