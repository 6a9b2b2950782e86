// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package slots

import (
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"
)

func TestAnOfferedSlotExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		var woken []string
		p := New(1, 0, func(namespace, name string) { woken = append(woken, namespace+"/"+name) })
		for _, name := range []string{"a", "b", "c"} {
			g.Expect(p.Reserve(stack(name))).To(Equal(name == "a"), name)
		}
		g.Expect(p.Taken(stack("a"))).To(BeTrue())
		g.Expect(p.Waiting()).To(Equal(2))
		p.Release(stack("a"))
		g.Expect(p.Taken(stack("a"))).To(BeFalse())
		g.Expect(woken).To(Equal([]string{"ns/b"}))

		time.Sleep(Patience - time.Second)
		synctest.Wait()
		g.Expect(woken).To(Equal([]string{"ns/b"}), "the slot is kept")
		time.Sleep(time.Second)
		synctest.Wait()
		g.Expect(woken).To(Equal([]string{"ns/b", "ns/c"}), "b was woken but did not claim the slot")
		g.Expect(p.Reserve(stack("c"))).To(BeTrue())
		g.Expect(p.Reserve(stack("b"))).To(BeFalse(), "b has lost its turn")
	})
}

func TestAPostponedSlotExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		var woken []string
		p := New(1, 0, func(namespace, name string) { woken = append(woken, namespace+"/"+name) })
		g.Expect(p.Reserve(stack("a"))).To(BeTrue())
		g.Expect(p.Reserve(stack("b"))).To(BeFalse())
		p.Postpone(stack("a"))
		g.Expect(p.Reserve(stack("b"))).To(BeFalse())
		g.Expect(p.Reserve(stack("a"))).To(BeTrue(), "it has kept its turn")

		p.Postpone(stack("a"))
		time.Sleep(Patience)
		synctest.Wait()
		g.Expect(woken).To(Equal([]string{"ns/b"}), "a did not come back")
	})
}
