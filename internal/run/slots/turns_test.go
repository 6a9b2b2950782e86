// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package slots

import (
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

// stack is the Stack ns/<name>, or <namespace>/<name> where the name says so.
func stack(name string) Stack {
	if namespace, name, ok := strings.Cut(name, "/"); ok {
		return Stack{namespace, name}
	}
	return Stack{"ns", name}
}

func TestTurns(t *testing.T) {
	type step struct {
		do   string // reserve, release, postpone, offer or lapse
		name string
		at   time.Duration
		want []string // of offer
		got  bool     // of reserve
	}
	for name, steps := range map[string][]step{
		"slots are given until none is left": {
			{do: "reserve", name: "a", got: true}, {do: "reserve", name: "b", got: true}, {do: "reserve", name: "c"},
		},
		"a reservation that is repeated takes no second slot": {
			{do: "reserve", name: "a", got: true}, {do: "reserve", name: "a", got: true}, {do: "reserve", name: "b", got: true},
		},
		"a free slot is kept for the one that has waited longest": {
			{do: "reserve", name: "a", got: true}, {do: "reserve", name: "b", got: true},
			{do: "reserve", name: "c"}, {do: "reserve", name: "d"}, {do: "reserve", name: "c"},
			{do: "release", name: "a"}, {do: "offer", want: []string{"c"}},
			{do: "reserve", name: "d"}, {do: "reserve", name: "e"}, {do: "reserve", name: "c", got: true},
			{do: "release", name: "b"}, {do: "offer", want: []string{"d"}}, {do: "reserve", name: "d", got: true},
		},
		"a Stack is woken once": {
			{do: "reserve", name: "a", got: true}, {do: "reserve", name: "b", got: true}, {do: "reserve", name: "c"},
			{do: "release", name: "a"}, {do: "offer", want: []string{"c"}}, {do: "offer"},
		},
		"one that gives up its turn lets the next one in": {
			{do: "reserve", name: "a", got: true}, {do: "reserve", name: "b", got: true},
			{do: "reserve", name: "c"}, {do: "reserve", name: "d"},
			{do: "release", name: "a"}, {do: "offer", want: []string{"c"}},
			{do: "release", name: "c"}, {do: "offer", want: []string{"d"}}, {do: "reserve", name: "d", got: true},
		},
		"one that does not come loses its turn after a minute": {
			{do: "reserve", name: "a", got: true}, {do: "reserve", name: "b", got: true},
			{do: "reserve", name: "c"}, {do: "reserve", name: "d"},
			{do: "release", name: "a"}, {do: "offer", want: []string{"c"}},
			{do: "lapse", at: 59 * time.Second}, {do: "reserve", name: "d"},
			{do: "lapse", at: 60 * time.Second}, {do: "offer", want: []string{"d"}}, {do: "reserve", name: "d", got: true},
		},
		"two free slots are offered to two": {
			{do: "reserve", name: "a", got: true}, {do: "reserve", name: "b", got: true},
			{do: "reserve", name: "c"}, {do: "reserve", name: "d"}, {do: "reserve", name: "e"},
			{do: "release", name: "a"}, {do: "release", name: "b"}, {do: "offer", want: []string{"c", "d"}},
			{do: "reserve", name: "d", got: true}, {do: "reserve", name: "e"}, {do: "reserve", name: "c", got: true},
		},
		"a slot that is given back for now is kept": {
			{do: "reserve", name: "a", got: true}, {do: "reserve", name: "b", got: true},
			{do: "reserve", name: "c"}, {do: "postpone", name: "a"}, {do: "offer"},
			{do: "reserve", name: "c"}, {do: "reserve", name: "a", got: true}, {do: "reserve", name: "c"},
		},
		"but for no longer than any other": {
			{do: "reserve", name: "a", got: true}, {do: "reserve", name: "b", got: true},
			{do: "reserve", name: "c"}, {do: "postpone", name: "a"},
			{do: "lapse", at: 60 * time.Second}, {do: "offer", want: []string{"c"}}, {do: "reserve", name: "c", got: true},
		},
		"nor where the Stack gives it up": {
			{do: "reserve", name: "a", got: true}, {do: "reserve", name: "b", got: true},
			{do: "reserve", name: "c"}, {do: "postpone", name: "a"}, {do: "release", name: "a"}, {do: "offer", want: []string{"c"}},
		},
		"no slot is kept for a Stack that had none": {
			{do: "reserve", name: "a", got: true}, {do: "postpone", name: "b"}, {do: "postpone", name: "b"}, {do: "reserve", name: "c", got: true},
		},
		"releasing what is not held changes nothing": {
			{do: "release", name: "x"}, {do: "reserve", name: "a", got: true},
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			start := time.Unix(1000, 0)
			s := newTurns(2, 0)
			for i, step := range steps {
				switch step.do {
				case "reserve":
					g.Expect(s.reserve(stack(step.name))).To(Equal(step.got), "step %d: %v", i, step)
				case "postpone":
					s.postpone(stack(step.name), start.Add(step.at))
				case "release":
					s.release(stack(step.name))
				case "lapse":
					s.lapse(start.Add(step.at))
				case "offer":
					var names []string
					for _, stack := range s.offer(start) {
						names = append(names, stack.Name)
					}
					g.Expect(names).To(Equal(step.want), "step %d", i)
				}
				g.Expect(len(s.taken)).To(BeNumerically("<=", 2))
			}
		})
	}
}

