// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package crash keeps a panic in a goroutine of one run from ending the process, and with
// it the other runs: the goroutine that waits for it panics in its place, and the one that
// has started the run recovers.
package crash

import (
	"fmt"
	"runtime/debug"
)

// Panic is what a goroutine has panicked with.
type Panic struct {
	// Value may contain secrets, the stack does not.
	Value any
	Stack []byte
}

func (p *Panic) Error() string { return fmt.Sprint(p.Value) }

// Of returns the panic that recover() has returned, nil if there was none. It is called by
// the deferred function itself, so that the stack is that of the panic.
func Of(recovered any) *Panic {
	if recovered == nil {
		return nil
	}
	if earlier, ok := recovered.(*Panic); ok {
		return earlier
	}
	return &Panic{Value: recovered, Stack: debug.Stack()}
}

// Goroutine is a goroutine that something waits for.
type Goroutine struct {
	done  chan struct{}
	panic *Panic
}

// Go calls f in a goroutine.
func Go(f func()) *Goroutine {
	g := &Goroutine{done: make(chan struct{})}
	go func() {
		defer close(g.done)
		defer func() { g.panic = Of(recover()) }()
		f()
	}()
	return g
}

// Done is closed when the goroutine has ended.
func (g *Goroutine) Done() <-chan struct{} { return g.done }

// Wait waits for the goroutine, and panics with its *Panic if it has panicked.
func (g *Goroutine) Wait() {
	<-g.done
	if g.panic != nil {
		panic(g.panic)
	}
}
