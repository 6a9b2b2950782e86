// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	. "github.com/onsi/gomega"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/controlplane"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
	"github.com/flux-pulumi/pulumi-controller/tests/system"
)

// manyStacks is as many as the page must show in a second.
const manyStacks = 1000

// createMany creates Stacks with the status of an update that has ended, in 20 namespaces.
func createMany(t *testing.T, api client.Client) {
	t.Helper()
	g := NewWithT(t)
	ctx := t.Context()
	for n := range 20 {
		g.Expect(api.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("team-%02d", n)}})).To(Succeed())
	}
	at := metav1.NewTime(time.Now().Add(-time.Hour).Truncate(time.Second))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(16)
	for n := range manyStacks {
		group.Go(func() error {
			stack := &v1.Stack{ObjectMeta: metav1.ObjectMeta{Namespace: fmt.Sprintf("team-%02d", n%20), Name: fmt.Sprintf("stack-%04d", n)},
				Spec: v1.StackSpec{Stack: "production", FluxSource: &v1.FluxSource{SourceRef: v1.SourceReference{Kind: "GitRepository", Name: "infrastructure"}}}}
			if err := api.Create(ctx, stack); err != nil {
				return err
			}
			stack.Status.LastAppliedRevision = "main@sha1:5b0c2f7d91a2bb7e40915f3ce0d9cc1f4c1ad9b0"
			stack.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: metav1.ConditionTrue, Reason: "ReconciliationSucceeded",
				Message: "Applied revision: main@sha1:5b0c2f7d91a2bb7e40915f3ce0d9cc1f4c1ad9b0", LastTransitionTime: at}}
			return api.Status().Update(ctx, stack)
		})
	}
	g.Expect(group.Wait()).To(Succeed())
}

// peak returns the most memory that a process has used, in MiB.
func peak(g *WithT, pid int) int {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	g.Expect(err).NotTo(HaveOccurred())
	found := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(text)
	g.Expect(found).NotTo(BeNil())
	kilobytes, err := strconv.Atoi(string(found[1]))
	g.Expect(err).NotTo(HaveOccurred())
	return kilobytes >> 10
}

// TestAThousandStacksAreShownAtOnce bounds what makes the page slow, as a time says more about the machine: requests, bytes,
// elements and memory. It logs the time, which docs/guides/page.md reports.
func TestAThousandStacksAreShownAtOnce(t *testing.T) {
	short.Skip(t)
	needsChromium(t)
	g := NewWithT(t)
	crds, err := controlplane.ProjectCRDs()
	g.Expect(err).NotTo(HaveOccurred())
	dir := t.TempDir()
	plane, err := controlplane.Start(context.Background(), controlplane.Options{Dir: dir, CRDPaths: crds})
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { g.Expect(plane.Stop()).To(Succeed()) })
	scheme, err := system.Scheme()
	g.Expect(err).NotTo(HaveOccurred())
	api, err := client.New(plane.RESTConfig(), client.Options{Scheme: scheme})
	g.Expect(err).NotTo(HaveOccurred())
	createMany(t, api)

	p := newTab(t, wide())
	command, address := serve(t, dir, filepath.Join(dir, "kubeconfig"))
	page := p.enter(address)
	p.open(page + "#/stacks")
	p.reads("main", "1000 Stacks")
	p.do(chromedp.Reload())
	var took, requests, loaded, elements, streamed float64
	p.do(chromedp.Evaluate(`new Promise((done) => { const look = () => document.querySelectorAll("[data-stack]").length === 1000 ? done(performance.now()) : requestAnimationFrame(look); look(); })`, &took, awaited))
	p.do(chromedp.Evaluate(`performance.getEntriesByType("resource").length`, &requests),
		chromedp.Evaluate(`performance.getEntriesByType("resource").reduce((sum, one) => sum + one.decodedBodySize, 0)`, &loaded),
		chromedp.Evaluate(`document.querySelectorAll("*").length`, &elements),
		chromedp.Evaluate(`new Promise((done) => { const all = new EventSource("api/stacks"); all.addEventListener("stacks", (event) => { all.close(); done(event.data.length); }); })`, &streamed, awaited))
	memory := peak(g, command.PID())
	t.Logf("1000 Stacks after %.0f ms, with %.0f requests, %.0f bytes of the page, %.0f bytes of Stacks, %.0f elements; the command has used %d MiB", took, requests, loaded, streamed, elements, memory)
	g.Expect(requests).To(BeNumerically("<=", 20), "requests")
	g.Expect(loaded).To(BeNumerically("<", 200<<10), "bytes of the page")
	g.Expect(streamed).To(BeNumerically("<", 600*manyStacks), "bytes of the Stacks")
	g.Expect(elements).To(BeNumerically("<", 25*manyStacks), "elements")
	g.Expect(memory).To(BeNumerically("<", 200), "MiB of the command")
}
