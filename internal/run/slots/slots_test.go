// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package slots

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"
)

// wakes notes which Stacks were woken, also by the timer of a Pool.
type wakes struct {
	mu    sync.Mutex
	woken []string
}

func (w *wakes) add(namespace, name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.woken = append(w.woken, namespace+"/"+name)
}

func (w *wakes) list() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.woken)
}

func TestAnOfferedSlotExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		var woken wakes
		p := New(1, 0, woken.add)
		for _, name := range []string{"a", "b", "c"} {
			g.Expect(p.Reserve(stack(name))).To(Equal(name == "a"), name)
		}
		g.Expect(p.Taken(stack("a"))).To(BeTrue())
		g.Expect(p.Waiting()).To(Equal(2))
		p.Release(stack("a"))
		g.Expect(p.Taken(stack("a"))).To(BeFalse())
		g.Expect(woken.list()).To(Equal([]string{"ns/b"}))

		time.Sleep(Patience - time.Second)
		synctest.Wait()
		g.Expect(woken.list()).To(Equal([]string{"ns/b"}), "the slot is kept")
		time.Sleep(time.Second)
		synctest.Wait()
		g.Expect(woken.list()).To(Equal([]string{"ns/b", "ns/c"}), "b was woken but did not claim the slot")
		g.Expect(p.Reserve(stack("c"))).To(BeTrue())
		g.Expect(p.Reserve(stack("b"))).To(BeFalse(), "b has lost its turn")
	})
}

func TestAPostponedSlotExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		var woken wakes
		p := New(1, 0, woken.add)
		g.Expect(p.Reserve(stack("a"))).To(BeTrue())
		g.Expect(p.Reserve(stack("b"))).To(BeFalse())
		p.Postpone(stack("a"))
		g.Expect(p.Reserve(stack("b"))).To(BeFalse())
		g.Expect(p.Reserve(stack("a"))).To(BeTrue(), "it has kept its turn")

		p.Postpone(stack("a"))
		time.Sleep(Patience)
		synctest.Wait()
		g.Expect(woken.list()).To(Equal([]string{"ns/b"}), "a did not come back")
	})
}
