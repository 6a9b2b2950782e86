// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// visit is the page in the browser, and the system behind it.
type visit struct {
	*shop
	*tab
	// page is the address of the page.
	page string
}

// on opens a view of a Stack.
func (v *visit) on(stack string) { v.open(v.page + "#/stacks/shop/" + stack) }

// TestThePageOfARealSystem goes through a day with the page of the real command: every view and every action, against an API
// server with the controller, source-controller and Pulumi.
func TestThePageOfARealSystem(t *testing.T) {
	short.Skip(t)
	v := &visit{shop: newShop(t), tab: newTab(t, wide())}
	_, address := serve(t, v.dir, v.ControlPlane.KubeconfigPath())
	v.page = v.enter(address)
	v.reads(`[data-stack="shop/network"]`, "Ready")
	v.reads(`[data-stack="shop/queue"]`, "AccessDenied")

	v.decides()
	v.looks()
	v.isReadOnlyForAReader()
	v.showsARunAndCancelsIt()
	v.steers()
}

// decides rejects a plan and approves it, and leaves another one that replaces something.
func (v *visit) decides() {
	v.t.Helper()
	v.on("cluster/plan")
	v.reads(".change", "production")
	v.click("button", "Reject")
	v.fill("#reason", "not on a Friday")
	v.click("dialog button", "Reject")
	v.reads("#toast", "rejected")
	v.Eventually(func() v1.PlanState { return v.stack("cluster").Status.Plan.State }).Should(Equal(v1.PlanRejected))
	v.click("button", "Approve")
	v.click("dialog button", "Approve")
	v.reads("#toast", "approved")
	v.on("cluster")
	v.reads(".condition", "Ready: True")
	v.Expect(v.cloud("cluster").Created("workers-m6i")).To(Equal(1))

	program := &v1.Program{}
	program.Namespace, program.Name = "shop", "cluster"
	v.Expect(v.Patch(v.t.Context(), program, client.RawPatch(types.MergePatchType, []byte(
		`{"program":{"resources":{"production":{"properties":{"value":"1.32","tags":{"owner":"platform","audited":"yes"}}},"workers":{"properties":{"name":"workers-m7i"}}}}}`)))).To(Succeed())
	v.reads(".attention", "A plan waits for approval")
	v.click(".attention a", "Review the plan")
	v.reads(".diff", "workers-m7i")
}

// looks opens each view wide and narrow, light and dark: it shows what it is for, fits into the width, and axe finds nothing
// serious. With PICTURES it takes those of the documentation.
func (v *visit) looks() {
	v.t.Helper()
	v.pictures()
	for _, l := range looks() {
		v.appear(l)
		for _, view := range []struct{ name, address, selector, text string }{
			{"stacks", "stacks", ".stacks", "AccessDenied"},
			{"graph", "graph", ".graph", "storefront"},
			{"stack", "stacks/shop/network", ".condition", "Ready: True"},
			{"waiting", "stacks/shop/storefront", ".condition", "not ready"},
			{"failed", "stacks/shop/queue", ".condition", "AccessDenied"},
			{"run", "stacks/shop/database", ".steps", "primary"},
			{"plan", "stacks/shop/cluster/plan", ".diff", "workers-m7i"},
			{"resources", "stacks/shop/network/resources", ".tree", "subnet"},
			{"outputs", "stacks/shop/network/outputs", "table", "10.0.0.0/16"},
			{"history", "stacks/shop/network/history", ".change", "2 created"},
			{"drift", "stacks/shop/network/drift", ".card", "not been checked"},
			{"events", "stacks/shop/network/events", "table", "2 created"},
			{"logs", "stacks/shop/network/logs", ".logs", "lab:index:Thing (subnet): create done"},
		} {
			v.open(v.page + "#/" + view.address)
			v.reads(view.selector, view.text)
			v.sees("nothing wider than the window at "+view.name, `document.documentElement.scrollWidth <= innerWidth`)
			v.sees("no secret", `!document.body.textContent.includes("hunter2")`)
			v.picture("real-" + l.name + "-" + view.name)
			v.isAccessible(l.name + " " + view.name)
		}
	}
	v.appear(wide())
}

