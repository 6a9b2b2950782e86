// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/crash"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/tests/cloud"
)

// Nobody watches the CLI any more, so it is stopped like that of a cancelled run before the
// panic reaches whoever has started the run.
func TestAPanicOfWhatWatchesTheCLIStopsItGently(t *testing.T) {
	t.Parallel()
	l := newLab(t).withProvider().withStack()
	r := l.update(l.thing("hold: create"))
	l.reports.progress = func(progress run.Progress) {
		if progress.InFlight > 0 {
			l.awaitCreate()
			panic("no such index")
		}
	}
	caught := make(chan *crash.Panic, 1)
	go func() {
		defer func() { caught <- crash.Of(recover()) }()
		l.driver.Do(t.Context(), Directory(l.TempDir()), r, func(string) {})
	}()
	l.Eventually(cloud.Open(l.cloud).ToldToStop).Should(BeTrue())
	l.release()
	l.Eventually(caught).Should(Receive(MatchError("no such index")))
	l.Expect(Alive(r.ID)).To(BeZero())
	l.Expect(l.state()).To(And(ContainSubstring("Thing::a"), Not(ContainSubstring("pending_operations"))), "what was in flight is finished")
	l.Expect(l.locks()).To(BeEmpty())
}
