// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"context"
	"time"
)

// patience is how long an installation keeps others of the same from beginning. Those of big SDKs
// take some minutes, and the script of a package can hang for ever.
const patience = 5 * time.Minute

// hold is the use of a snapshot.
type hold struct {
	// done is closed at its end.
	done  chan struct{}
	since time.Time
}

// Lock waits until nobody else uses the snapshot, so that runs that start together install
// once. It calls waiting, unless that is nil, before it waits, and waits for each use no longer
// than patience, nor than a third of the time until the deadline of ctx. The caller has to call
// unlock. An error that is not the cause of ctx is one of the disk.
func (s *Store) Lock(ctx context.Context, id ID, waiting func()) (unlock func(), err error) {
	if err := s.open(); err != nil {
		return nil, err
	}
	var instead *hold
	for {
		mine, other := s.take(id, instead)
		if mine != nil {
			return func() { s.release(id, mine) }, nil
		}
		if waiting != nil {
			waiting()
			waiting = nil
		}
		if instead, err = other.wait(ctx, s.patience); err != nil {
			return nil, err
		}
	}
}

// take begins the use of a snapshot if nobody uses it, or if it is that of instead, which takes too
// long. Otherwise, it returns the use of the other.
func (s *Store) take(id ID, instead *hold) (mine, other *hold) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := s.busy[id]; now != nil && now != instead {
		return nil, now
	}
	mine = &hold{done: make(chan struct{}), since: time.Now()}
	s.busy[id] = mine
	return mine, nil
}

// release ends a use, if no other has taken its place.
func (s *Store) release(id ID, mine *hold) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.busy[id] == mine {
		delete(s.busy, id)
	}
	close(mine.done)
}

// wait waits until the use is over. It returns the use if that takes too long.
func (h *hold) wait(ctx context.Context, patience time.Duration) (*hold, error) {
	timer := time.NewTimer(min(time.Until(h.since.Add(patience)), Patience(ctx)))
	defer timer.Stop()
	select {
	case <-h.done:
		return nil, nil
	case <-timer.C:
		return h, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
