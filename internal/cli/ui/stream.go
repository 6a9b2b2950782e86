// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// rowsEvery and detailEvery are how often a stream sends changes at most: those in between are sent together.
	rowsEvery   = 100 * time.Millisecond
	detailEvery = 500 * time.Millisecond
	// refreshEvery is how often a stream of a Stack looks at what the Stack itself does not have, and how often any
	// stream shows that it is there.
	refreshEvery = 15 * time.Second
	// rowsPerEvent is how many Stacks an event of the list has at most.
	rowsPerEvent = 1000
)

// stream is a stream of server-sent events.
type stream struct {
	w          http.ResponseWriter
	controller *http.ResponseController
}

// open begins a stream, unless there are too many. The returned function ends it.
func (s *Server) open(w http.ResponseWriter) (*stream, func(), bool) {
	select {
	case s.streams <- struct{}{}:
	default:
		refuse(w, http.StatusServiceUnavailable, "too many views are open: close some")
		return nil, nil, false
	}
	one := &stream{w, http.NewResponseController(w)}
	_ = one.controller.SetReadDeadline(time.Time{}) // nothing more is read from it
	w.Header().Set("Content-Type", "text/event-stream")
	return one, func() { <-s.streams }, true
}

// send sends an event. It fails if the browser does not read it in time.
func (s *stream) send(event string, value any) error {
	data, err := marshal(value)
	if err != nil {
		return err
	}
	return s.write(fmt.Appendf(nil, "event: %s\ndata: %s\n\n", event, data))
}

func (s *stream) write(data []byte) error {
	if err := s.controller.SetWriteDeadline(time.Now().Add(answerWithin)); err != nil {
		return fmt.Errorf("limiting a stream: %w", err)
	}
	if _, err := s.w.Write(data); err != nil {
		return fmt.Errorf("writing a stream: %w", err)
	}
	return s.controller.Flush()
}

// follow calls look for each change of what the subscriber sees, but not more often than every so often, and from time to
// time without a change, until ctx ends or look fails.
func (s *stream) follow(ctx context.Context, of *subscriber, every time.Duration, look func() error) {
	refresh := time.NewTicker(refreshEvery)
	defer refresh.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-of.wake:
		case <-refresh.C:
			if s.write([]byte(": still here\n\n")) != nil {
				return
			}
		}
		if look() != nil {
			return // the browser opens the stream again
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(every):
		}
	}
}

// rowsEvent is what has changed in the list of Stacks.
type rowsEvent struct {
	Reset   bool     `json:"reset"`
	Upserts []any    `json:"upserts"`
	Removed []string `json:"removed"`
}

func (s *Server) streamStacks(w http.ResponseWriter, r *http.Request) {
	out, end, ok := s.open(w)
	if !ok {
		return
	}
	defer end()
	of := s.hub.subscribe(client.ObjectKey{})
	defer s.hub.unsubscribe(of)
	out.follow(r.Context(), of, rowsEvery, func() error {
		found := s.hub.take(of)
		if found.status != nil {
			if err := out.send("status", found.status); err != nil {
				return err
			}
		}
		if !found.reset && len(found.upserts)+len(found.removed) == 0 {
			return nil
		}
		for event := range s.rowsEvents(found) {
			if err := out.send("stacks", event); err != nil {
				return err
			}
		}
		return nil
	})
}

// rowsEvents returns what has changed in events of rowsPerEvent Stacks at most, so that none is too long, however many there
// are and whatever their owners have written into them.
func (s *Server) rowsEvents(found news) iter.Seq[rowsEvent] {
	return func(yield func(rowsEvent) bool) {
		upserts, removed := found.upserts, found.removed
		for reset, first := found.reset, true; first || len(upserts)+len(removed) > 0; reset, first = false, false {
			event := rowsEvent{Reset: reset, Upserts: []any{}, Removed: []string{}}
			some := min(len(upserts), rowsPerEvent)
			for _, stack := range upserts[:some] {
				event.Upserts = append(event.Upserts, s.commands.Row(stack))
			}
			upserts = upserts[some:]
			some = min(len(removed), rowsPerEvent-some)
			for _, key := range removed[:some] {
				event.Removed = append(event.Removed, key.String())
			}
			removed = removed[some:]
			if !yield(event) {
				return
			}
		}
	}
}
