// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package watches

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"
	. "github.com/onsi/gomega"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// logged returns a context whose logger adds to the lines.
func logged(t *testing.T, lines *[]string) context.Context {
	return ctrl.LoggerInto(t.Context(), funcr.New(func(_, line string) { *lines = append(*lines, line) }, funcr.Options{}))
}

func TestPolicySetsThatMayNotBeListed(t *testing.T) {
	g := NewWithT(t)
	now, lines := noon, []string{}
	ctx, api := logged(t, &lines), &listing{err: forbiddenSets()}
	w, _ := api.watch(func() time.Time { return now })
	r := &Policies{policySets: w, OneNamespace: true}
	for range 3 {
		g.Expect(r.EnsureSets(ctx)).To(BeFalse())
		g.Expect(r.EnsureSets(ctx)).To(BeFalse())
		now = now.Add(time.Minute)
	}
	g.Expect(api.asked()).To(Equal(3))
	g.Expect(lines).To(ConsistOf(And(ContainSubstring("PolicySets are not applied"), ContainSubstring("forbidden"))), "once")

	r.OneNamespace = false
	_, err := r.EnsureSets(ctx)
	g.Expect(err).To(MatchError(ContainSubstring("it is not known which policies guard the Stacks")))
}

func TestPolicySetsThatAreNotServedAreNone(t *testing.T) {
	g := NewWithT(t)
	api := &listing{err: unservedSets()}
	w, _ := api.watch(time.Now)
	r := &Policies{policySets: w}
	g.Expect(r.EnsureSets(t.Context())).To(BeFalse())
	g.Expect(r.Sets(t.Context())).To(BeEmpty())
	g.Expect(api.asked()).To(Equal(1), "an event does not ask the API server")
}

// No Stack need be reconciled for that: one that is in sync would not be checked for hours.
func TestPolicySetsAreWatchedOnceTheyAreServed(t *testing.T) {
	for name, tt := range map[string]struct {
		err    error
		lists  int // in 20 seconds
		logged []string
	}{
		"not served": {unservedSets(), 4, nil},
		"forbidden":  {forbiddenSets(), 1, []string{"policysets.pulumi.com is forbidden"}},
		"failed":     {errors.New("connection refused"), 20, []string{"connection refused"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				lines, api := []string{}, &listing{err: tt.err}
				w, starts := api.watch(time.Now)
				ended := make(chan error, 1)
				go func() { ended <- (&Policies{policySets: w}).Start(logged(t, &lines)) }()
				time.Sleep(19*time.Second + time.Second/2)
				synctest.Wait()
				g.Expect(api.asked()).To(Equal(tt.lists))
				g.Expect(lines).To(HaveLen(len(tt.logged)), "once: %s", lines)
				for i, line := range lines {
					g.Expect(line).To(ContainSubstring(tt.logged[i]))
				}
				api.answer(nil)
				g.Expect(<-ended).To(Succeed())
				g.Expect(*starts).To(Equal(1))
			})
		})
	}
}

func TestTheWaitForPolicySetsEndsWithTheManager(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		ctx, cancel := context.WithCancel(t.Context())
		w, starts := (&listing{err: unservedSets()}).watch(time.Now)
		ended := make(chan error, 1)
		go func() { ended <- (&Policies{policySets: w}).Start(ctx) }()
		synctest.Wait()
		cancel()
		g.Expect(<-ended).To(Succeed())
		g.Expect(*starts).To(BeZero())
	})
}

func TestThereMayBePolicySetsThatCannotBeRead(t *testing.T) {
	g := NewWithT(t)
	w, _ := (&listing{}).watch(time.Now)
	r := &Policies{cached: unlisted{}, policySets: w}
	g.Expect(r.MayHaveSets()).To(BeFalse(), "there are none yet")
	g.Expect(w.Ensure(t.Context())).To(Succeed())
	g.Expect(r.MayHaveSets()).To(BeTrue())
}

type unlisted struct{ client.Reader }

func (unlisted) List(ctx context.Context, _ client.ObjectList, _ ...client.ListOption) error {
	<-ctx.Done()
	return ctx.Err()
}
