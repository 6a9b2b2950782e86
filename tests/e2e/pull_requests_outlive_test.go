// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/tests/short"
	"github.com/flux-pulumi/pulumi-controller/tests/system"
)

// TestPullRequestsOutliveControllers has controllers of its own. Its parts run in sequence, as they stop and kill them. The forge is
// Gitea's, which shows that a preview is under way.
func TestPullRequestsOutliveControllers(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	ctx, dir := ofItsOwn(t, "reviews")
	g := NewWithT(t)
	w, err := newWorld(ctx, dir, system.Options{WithNotifications: true})
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { g.Expect(w.Stop()).To(Succeed()) })
	w.gitServer, w.fluxOperator = shared.gitServer, &lazyFluxOperator{}
	t.Cleanup(func() { g.Expect(w.fluxOperator.stop()).To(Succeed()) })
	for _, part := range []struct {
		name string
		test func(*reviewed)
	}{
		{"the controller dies in mid-preview", theControllerDiesInMidPreview},
		{"a preview ends while nobody takes its events", aPreviewEndsWhileNobodyTakesItsEvents},
		{"both are away, and the event is lost", theEventOfAPreviewIsLost},
	} {
		t.Run(part.name, func(t *testing.T) { part.test(newReviewedIn(t, w, gitea())) })
	}
}

// gate is a file that programs read, which they get only once it is open.
type gate struct {
	*tenant
	path string
	hand *os.File // holds whoever reads, nil if nobody does
}

// gated returns a closed gate, and the program with the port that reads it.
func (r *reviewed) gated(port string) (*gate, string) {
	r.test.Helper()
	path := filepath.Join(filepath.Dir(r.place), "gate-"+port)
	r.Expect(syscall.Mkfifo(path, 0o600)).To(Succeed())
	return &gate{tenant: r.tenant, path: path}, r.with("443", port) + fmt.Sprintf("variables:\n  gate:\n    fn::readFile: %s\n", path)
}

// holds waits until a program reads the gate, and lets it wait.
func (g *gate) holds() {
	g.test.Helper()
	g.Eventually(func() (err error) {
		g.hand, err = os.OpenFile(g.path, os.O_WRONLY|syscall.O_NONBLOCK, 0) // fails without a reader
		return err
	}).Should(Succeed())
}

// opens releases who waits at the gate, and lets pass who comes later.
func (g *gate) opens() {
	g.test.Helper()
	g.Expect(os.Remove(g.path)).To(Succeed())
	g.Expect(os.WriteFile(g.path, nil, 0o600)).To(Succeed())
	if g.hand != nil {
		g.Expect(g.hand.Close()).To(Succeed())
	}
}

// processes are those of runs.
func (r *reviewed) processes() (pids []int) {
	r.test.Helper()
	found, err := filepath.Glob("/proc/[0-9]*/cwd")
	r.Expect(err).NotTo(HaveOccurred())
	for _, path := range found {
		dir, err := os.Readlink(path)
		var pid int
		if _, scanned := fmt.Sscanf(path, "/proc/%d/cwd", &pid); err != nil || scanned != nil {
			continue // ended
		}
		if inside, err := filepath.Rel(r.DataDir(), dir); err == nil && filepath.IsLocal(inside) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// theControllerDiesInMidPreview twice: the run of the first is still there when the next controller starts, that of the second has
// ended, and nobody saw its result.
func theControllerDiesInMidPreview(r *reviewed) {
	kept := r.kept()
	closed, program := r.gated("8443")
	p := r.opens("feature", program)
	r.labels(p)
	r.looks()
	closed.holds()
	r.awaitVerdict(p.commit, "pending")
	r.dies()
	r.Expect(r.kept()).To(Equal(kept), "nothing is locked")
	r.Expect(r.forge.on(p.number)).To(BeEmpty())
	r.Expect(r.processes()).NotTo(BeEmpty(), "Pulumi outlives the controller")
	r.Expect(r.StartController()).To(Succeed())
	closed.opens()
	r.awaitComment(p, "1 to update", "8443", p.commit)
	r.awaitVerdict(p.commit, "success")

	unseen, program := r.gated("9443")
	commit := r.pushes(p, r.files(program))
	r.looks()
	unseen.holds()
	r.awaitVerdict(commit, "pending")
	r.dies()
	unseen.opens()
	r.Eventually(r.processes).Should(BeEmpty(), "the preview has ended")
	r.awaitComment(p, "8443")
	r.Expect(r.StartController()).To(Succeed())
	r.awaitComment(p, "1 to update", "9443", commit)
	r.awaitVerdict(commit, "success")
	r.Expect(r.kept()).To(Equal(kept), "previews change nothing")
	r.closes(p)
	r.looks()
	r.leavesNothing(p)
}

// dies kills the controller.
func (r *reviewed) dies() {
	r.test.Helper()
	r.Expect(r.Controller.Kill()).To(Succeed())
}

// awaitPreviewOf waits until the Stack of a pull request shows this change.
func (r *reviewed) awaitPreviewOf(p *pull, commit, found string) {
	r.test.Helper()
	stack := r.preview(p)
	r.Eventually(func(g Gomega) {
		g.Expect(r.Get(r.ctx, keyOf(stack), stack)).To(Succeed())
		g.Expect(conditions.IsReady(stack)).To(BeTrue())
		g.Expect(conditions.GetMessage(stack, meta.ReadyCondition)).To(And(HavePrefix("Previewed revision "), HaveSuffix(commit+": "+found)))
	}).Should(Succeed())
}

// aPreviewEndsWhileNobodyTakesItsEvents has notification-controller down for a while.
func aPreviewEndsWhileNobodyTakesItsEvents(r *reviewed) {
	p := r.opens("feature", r.with("443", "8443"))
	r.labels(p)
	r.looks()
	r.awaitComment(p, "8443", p.commit)
	r.awaitVerdict(p.commit, "success")

	r.Expect(r.NotificationController.Stop()).To(Succeed())
	first := r.pushes(p, r.files(r.with("443", "9443")))
	r.looks()
	r.awaitPreviewOf(p, first, "1 to update")
	second := r.pushes(p, r.files(r.program))
	r.looks()
	r.awaitPreviewOf(p, second, "1 unchanged")
	r.Expect(r.forge.of(second)).To(BeEmpty())
	r.Expect(r.NotificationController.Restart(r.ctx)).To(Succeed())
	r.awaitComment(p, "No changes", second)
	r.awaitVerdict(first, "success")
	r.awaitVerdict(second, "success")
}

// theEventOfAPreviewIsLost with the controller that was to send it. The guide says how to get the comment nevertheless.
func theEventOfAPreviewIsLost(r *reviewed) {
	p := r.opens("feature", r.with("443", "8443"))
	r.Expect(r.NotificationController.Stop()).To(Succeed())
	r.labels(p)
	r.looks()
	r.awaitPreviewOf(p, p.commit, "1 to update")
	r.dies()
	r.Expect(errors.Join(r.NotificationController.Restart(r.ctx), r.StartController())).To(Succeed())
	stack := r.preview(p)
	request(r.previews, stack)
	r.awaitPreviewed(stack, "1 to update")
	r.Expect(r.forge.on(p.number)).To(BeEmpty(), "it is the same result")

	r.delete(stack)
	r.awaitGone(stack)
	r.looks()
	r.awaitComment(p, "1 to update", "8443", p.commit)
	r.awaitVerdict(p.commit, "success")
}
