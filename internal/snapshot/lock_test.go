// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

// The script of a package can hang until its run ends. The others with the same dependencies take their turn after a while.
func TestAnInstallationThatHangsDoesNotKeepOthersFromInstalling(t *testing.T) {
	for name, tt := range map[string]struct {
		patience, deadline time.Duration
	}{
		"after some time":                        {patience: 50 * time.Millisecond, deadline: time.Hour},
		"after a third of the time that is left": {patience: time.Hour, deadline: 300 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			store := open(t, roomy)
			store.patience = tt.patience
			hanging, err := store.Lock(t.Context(), id("apps", "a"), func() { t.Error("there is nothing to wait for") })
			g.Expect(err).NotTo(HaveOccurred())

			var waited atomic.Int32
			ctx, cancel := context.WithTimeout(t.Context(), tt.deadline)
			defer cancel()
			second, err := store.Lock(ctx, id("apps", "a"), func() { waited.Add(1) })
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(waited.Load()).To(BeEquivalentTo(1), "the run says that it waits")

			hanging() // it ends after all
			store.patience = time.Hour
			third := make(chan func(), 1)
			go func() {
				unlock, err := store.Lock(t.Context(), id("apps", "a"), nil)
				if err != nil {
					t.Error(err)
				}
				third <- unlock
			}()
			g.Consistently(third, 100*time.Millisecond).ShouldNot(Receive(), "the second is still at work")
			second()
			var unlock func()
			g.Eventually(third).Should(Receive(&unlock))
			unlock()
			g.Expect(store.busy).To(BeEmpty())
		})
	}
}
