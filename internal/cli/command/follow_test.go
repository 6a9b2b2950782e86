// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gbytes"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fluxcd/pkg/apis/meta"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

func TestWatchesResumeWhenTheAPIServerIsBack(t *testing.T) {
	short.Skip(t)
	g := NewWithT(t)
	w := newWorld(t, "watch-again")
	plane, err := server.Start()
	g.Expect(err).NotTo(HaveOccurred())
	w.apply("steered")
	ctx, interrupt := context.WithCancel(t.Context())
	out, errs := gbytes.NewBuffer(), gbytes.NewBuffer()
	env := w.env
	env.Out, env.Err = out, errs
	ended := make(chan int, 1)
	go func() {
		ended <- Run(ctx, env, []string{"get", "stacks", "--watch", "--kubeconfig", w.kubeconfig, "-n", w.namespace})
	}()
	g.Eventually(out, time.Minute).Should(gbytes.Say("network"))
	g.Expect(plane.KillAPIServer()).To(Succeed())
	away := true
	t.Cleanup(func() {
		if away { // for the next tests
			_ = plane.StartAPIServer(context.Background())
		}
	})
	g.Eventually(errs, time.Minute).Should(gbytes.Say("the watch was interrupted, retrying"))
	g.Expect(plane.StartAPIServer(t.Context())).To(Succeed())
	away = false
	w.status(func(s *v1.StackStatus) {
		s.Conditions = []metav1.Condition{{Type: meta.ReadyCondition, Status: metav1.ConditionTrue, Reason: "a", Message: "back again", LastTransitionTime: metav1.Time{Time: now}}}
	})
	g.Eventually(out, time.Minute).Should(gbytes.Say("back again"))
	interrupt()
	g.Eventually(ended, time.Minute).Should(Receive(Equal(0)))
}