// pictures takes those of the documentation: PICTURES=../../docs/pictures, as make pictures does.
func (v *visit) pictures() {
	v.t.Helper()
	directory := os.Getenv("PICTURES")
	if directory == "" {
		return
	}
	for _, one := range []struct {
		name, address, selector, text string
		look                          look
	}{
		{"page-stacks", "stacks", ".stacks", "AccessDenied", look{"", 1280, 640, "light"}},
		{"page-graph", "graph", ".graph", "storefront", look{"", 1280, 600, "light"}},
		{"page-plan", "stacks/shop/cluster/plan", ".diff", "workers-m7i", look{"", 1280, 800, "light"}},
		{"page-run", "stacks/shop/database", ".steps", "primary", look{"", 1280, 640, "dark"}},
	} {
		v.appear(one.look)
		v.open(v.page + "#/" + one.address)
		v.reads(one.selector, one.text)
		v.sees("a live page", `document.getElementById("link-text").textContent === "Live" && document.getElementById("toast").textContent === ""`)
		v.save(filepath.Join(directory, one.name+".png"))
	}
}

// isReadOnlyForAReader opens the page of a person who may only read.
func (v *visit) isReadOnlyForAReader() {
	v.t.Helper()
	kubeconfig := filepath.Join(v.dir, "reader")
	v.Expect(v.ControlPlane.WriteAccountKubeconfig(v.t.Context(), kubeconfig, "shop", "reader")).To(Succeed())
	_, address := serve(v.t, v.dir, kubeconfig, "--namespace", "shop")
	reader := &visit{shop: v.shop, tab: v.tab}
	reader.page = reader.enter(address)
	reader.reads(`[data-stack="shop/network"]`, "Ready")
	reader.on("cluster/plan")
	reader.reads(".diff", "workers-m7i")
	reader.reads("main", "You are not allowed to approve or reject it.")
	reader.on("database")
	reader.reads(".card", "The steps of the run cannot be read: ")
	for _, stack := range []string{"database", "network", "mail"} {
		reader.on(stack)
		reader.reads("h1", stack)
		reader.reads(".facts", "production")
		reader.sees("no action", `document.querySelectorAll(".actions button").length === 0`)
	}
	v.open(v.page + "#/stacks")
}

// showsARunAndCancelsIt looks at a run step by step, cancels it, and runs the Stack again.
func (v *visit) showsARunAndCancelsIt() {
	v.t.Helper()
	v.on("database")
	v.reads(".steps", "primary")
	step := func(name string) string {
		return `[...document.querySelectorAll(".step")].find((e) => e.querySelector(".name").textContent === "` + name + `")`
	}
	v.sees("a step that is done", step("subnets")+`?.querySelector(".is-ready") !== null`)
	v.sees("a step at work", step("primary")+`.innerText.includes("running")`)
	v.sees("nothing of what comes later", step("backups")+` === undefined`)
	v.on("database/logs")
	v.reads(".logs", "lab:index:Thing (primary): create started")
	v.on("database")
	v.click("button", "Cancel the run")
	v.click("dialog button", "Cancel the run")
	v.reads("#toast", "annotated")
	v.Eventually(v.cloud("database").ToldToStop).Should(BeTrue())
	v.sees("no second cancel", `![...document.querySelectorAll(".actions button")].some((b) => b.textContent === "Cancel the run")`)
	v.Expect(v.cloud("database").Release()).To(Succeed())
	v.reads(".condition", "was cancelled on request")
	v.Expect(v.cloud("database").Created("backups")).To(Equal(0))

	v.click("button", "Reconcile")
	v.sees("the step that was missing, at work", step("backups")+`?.innerText.includes("running")`)
	v.reads(".condition", "Ready: True")
	v.sees("no run", `document.querySelector(".steps") === null`)
	v.on("database/history")
	v.reads(".ended", "Cancelled")
	v.reads(".ended", "Succeeded")
}

// steers suspends, resumes and previews a Stack.
func (v *visit) steers() {
	v.t.Helper()
	v.on("network")
	v.reads(`[aria-label="Actions"]`, "Suspend")
	v.click("button", "Suspend")
	v.click("dialog button", "Suspend")
	v.reads(`.head-name`, "Suspended")
	v.sees("only what makes sense", `[...document.querySelectorAll(".actions button")].map((b) => b.textContent).join() === "Resume"`)
	v.Expect(v.stack("network").Spec.Suspend).To(BeTrue())
	v.click("button", "Resume")
	v.sees("what makes sense again", `[...document.querySelectorAll(".actions button")].map((b) => b.textContent).join() === "Reconcile,Preview,Suspend"`)
	v.Expect(v.stack("network").Spec.Suspend).To(BeFalse())
	v.click("button", "Preview")
	v.reads("#toast", "annotated")
	v.Eventually(func() *v1.PreviewStatus { return v.stack("network").Status.Preview }).ShouldNot(BeNil())
}
