// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/flux-pulumi/pulumi-controller/internal/readonly"
)

// staleAfter is how long something has to be unused to be removed for any namespace. A deleted
// namespace leaves its snapshots, and would keep its share for ever.
const staleAfter = 24 * time.Hour

// entry is a snapshot, a copy of one or a cache.
type entry struct {
	path string
	size int64
	used time.Time
	// inUse is set for a cache that a run uses, and isUnfinished for a snapshot that another process
	// is writing: neither can be removed.
	inUse, isUnfinished bool
	// isCopy is set for a copy of a snapshot that no run uses.
	isCopy bool
}

func (e entry) isRemovable() bool { return !e.inUse && !e.isUnfinished }

// namespace is the directory of the namespace.
func (e entry) namespace() string { return filepath.Base(filepath.Dir(e.path)) }

// room is what a namespace wants to keep beside what there is, within a limit for all.
type room struct {
	limit     int64
	namespace string
	size      int64
	now       time.Time
}

// choose chooses what to remove, and tells whether there is room then. First go the copies, then a cache that
// alone is bigger than the limit, then what nobody has used for long, then the least recently used
// of the namespace that has the most. A namespace keeps its share, an equal part of the limit,
// whatever the others bring. The caches in use do not count if nothing more can be removed: they
// are judged again when they are closed.
func (r room) choose(all []entry) (removed []entry, isRoom bool) {
	left := slices.Clone(all)
	slices.SortFunc(left, func(a, b entry) int { return cmp.Or(a.used.Compare(b.used), strings.Compare(a.path, b.path)) })
	left, removed = r.chooseCopies(left)
	taken := map[string]int64{}
	if r.size > 0 {
		taken[r.namespace] = r.size
	}
	total := r.size
	for _, e := range left {
		taken[e.namespace()] += e.size
		total += e.size
	}
	share := r.limit / int64(max(len(taken), 1))
	for total > r.limit {
		next := r.next(left, taken, share)
		if next < 0 {
			break
		}
		e := left[next]
		left = slices.Delete(left, next, next+1)
		taken[e.namespace()] -= e.size
		total -= e.size
		removed = append(removed, e)
	}
	for _, e := range left {
		if e.inUse {
			total -= e.size
		}
	}
	return removed, total <= r.limit
}

// maxIdle bounds the copies that wait, and with them the instances of inotify, of which a user has 128.
const maxIdle = 16

// chooseCopies chooses the copies to remove: those that no run has used for long, and the least recently used until there
// is room for everything and there are not too many. It returns everything else, for which there is either room, or no copy any more.
func (r room) chooseCopies(all []entry) (others, removed []entry) {
	total, copies := r.size+sum(all), 0
	for _, e := range all {
		if e.isCopy {
			copies++
		}
	}
	for _, e := range all {
		switch {
		case !e.isCopy:
			others = append(others, e)
		case total > r.limit || copies > maxIdle || r.now.Sub(e.used) >= idleAfter:
			removed = append(removed, e)
			total -= e.size
			copies--
		}
	}
	return others, removed
}

// next is the index of what goes next, -1 if all that is left stays. The entries are sorted by their use.
func (r room) next(left []entry, taken map[string]int64, share int64) int {
	for _, goes := range []func(entry) bool{
		func(e entry) bool { return e.size > r.limit },
		func(e entry) bool { return r.now.Sub(e.used) > staleAfter },
	} {
		if i := slices.IndexFunc(left, func(e entry) bool { return e.isRemovable() && goes(e) }); i >= 0 {
			return i
		}
	}
	chosen := -1
	for i, e := range left {
		has := taken[e.namespace()]
		if e.isRemovable() && has > share && (chosen < 0 || has > taken[left[chosen].namespace()]) {
			chosen = i
		}
	}
	return chosen
}

// makeRoom makes room in a namespace for so many bytes. The error wraps ErrUnfit, and nothing was
// removed, if there is none without taking from other namespaces what is theirs.
func (s *Store) makeRoom(namespace string, size int64) error {
	retired, err := s.evict(namespace, size)
	for _, path := range retired {
		err = errors.Join(err, readonly.RemoveAll(path))
	}
	return err
}

// evict removes snapshots, and returns the directories of caches and copies that are to be removed.
func (s *Store) evict(namespace string, size int64) (retired []string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all, err := s.entries()
	if err != nil {
		return nil, fmt.Errorf("reading the directory of dependency snapshots: %w", err)
	}
	all = s.withSpares(s.withCaches(all))
	removed, isRoom := room{limit: s.limit, namespace: namespace, size: size, now: time.Now()}.choose(all)
	if size > 0 && !isRoom {
		return nil, fmt.Errorf("%w: they have %d bytes, and all snapshots together may have %d, of which the other namespaces have %d in use: "+
			"raise --dependency-cache-size", ErrUnfit, size, s.limit, sum(slices.DeleteFunc(all, func(e entry) bool { return e.isCopy || e.namespace() == namespace })))
	}
	for _, e := range removed {
		if e.isCopy {
			retired = append(retired, e.path)
			if err := s.retireSpare(e.path); err != nil {
				return retired, fmt.Errorf("removing a copy of dependencies: %w", err)
			}
			continue
		}
		if s.caches[e.path] == nil {
			if err := os.Remove(e.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return retired, fmt.Errorf("removing a dependency snapshot: %w", err)
			}
			continue
		}
		dir, err := s.retire(e.path)
		if err != nil {
			return retired, fmt.Errorf("removing a cache of dependencies: %w", err)
		}
		retired = append(retired, dir)
	}
	return retired, nil
}

// withCaches adds the caches to the snapshots. One that is in use and too big for any other to be
// kept goes when it is closed: nothing else has to go for it.
func (s *Store) withCaches(all []entry) []entry {
	for _, c := range s.caches {
		if c.users == 0 || c.size <= s.limit {
			all = append(all, entry{path: c.path, size: c.size, used: c.used, inUse: c.users > 0})
		}
	}
	return all
}
