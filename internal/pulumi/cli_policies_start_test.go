// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// hangingPacks are packs that never serve Pulumi.
func hangingPacks() map[string]string {
	return map[string]string{
		"hangs":         "#!/bin/sh\ntouch $TMPDIR/runs\nsleep 1000\n",
		"hangs deaf":    "#!/bin/sh\ntrap '' INT TERM HUP\ntouch $TMPDIR/runs\nwhile :; do sleep 1; done\n",
		"hangs to talk": "#!/bin/sh\ntouch $TMPDIR/runs\nprintf x\nsleep 1000\n",
	}
}

func TestAPackThatDoesNotStartFailsTheRun(t *testing.T) {
	t.Parallel()
	l := newLab(t).withProvider().withStack()
	l.driver.PackStart = 2 * time.Second
	tests := hangingPacks()
	tests["prints without end"] = "#!/bin/sh\ncat /dev/zero\n"
	for name, script := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			why := "it did not start within 2s"
			if name == "prints without end" {
				why = "it printed more than 1024 bytes in place of a port"
			}
			r := l.update(l.thing("value: fine"))
			result := l.guarded(t.Context(), r, map[string]string{"pulumi-analyzer-lab": script}, labPack("base", "values", ""))
			g.Expect(result.Outcome).To(Equal(run.PolicyPackFailed), result.Message)
			g.Expect(result.Message).To(Equal("policy pack values of PolicySet base failed: exit status 1: " + why + ". Without it, the Stack is not updated"))
			g.Expect(l.things()).To(BeZero())
			g.Expect(l.locks()).To(BeEmpty())
			g.Expect(Alive(r.ID)).To(BeZero())
		})
	}
}

func TestARunThatIsStoppedNamesThePackThatHasNotStarted(t *testing.T) {
	t.Parallel()
	l := newLab(t).withProvider().withStack()
	for name, script := range hangingPacks() {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			dir := Directory(l.TempDir())
			fine, hangs := labPack("base", "values", ""), labPack("extra", "slow", "")
			l.placePack(dir, 0, fine, l.labPackFiles())
			files := l.labPackFiles()
			files["pulumi-analyzer-lab"] = script
			l.placePack(dir, 1, hangs, files)
			r := l.update(l.thing("value: fine"))
			r.Policies = []run.PolicyPack{fine, hangs}
			ctx, cancel := context.WithCancelCause(t.Context())
			results := make(chan run.Result, 1)
			go func() { results <- l.doWritten(ctx, dir, r) }()
			g.Eventually(func() error {
				_, err := os.Stat(filepath.Join(dir.Policy(1).temp(), "runs"))
				return err
			}).Should(Succeed())
			cancel(context.DeadlineExceeded)
			var result run.Result
			g.Eventually(results).Should(Receive(&result))
			g.Expect(result.Outcome).To(Equal(run.TimedOut), result.Message)
			g.Expect(result.Message).To(Equal("the timeout has passed and the run was cancelled; policy pack slow of PolicySet extra had not started"))
			g.Expect(l.locks()).To(BeEmpty(), "Pulumi has ended by itself")
			g.Expect(Alive(r.ID)).To(BeZero())
		})
	}
}