func TestANamespaceHasNotAllSlots(t *testing.T) {
	g := NewWithT(t)
	p := newTurns(3, 2)
	for name, got := range map[string]bool{"a/1": true, "a/2": true} {
		g.Expect(p.reserve(stack(name))).To(Equal(got), name)
	}
	g.Expect(p.reserve(stack("a/3"))).To(BeFalse(), "a has two")
	g.Expect(p.offer(time.Unix(1, 0))).To(BeEmpty(), "there is a slot, but none for it")
	g.Expect(p.reserve(stack("b/1"))).To(BeTrue(), "who waits for its own namespace keeps nobody else waiting")
	g.Expect(p.reserve(stack("b/2"))).To(BeFalse(), "there are three")

	p.release(stack("b/1"))
	g.Expect(p.offer(time.Unix(1, 0))).To(Equal([]Stack{stack("b/2")}))
	p.release(stack("a/1"))
	g.Expect(p.offer(time.Unix(1, 0))).To(Equal([]Stack{stack("a/3")}))
	g.Expect(p.reserve(stack("c/1"))).To(BeFalse(), "both slots are kept")
	g.Expect(p.reserve(stack("a/3"))).To(BeTrue())
	g.Expect(p.reserve(stack("b/2"))).To(BeTrue())
}

// As a Job does that continues after it had given its slot to another of its namespace.
func TestWhatANamespaceTakesBeyondItsBoundIsNotAtTheExpenseOfOthers(t *testing.T) {
	g := NewWithT(t)
	p := newTurns(2, 1)
	for _, name := range []string{"a/1", "a/2", "a/3"} {
		p.take(stack(name))
	}
	g.Expect(p.reserve(stack("a/4"))).To(BeFalse())
	g.Expect(p.reserve(stack("b/1"))).To(BeTrue())
	g.Expect(p.reserve(stack("c/1"))).To(BeFalse())
}

// TestNamespacesTakeTurns has one tenant ask for much, before another asks for little.
func TestNamespacesTakeTurns(t *testing.T) {
	for name, tc := range map[string]struct {
		size int
		asks []string
		// order in which slots are given, where each run ends before the next begins.
		order []string
	}{
		"one slot": {1, []string{"a/1", "a/2", "a/3", "b/1", "b/2", "c/1"}, []string{"a/1", "b/1", "c/1", "a/2", "b/2", "a/3"}},
		"in the order of asking where there is one namespace": {1, []string{"a/3", "a/1", "a/2"}, []string{"a/3", "a/1", "a/2"}},
		"two slots": {2, []string{"a/1", "a/2", "a/3", "b/1", "b/2"}, []string{"a/1", "a/2", "b/1", "a/3", "b/2"}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			p := newTurns(tc.size, 0)
			var running []Stack
			for _, ask := range tc.asks {
				if p.reserve(stack(ask)) {
					running = append(running, stack(ask))
				}
			}
			var order []string
			for len(running) > 0 {
				ended := running[0]
				order = append(order, ended.Namespace+"/"+ended.Name)
				p.release(ended)
				running = running[1:]
				for _, stack := range p.offer(time.Unix(1, 0)) {
					g.Expect(p.reserve(stack)).To(BeTrue())
					running = append(running, stack)
				}
			}
			g.Expect(order).To(Equal(tc.order))
			g.Expect(p.served).To(BeEmpty(), "nothing is kept of who waits for nothing")
		})
	}
}

func TestAStackThatWasWokenKeepsItsTurn(t *testing.T) {
	g := NewWithT(t)
	p := newTurns(1, 0)
	g.Expect(p.reserve(stack("a/1"))).To(BeTrue())
	g.Expect(p.reserve(stack("a/2"))).To(BeFalse())
	p.release(stack("a/1"))
	g.Expect(p.offer(time.Unix(1, 0))).To(Equal([]Stack{stack("a/2")}))
	g.Expect(p.reserve(stack("b/1"))).To(BeFalse(), "of a namespace that has had nothing")
	p.take(stack("c/1"))
	g.Expect(p.reserve(stack("a/2"))).To(BeFalse(), "a run was found that has the slot")
	p.lapse(time.Unix(1000, 0))
	p.release(stack("c/1"))
	g.Expect(p.offer(time.Unix(1000, 0))).To(HaveLen(1), "it did come, and is woken again in its turn")
	g.Expect(p.queue).To(HaveLen(2))
}

func TestARunThatIsInFlightTakesAPlace(t *testing.T) {
	g := NewWithT(t)
	p := newTurns(1, 0)
	p.take(stack("a"))
	p.take(stack("b"))
	g.Expect(p.taken[stack("b")]).To(BeTrue(), "also where there were fewer slots")
	g.Expect(p.reserve(stack("c"))).To(BeFalse())
	p.release(stack("a"))
	g.Expect(p.offer(time.Unix(1, 0))).To(BeEmpty())
	p.release(stack("b"))
	g.Expect(p.offer(time.Unix(1, 0))).To(Equal([]Stack{stack("c")}))
}

func FuzzTurns(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3, 130, 200, 4, 64})
	f.Fuzz(func(t *testing.T, ops []byte) {
		s := newTurns(3, 0)
		for i, op := range ops {
			who := Stack{Name: string(rune('a' + op%8))}
			switch op / 64 {
			case 0, 1:
				s.reserve(who)
			case 2:
				s.release(who)
			default:
				s.offer(time.Unix(int64(i), 0))
				s.lapse(time.Unix(int64(i), 0))
			}
			if len(s.taken) > 3 {
				t.Fatal("more slots than there are")
			}
			seen := map[Stack]bool{}
			for _, w := range s.queue {
				if seen[w.stack] || s.taken[w.stack] {
					t.Fatalf("%v waits twice, or has a slot", w.stack)
				}
				seen[w.stack] = true
			}
		}
	})
}
