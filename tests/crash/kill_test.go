// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package crash

import (
	"context"
	"time"

	. "github.com/onsi/gomega"
)

// victim is the process to kill.
type victim string

const (
	theController victim = "the controller"
	theCLI        victim = "the CLI"
	theProvider   victim = "the provider"
	allOfThem     victim = "all of them"
)

func victims() []victim { return []victim{theController, theCLI, theProvider, allOfThem} }

// span is the time after the victim appears within which it is killed: about its
// lifetime.
func (v victim) span() time.Duration {
	if v == theProvider {
		return 1600 * time.Millisecond
	}
	return 2200 * time.Millisecond
}

// killDuringRun starts a run, waits for the victim in it, kills the victim after a
// fraction of its span, and restarts the controller if that is dead.
func (r *round) killDuringRun(ctx context.Context, v victim, part float64, begin func()) {
	if v == theController || v == allOfThem {
		// Held from here on: if another round had its turn first, the run would be over.
		r.place.restarting.Lock()
		defer r.place.restarting.Unlock()
	}
	begin()
	r.Eventually(func(g Gomega) { g.Expect(r.stack(ctx).Status.Run).NotTo(BeNil()) }).Should(Succeed(), r.report(ctx))
	switch v {
	case theCLI, allOfThem:
		r.awaitProcess(ctx, "pulumi")
	case theProvider:
		r.awaitProcess(ctx, "pulumi-resource-lab")
	}
	select {
	case <-ctx.Done():
		return
	case <-time.After(time.Duration(part * float64(v.span()))): // the random moment: there is no event to wait for
	}
	if r.kill(ctx, v) {
		r.sum.kill(v)
	} else {
		r.sum.add(func() { r.sum.missed++ })
	}
}

// awaitProcess waits for a process of the run, or for the end of the run: on a busy machine the process
// may be gone before anyone looks for it.
func (r *round) awaitProcess(ctx context.Context, name string) {
	r.Eventually(func() bool {
		return len(r.processes(name)) > 0 || r.stack(ctx).Status.Run == nil
	}).Should(BeTrue(), r.report(ctx))
}

// kill reports whether it hit a run. There is always a controller to kill, but not always
// a run.
func (r *round) kill(ctx context.Context, v victim) bool {
	killed := 0
	if v == allOfThem {
		// All are found first: the CLI stops as soon as its controller is dead.
		killed = kill(append(r.processes(""), r.s.Controller.PID())) - 1
	}
	if v == theController || v == allOfThem {
		defer func() { r.Expect(r.s.StartController()).To(Succeed()) }()
		r.Expect(r.s.Controller.Kill()).To(Succeed())
		r.Expect(r.place.keepEvents()).To(Succeed())
	}
	switch v {
	case theController:
		if r.stack(ctx).Status.Run != nil {
			killed++
		}
	case theCLI:
		killed += r.killAll("pulumi")
	case theProvider:
		killed += r.killAll("pulumi-resource-lab")
	case allOfThem:
		killed += r.killAll("") // processes started in the meantime
	}
	return killed > 0
}
