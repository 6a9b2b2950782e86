// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"context"
	"errors"
	"io"
	"time"
)

// errAway is why a snapshot cannot be read.
var errAway = errors.New("its volume does not answer")

// leaveAfter is how long something that was cancelled may take to end. It takes longer only if a
// volume is away.
const leaveAfter = 5 * time.Second

// awaitVolume calls what a volume on the network can keep waiting in the kernel, where nothing
// interrupts it. When ctx is done, it is left behind.
func awaitVolume[T any](ctx context.Context, call func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	ended := make(chan result, 1)
	go func() {
		value, err := call()
		ended <- result{value, err}
	}()
	select {
	case r := <-ended:
		return r.value, r.err
	case <-ctx.Done():
	}
	timer := time.NewTimer(leaveAfter)
	defer timer.Stop()
	select {
	case r := <-ended:
		return r.value, r.err
	case <-timer.C:
		var none T
		return none, context.Cause(ctx)
	}
}

// untilDone writes until ctx is done.
type untilDone struct {
	ctx context.Context
	to  io.Writer
}

func (u untilDone) Write(p []byte) (int, error) {
	if u.ctx.Err() != nil {
		return 0, context.Cause(u.ctx)
	}
	return u.to.Write(p)
}
