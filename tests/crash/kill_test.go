// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package crash

import (
	"context"
	"time"

	. "github.com/onsi/gomega"
)

// victim is what is killed.
type victim string

const (
	theController victim = "the controller"
	theCLI        victim = "the CLI"
	theProvider   victim = "the provider"
	allOfThem     victim = "all of them"
)

func victims() []victim { return []victim{theController, theCLI, theProvider, allOfThem} }

// span is the time after the victim is seen in which it is killed: about as long
// as it lives.
func (v victim) span() time.Duration {
	if v == theProvider {
		return 1600 * time.Millisecond
	}
	return 2200 * time.Millisecond
}

// killDuringRun has a run begun, waits for it and for the victim in it, kills the
// victim after a part of its span, and starts the controller again if that is dead.
func (r *round) killDuringRun(ctx context.Context, v victim, part float64, begin func()) {
	if v == theController || v == allOfThem {
		// From here on, as the run would be over when it is another round's turn.
		r.place.restarting.Lock()
		defer r.place.restarting.Unlock()
	}
	begin()
	r.Eventually(func(g Gomega) { g.Expect(r.stack(ctx).Status.Run).NotTo(BeNil()) }).Should(Succeed(), r.report(ctx))
	switch v {
	case theCLI, allOfThem:
		r.Eventually(func() []int { return r.processes("pulumi") }).ShouldNot(BeEmpty())
	case theProvider:
		r.Eventually(func() []int { return r.processes("pulumi-resource-lab") }).ShouldNot(BeEmpty())
	}
	select {
	case <-ctx.Done():
		return
	case <-time.After(time.Duration(part * float64(v.span()))): // the random moment itself: nothing is waited for
	}
	if r.kill(ctx, v) {
		r.sum.kill(v)
	} else {
		r.sum.add(func() { r.sum.missed++ })
	}
}

// kill tells whether it has hit a run. The controller is always there to be
// killed, a run is not.
func (r *round) kill(ctx context.Context, v victim) bool {
	killed := 0
	if v == allOfThem {
		// All found first: the CLI of a controller that is dead begins to stop.
		killed = kill(append(r.processes(""), r.s.Controller.PID())) - 1
	}
	if v == theController || v == allOfThem {
		defer func() { r.Expect(r.s.StartController()).To(Succeed()) }()
		r.Expect(r.s.Controller.Kill()).To(Succeed())
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
		killed += r.killAll("") // what was started meanwhile
	}
	return killed > 0
}
