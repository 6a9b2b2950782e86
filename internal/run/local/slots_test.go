// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

func stack(name string) stackKey { return stackKey{"ns", name} }

func TestSlots(t *testing.T) {
	type step struct {
		do   string // reserve, release, offer or lapse
		name string
		at   time.Duration
		want []string // of offer
		got  bool     // of reserve
	}
	for name, steps := range map[string][]step{
		"places are given until none is left": {
			{do: "reserve", name: "a", got: true}, {do: "reserve", name: "b", got: true}, {do: "reserve", name: "c"},
		},
		"a reservation that is repeated takes no second place": {
			{do: "reserve", name: "a", got: true}, {do: "reserve", name: "a", got: true}, {do: "reserve", name: "b", got: true},
		},
		"a free place is kept for the one that has waited longest": {
			{do: "reserve", name: "a", got: true}, {do: "reserve", name: "b", got: true},
			{do: "reserve", name: "c"}, {do: "reserve", name: "d"}, {do: "reserve", name: "c"},
			{do: "release", name: "a"}, {do: "offer", want: []string{"c"}},
			{do: "reserve", name: "d"}, {do: "reserve", name: "e"}, {do: "reserve", name: "c", got: true},
			{do: "release", name: "b"}, {do: "offer", want: []string{"d"}}, {do: "reserve", name: "d", got: true},
		},
		"a Stack is told once": {
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
		"two free places are offered to two": {
			{do: "reserve", name: "a", got: true}, {do: "reserve", name: "b", got: true},
			{do: "reserve", name: "c"}, {do: "reserve", name: "d"}, {do: "reserve", name: "e"},
			{do: "release", name: "a"}, {do: "release", name: "b"}, {do: "offer", want: []string{"c", "d"}},
			{do: "reserve", name: "d", got: true}, {do: "reserve", name: "e"}, {do: "reserve", name: "c", got: true},
		},
		"releasing what is not held changes nothing": {
			{do: "release", name: "x"}, {do: "reserve", name: "a", got: true},
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			start := time.Unix(1000, 0)
			s := newSlots(2)
			for i, step := range steps {
				switch step.do {
				case "reserve":
					g.Expect(s.reserve(stack(step.name))).To(Equal(step.got), "step %d: %v", i, step)
				case "release":
					s.release(stack(step.name))
				case "lapse":
					s.lapse(start.Add(step.at))
				case "offer":
					var names []string
					for _, told := range s.offer(start) {
						names = append(names, told.name)
					}
					g.Expect(names).To(Equal(step.want), "step %d", i)
				}
				g.Expect(len(s.taken)).To(BeNumerically("<=", 2))
			}
		})
	}
}

func FuzzSlots(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3, 130, 200, 4, 64})
	f.Fuzz(func(t *testing.T, ops []byte) {
		s := newSlots(3)
		for i, op := range ops {
			who := stackKey{name: string(rune('a' + op%8))}
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
				t.Fatal("more places than there are")
			}
			seen := map[stackKey]bool{}
			for _, w := range s.queue {
				if seen[w.stack] || s.taken[w.stack] {
					t.Fatalf("%v waits twice, or has a place", w.stack)
				}
				seen[w.stack] = true
			}
		}
	})
}
