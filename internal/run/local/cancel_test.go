// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"testing"
	"time"

	"github.com/go-logr/logr"
	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/pulumi"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// obedient is a driver whose runs continue until they are cancelled, and then until
// they are aborted.
type obedient struct{ causes chan string }

func (d obedient) Do(ctx context.Context, _ pulumi.Directory, r run.Run, _ func(string)) run.Result {
	<-ctx.Done()
	d.causes <- context.Cause(ctx).Error()
	<-r.Abort
	d.causes <- "at once"
	return run.Result{Outcome: run.Cancelled}
}

func TestCancelIsGentleThenNotAndForOneRunAlone(t *testing.T) {
	g := NewWithT(t)
	driver := obedient{make(chan string, 2)}
	r := New(Options{Dir: t.TempDir(), Concurrent: 2, Driver: driver, Wake: func(string, string) {}, Log: logr.Discard()})
	for _, id := range []string{"one", "two"} {
		g.Expect(r.Reserve("default", id)).To(BeTrue())
		g.Expect(r.Start(run.Run{ID: id, Namespace: "default", Name: id, Timeout: time.Hour})).To(Succeed())
	}
	g.Expect(r.Cancel(ref("absent"), true)).To(Succeed())
	g.Expect(r.Cancel(ref("one"), false)).To(Succeed())
	g.Expect(r.Cancel(ref("one"), false)).To(Succeed())
	g.Eventually(driver.causes, time.Minute).Should(Receive(Equal("requested by a user")))
	g.Expect(r.Cancel(ref("one"), true)).To(Succeed())
	g.Expect(r.Cancel(ref("one"), true)).To(Succeed())
	g.Eventually(driver.causes, time.Minute).Should(Receive(Equal("at once")))
	g.Eventually(func() run.Phase { phase, _ := r.Look(run.Ref{ID: "one"}); return phase }, time.Minute).Should(Equal(run.Ended))
	phase, _ := r.Look(run.Ref{ID: "two"})
	g.Expect(phase).To(Equal(run.Running))
	g.Expect(r.Cancel(ref("one"), true)).To(Succeed(), "when it has ended")

	g.Expect(r.Cancel(ref("two"), true)).To(Succeed())
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	g.Expect(r.Shutdown(ctx)).To(Succeed())
}
