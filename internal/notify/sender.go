// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package notify

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"time"

	"github.com/fluxcd/pkg/runtime/events"
	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/flux-pulumi/pulumi-controller/internal/plural"
)

const (
	// patience is how long an event is retried while nobody answers. A pod whose node is
	// lost is restarted elsewhere after about six minutes. The events behind it wait that
	// long too, but no longer.
	patience = 10 * time.Minute
	// retryWait is the longest wait between two attempts. It is shorter than the time
	// that a shutdown leaves for the last events.
	retryWait = 3 * time.Second
	// answers is how many attempts an event gets that notification-controller answers
	// with an error: the event may be the cause, and the others wait for it.
	answers = 5
)

// fluxSender sends with the recorder of pkg/runtime. On its own, the recorder does not
// report what became of an event, and gives up after five attempts, which is 15 seconds
// of refused connections. It is for use by a single goroutine.
type fluxSender struct {
	recorder *events.Recorder
	// recoverable is the recorder's own check of a response.
	recoverable func(ctx context.Context, response *http.Response, err error) (bool, error)
	patience    time.Duration
	now         func() time.Time
	log         logr.Logger

	// failing says that a failure has been logged. It is reset when an event arrives.
	failing bool

	// since is when the event was first sent, answered how many responses it got, and
	// lost why it was given up.
	since    time.Time
	answered int
	lost     error
}

// newSender returns a sender to the address.
func newSender(scheme *runtime.Scheme, log logr.Logger, address, name string) (*fluxSender, error) {
	recorder, err := events.NewRecorderForScheme(scheme, unwritten{}, log, address, name)
	if err != nil {
		return nil, fmt.Errorf("failed to read --events-addr: %w", err)
	}
	s := &fluxSender{recorder: recorder, recoverable: recorder.Client.CheckRetry, patience: patience, now: time.Now, log: log}
	recorder.Client.HTTPClient.Transport = closing{recorder.Client.HTTPClient.Transport}
	recorder.Client.RetryMax = math.MaxInt // again decides
	recorder.Client.RetryWaitMax = retryWait
	recorder.Client.CheckRetry = s.again
	recorder.Client.ErrorHandler = s.giveUp
	return s, nil
}

// Send implements Sender.
func (s *fluxSender) Send(object client.Object, annotations map[string]string, eventtype, reason, message string) error {
	s.since, s.answered, s.lost = s.now(), 0, nil
	s.recorder.AnnotatedEventf(object, annotations, eventtype, reason, "%s", message)
	if s.failing && s.lost == nil {
		s.failing = false
		s.log.Info("notification-controller accepts events again")
	}
	return s.lost
}

// again is called after each attempt. It logs even though the event is not lost yet: with
// a wrong address all events will be, each after the whole patience.
func (s *fluxSender) again(ctx context.Context, response *http.Response, err error) (bool, error) {
	again, cause := s.isSentAgain(ctx, response, err)
	if again && !s.failing {
		s.failing = true
		s.log.Error(cause, "cannot send an event to notification-controller, retrying; later events wait. If this "+
			"continues, check that notification-controller is running at --events-addr")
	}
	return again, cause
}

// isSentAgain reports whether to retry an event. If not, an error says that it is lost.
func (s *fluxSender) isSentAgain(ctx context.Context, response *http.Response, err error) (bool, error) {
	recoverable, cause := s.recoverable(ctx, response, err)
	if cause == nil {
		cause = err
	}
	switch {
	case response != nil && response.StatusCode >= http.StatusBadRequest && !recoverable && response.StatusCode != http.StatusTooManyRequests:
		return false, errors.Join(cause, fmt.Errorf("notification-controller rejected it: %s", response.Status))
	case !recoverable:
		return false, cause // a duplicate has arrived before
	case isAway(response):
		return s.now().Sub(s.since) < s.patience, cause
	}
	s.answered++
	return s.answered < answers, cause
}

// isAway reports whether an attempt did not reach notification-controller. A proxy in
// between may have answered.
func isAway(response *http.Response) bool {
	if response == nil {
		return true
	}
	switch response.StatusCode {
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// giveUp is called with each event that has not arrived.
func (s *fluxSender) giveUp(_ *http.Response, err error, attempts int) (*http.Response, error) {
	s.lost = fmt.Errorf("given up after %s in %s: %w", plural.Of(attempts, "attempt", "attempts"), s.now().Sub(s.since).Round(time.Second), err)
	return nil, s.lost
}
