// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/flux-pulumi/pulumi-controller/internal/snapshot"
)

func TestSnapshotsAreCountedByWhatRunsFind(t *testing.T) {
	g := NewWithT(t)
	registry := prometheus.NewPedanticRegistry()
	dir := t.TempDir()
	snapshots, err := NewSnapshots(registry, snapshot.New(dir, 1<<20))
	g.Expect(err).NotTo(HaveOccurred())
	root, err := os.OpenRoot(t.TempDir())
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _ = root.Close() })
	g.Expect(root.WriteFile("a", []byte("1"), 0o600)).To(Succeed())
	kept, damaged := snapshot.ID{Namespace: "apps"}, snapshot.ID{Namespace: "infra"}

	g.Expect(snapshots.Restore(t.Context(), kept, root)).To(BeFalse())
	g.Expect(snapshots.Save(t.Context(), kept, root, []string{"a"})).To(Succeed())
	g.Expect(snapshots.Restore(t.Context(), kept, root)).To(BeTrue())
	files, err := filepath.Glob(filepath.Join(dir, "*", "*"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(files).To(HaveLen(1))
	info, err := os.Stat(files[0])
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(testutil.ToFloat64(snapshots.used.WithLabelValues("hit"))).To(BeEquivalentTo(1))

	g.Expect(os.MkdirAll(filepath.Join(dir, "infra"), 0o700)).To(Succeed())
	g.Expect(os.WriteFile(strings.Replace(files[0], "/apps/", "/infra/", 1), nil, 0o600)).To(Succeed())
	_, err = snapshots.Restore(t.Context(), damaged, root)
	g.Expect(err).To(MatchError(snapshot.ErrCorrupt))
	g.Expect(testutil.GatherAndCompare(registry, strings.NewReader(`
# HELP pulumi_dependency_snapshots_total Number of runs that looked for a snapshot of the dependencies of their program, by what they found.
# TYPE pulumi_dependency_snapshots_total counter
pulumi_dependency_snapshots_total{result="error"} 1
pulumi_dependency_snapshots_total{result="hit"} 1
pulumi_dependency_snapshots_total{result="miss"} 1
`), "pulumi_dependency_snapshots_total")).To(Succeed())
	size, err := snapshots.Size()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(size).To(Equal(info.Size()), "the damaged one is gone")

	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = snapshots.Restore(ended, kept, root)
	g.Expect(err).To(MatchError(context.Canceled))
	g.Expect(testutil.ToFloat64(snapshots.used.WithLabelValues("error"))).To(BeEquivalentTo(1), "a run that was stopped is no error")
}
