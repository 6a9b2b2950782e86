// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package kubeconfig

import (
	"context"
	"slices"
	"sync"
	"time"
)

const (
	// retryFirst and retryMost bound the wait after a failed renewal, which doubles each
	// time.
	retryFirst = 5 * time.Second
	retryMost  = time.Minute
	// soonest is the shortest wait before a renewal, however much the clocks of this
	// machine and the API server differ.
	soonest = 10 * time.Second
)

// token is a token and its lifetime.
type token struct {
	text           string
	asked, expires time.Time
}

// renewIn returns when to renew a new token: after four fifths of its lifetime.
// Kubernetes clients reread the file every minute.
func (t token) renewIn() time.Duration {
	life := min(t.expires.Sub(t.asked), tokenLife)
	return max(life*4/5, soonest)
}

// renewal keeps a token valid.
type renewal struct {
	request func(context.Context) (token, error)
	write   func(text string) error
	log     func(error)

	mu    sync.Mutex
	given []token
}

// run renews the token until ctx is done.
func (r *renewal) run(ctx context.Context, current token) {
	retry := retryFirst
	wait := current.renewIn()
	for pause(ctx, wait) {
		next, err := r.renew(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			r.log(err)
			wait, retry = retry, min(2*retry, retryMost)
		default:
			wait, retry = next.renewIn(), retryFirst
		}
	}
}

// renew replaces the token. It is added to tokens before any program can read it.
func (r *renewal) renew(ctx context.Context) (token, error) {
	next, err := r.request(ctx)
	if err != nil {
		return token{}, err
	}
	r.add(next)
	return next, r.write(next.text)
}

// add records a token, and drops those that expired long ago.
func (r *renewal) add(next token) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.given = append(slices.DeleteFunc(r.given, func(t token) bool {
		return next.asked.Sub(t.expires) > tokenLife
	}), next)
	if extra := len(r.given) - maxGiven; extra > 0 {
		r.given = slices.Delete(r.given, 0, extra)
	}
}

// maxGiven bounds the recorded tokens, in case writing one to disk keeps failing.
const maxGiven = 10

// tokens returns at least those that may still be valid.
func (r *renewal) tokens() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	texts := make([]string, 0, len(r.given))
	for _, t := range r.given {
		texts = append(texts, t.text)
	}
	return texts
}

// pause waits, and returns false if ctx is done first.
func pause(ctx context.Context, wait time.Duration) bool {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
