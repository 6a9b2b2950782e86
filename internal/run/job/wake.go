// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"sync"
	"time"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// delayedWakes wake Stacks later, each once.
type delayedWakes struct {
	wake func(namespace, name string)
	// waiting are the runs whose Stacks are about to be woken.
	waiting sync.Map
}

// after has the Stack of a run woken after a while.
func (w *delayedWakes) after(of run.Ref, delay time.Duration) {
	if _, waits := w.waiting.LoadOrStore(of, true); waits {
		return
	}
	time.AfterFunc(delay, func() {
		w.waiting.Delete(of)
		w.wake(of.Namespace, of.Name)
	})
}
