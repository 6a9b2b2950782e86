// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/bounded"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/cluster"
)

// stackStream shows one Stack: all of it when it changes, and in between only what its run in flight does, which asks the
// API server for nothing.
type stackStream struct {
	*stream
	server *Server
	key    client.ObjectKey
	of     *subscriber

	// version of the Stack that was sent, when that was, and what was sent last.
	version  string
	looked   time.Time
	detail   []byte
	progress []byte
	// run is the one that is followed until stop is called.
	run  string
	stop context.CancelFunc
}

func (s *Server) streamDetail(w http.ResponseWriter, r *http.Request, key client.ObjectKey) {
	out, end, ok := s.open(w)
	if !ok {
		return
	}
	defer end()
	of := s.hub.subscribe(key)
	defer s.hub.unsubscribe(of)
	one := &stackStream{stream: out, server: s, key: key, of: of, stop: func() {}}
	defer func() { one.stop() }()
	out.follow(r.Context(), of, detailEvery, func() error { return one.look(r.Context()) })
}

// look sends what is new.
func (s *stackStream) look(ctx context.Context) error {
	stack, known := s.server.hub.get(s.key)
	if !known {
		return nil
	}
	if stack == nil {
		return s.lookElsewhere(ctx)
	}
	s.followRun(ctx, stack)
	if stack != nil && stack.ResourceVersion == s.version && time.Since(s.looked) < refreshEvery/2 {
		return s.sendNew("progress", s.server.commands.Progress(stack), &s.progress)
	}
	s.version, s.looked = stack.ResourceVersion, time.Now()
	return s.sendDetail(ctx, stack)
}

// lookElsewhere sends what is new of a Stack that is not among those that are watched: it is in a namespace that is not
// shown, or gone.
func (s *stackStream) lookElsewhere(ctx context.Context) error {
	s.version = ""
	reading, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	stack := &v1.Stack{}
	if err := s.server.api.Get(reading, s.key, stack); err != nil {
		if !isFinal(err) {
			return s.sendNew("unread", unreadOf(s.key, err), &s.detail)
		}
		s.followRun(ctx, nil)
		return s.sendNew("gone", s.server.goneEvent(reading, s.key, err), &s.detail)
	}
	s.followRun(ctx, stack)
	return s.sendDetail(ctx, stack)
}

func (s *stackStream) sendDetail(ctx context.Context, stack *v1.Stack) error {
	event, value := s.server.detailEvent(ctx, s.key, stack)
	if event == "unread" {
		s.version = "" // to read it again with the next change, such as that the API server is back
	}
	return s.sendNew(event, value, &s.detail)
}

// sendNew sends an event unless it is the same as the last of its kind.
func (s *stackStream) sendNew(event string, value any, sent *[]byte) error {
	if value == nil {
		return nil
	}
	data, err := marshal(value)
	if err != nil || bytes.Equal(data, *sent) {
		return err
	}
	*sent = data
	return s.send(event, value)
}

// followRun follows the run in flight, and no longer the one before it.
func (s *stackStream) followRun(ctx context.Context, stack *v1.Stack) {
	id := ""
	if stack != nil && stack.Status.Run != nil {
		id = stack.Status.Run.ID
	}
	if id == s.run {
		return
	}
	s.stop()
	s.run, s.stop = id, func() {}
	if id == "" {
		return
	}
	following, stop := context.WithCancel(ctx)
	s.stop = stop
	go s.server.commands.Follow(following, stack, s.of.awake)
}

// isFinal reports whether an error says that there is nothing to show. After any other, the same question may be answered
// later, and what the page has until then is better than nothing.
func isFinal(err error) bool { return apierrors.IsNotFound(err) || apierrors.IsForbidden(err) }

// unreadEvent says why the page may not show what the cluster has.
type unreadEvent struct {
	Message string `json:"message"`
}

func unreadOf(key client.ObjectKey, err error) unreadEvent {
	return unreadEvent{bounded.Text(fmt.Sprintf("Stack %s cannot be read, and may have changed since: %v", key, cluster.Explain(err)), maxMessage)}
}

// goneEvent says that there is nothing to show, or only the history.
type goneEvent struct {
	Message string `json:"message"`
	History any    `json:"history,omitempty"`
}

// goneEvent returns why a Stack cannot be read, and what is left of one that does not exist.
func (s *Server) goneEvent(ctx context.Context, key client.ObjectKey, err error) goneEvent {
	if !apierrors.IsNotFound(err) {
		return goneEvent{Message: bounded.Text(fmt.Sprintf("Stack %s cannot be read: %v", key, cluster.Explain(err)), maxMessage)}
	}
	gone := goneEvent{Message: fmt.Sprintf("Stack %s does not exist", key)}
	left, err := s.commands.Left(ctx, key, "")
	switch {
	case err != nil:
		gone.Message = bounded.Text(fmt.Sprintf("%s, and its history cannot be read: %v", gone.Message, cluster.Explain(err)), maxMessage)
	case left != nil:
		gone.Message, gone.History = gone.Message+" any more: these are the runs that were retained", left
	}
	return gone
}

// detailEvent returns the event with what a Stack is now.
func (s *Server) detailEvent(ctx context.Context, key client.ObjectKey, stack *v1.Stack) (string, any) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	detail, err := s.commands.Detail(ctx, stack)
	switch {
	case err == nil:
		return "detail", detail
	case isFinal(err):
		return "gone", s.goneEvent(ctx, key, err)
	}
	return "unread", unreadOf(key, err)
}
