// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

func TestRoomIsSharedFairly(t *testing.T) {
	t.Parallel()
	now := time.Now()
	// at is what was used so many hours ago.
	at := func(path string, size int64, hours int) entry {
		return entry{path: "/s/" + path, size: size, used: now.Add(-time.Duration(hours) * time.Hour)}
	}
	inUse := func(path string, size int64) entry {
		e := at(path, size, 0)
		e.inUse = true
		return e
	}
	unfinished := func(path string, size int64) entry {
		e := at(path, size, 30)
		e.isUnfinished = true
		return e
	}
	copyOf := func(path string, size int64, minutes int) entry {
		return entry{path: "/s/" + path, size: size, used: now.Add(-time.Duration(minutes) * time.Minute), isCopy: true}
	}
	for name, tt := range map[string]struct {
		all    []entry
		size   int64
		want   []string
		noRoom bool
	}{
		"there is room":                      {all: []entry{at("a/1", 40, 9), at("b/1", 40, 8)}, size: 20},
		"the least recently used of its own": {all: []entry{at("new/2", 40, 2), at("new/1", 40, 3)}, size: 40, want: []string{"new/1"}},
		"the one that has the most gives, although another's is older": {
			all: []entry{at("b/1", 20, 9), at("a/1", 40, 1), at("a/2", 40, 2)}, size: 20, want: []string{"a/2"},
		},
		"one that brings much takes nothing that others need": {
			all: []entry{at("a/1", 30, 9), at("b/1", 30, 9), at("new/1", 40, 1)}, size: 40, want: []string{"new/1"},
		},
		"nor does one that brings much at once": {all: []entry{at("a/1", 30, 9), at("b/1", 30, 9)}, size: 50, noRoom: true},
		"but what nobody has used for long goes": {
			all: []entry{at("a/1", 30, 25), at("b/1", 30, 26), at("b/2", 30, 1)}, size: 50, want: []string{"b/1", "a/1"},
		},
		"a cache in use stays, and so does what is another's share": {all: []entry{inUse("a/cache", 90), at("b/1", 20, 9)}, size: 10},
		"a cache in use counts": {
			all: []entry{inUse("a/cache", 40), at("b/1", 30, 9), at("b/2", 30, 8)}, size: 20, want: []string{"b/1"},
		},
		"what another process is writing counts": {all: []entry{unfinished("a/1", 90)}, size: 20, noRoom: true},
		"what is old makes room beside it":       {all: []entry{unfinished("a/1", 50), at("b/1", 40, 25)}, size: 20, want: []string{"b/1"}},
		"copies go first": {
			all: []entry{at("a/1", 40, 30), copyOf("b/c1", 20, 1), copyOf("b/c2", 20, 2)}, size: 40, want: []string{"b/c2"},
		},
		"and then what goes without them": {
			all: []entry{at("a/1", 50, 30), at("b/1", 30, 1), copyOf("b/c1", 20, 1)}, size: 40, want: []string{"b/c1", "a/1"},
		},
		"a copy that waits for long goes, although there is room": {
			all: []entry{copyOf("a/c1", 10, 31), copyOf("a/c2", 10, 29)}, want: []string{"a/c1"},
		},
		"a copy makes no share smaller": {all: []entry{at("a/1", 90, 1), copyOf("b/c1", 10, 1)}, size: 0},
		"what alone is too big goes first": {
			all: []entry{at("a/1", 10, 9), at("a/cache", 200, 1)}, want: []string{"a/cache"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			removed, isRoom := room{limit: 100, namespace: "new", size: tt.size, now: now}.choose(tt.all)
			g.Expect(isRoom).To(Equal(!tt.noRoom))
			if !isRoom {
				return // nothing is removed then
			}
			var paths []string
			for _, e := range removed {
				paths = append(paths, strings.TrimPrefix(e.path, "/s/"))
			}
			g.Expect(paths).To(Equal(tt.want))
		})
	}
}

func TestANamespaceCannotRemoveTheSnapshotsOfAnother(t *testing.T) {
	g := NewWithT(t)
	store := open(t, 20_000)
	root := workspace(t, nil)
	g.Expect(save(t, store, id("apps", "a"), root, func() { put(t, root, map[string]string{"f": strings.Repeat("x", 4000)}) })).To(Succeed())
	for _, key := range []string{"a", "b", "c", "d", "e"} {
		root := workspace(t, nil)
		g.Expect(save(t, store, id("greedy", key), root, func() { put(t, root, map[string]string{"f": strings.Repeat("x", 4000)}) })).To(Succeed())
	}
	root = workspace(t, nil)
	err := save(t, store, id("greedy", "big"), root, func() { put(t, root, map[string]string{"f": strings.Repeat("x", 18_000)}) })
	g.Expect(err).To(And(MatchError(ErrUnfit), MatchError(ContainSubstring("raise --dependency-cache-size"))))
	g.Expect(store.Restore(t.Context(), id("apps", "a"), workspace(t, nil))).To(BeTrue(), "it is less than half")
	g.Expect(store.Restore(t.Context(), id("greedy", "a"), workspace(t, nil))).To(BeFalse(), "its own least recently used went")
	g.Expect(store.Restore(t.Context(), id("greedy", "e"), workspace(t, nil))).To(BeTrue(), "nothing went for what has no room anyway")
}
