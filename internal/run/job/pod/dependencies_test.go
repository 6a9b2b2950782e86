// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pod

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"golang.org/x/sys/unix"

	"github.com/flux-pulumi/pulumi-controller/internal/kubeconfig"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/run/job/exchange"
	"github.com/flux-pulumi/pulumi-controller/internal/snapshot"
	"github.com/flux-pulumi/pulumi-controller/internal/snapshot/keeper"
)

// Processes of the same user could take over its connection by /proc or pidfd_getfd.
func TestTheRunnerIsClosedToProgramsBeforeItHasAKeeper(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	o := Options{DependenciesDir: filepath.Join(dir, "volume"), Keeper: filepath.Join(dir, "s"), KeptSnapshots: 1}
	ended := make(chan error, 1)
	go func() {
		ended <- keeper.Serve(t.Context(), o.Keeper, snapshot.NewShared(o.DependenciesDir, 1), "team-a", 1)
	}()
	client, err := o.openSnapshots(t.Context())
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { g.Expect(unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0)).To(Succeed()) }()
	g.Expect(unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0)).To(BeZero())
	g.Expect(client.Close()).To(Succeed())
	g.Eventually(ended).Should(Receive(BeNil()))
}

func TestARunWithoutItsKeeperStartsNothing(t *testing.T) {
	g := NewWithT(t)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := Options{DependenciesDir: t.TempDir(), Keeper: filepath.Join(t.TempDir(), "s"), KeptSnapshots: 1}.openSnapshots(ctx)
	g.Expect(err).To(HaveOccurred())
	g.Expect(unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0)).To(Succeed())

	o := optionsFor(newFake(nil), "", "a")
	o.Accounts, o.WorkDir = &kubeconfig.Mounted{}, filepath.Join(t.TempDir(), "work")
	ended := o.do(t.Context(), exchange.Input{Run: run.Run{ID: "1", Operation: run.Update, Timeout: time.Hour}}, errNoKeeper)
	g.Expect(ended.Outcome).To(Equal(run.WorkspaceFailed))
	g.Expect(ended.Message).To(ContainSubstring(errNoKeeper.Error()))
	g.Expect(o.WorkDir).NotTo(BeAnExistingFile())
}
