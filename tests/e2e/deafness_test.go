// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// ear stands in for notification-controller where that does not do what it should.
type ear struct {
	address string
	server  *http.Server
	served  chan error

	mu      sync.Mutex
	answer  http.HandlerFunc
	release chan struct{} // closed to let the requests go that hang
	heard   int
	// reconciles counts those that the controller has done, and first has how many they were when an event came first.
	reconciles func() (int, error)
	first      map[string]int
	hanging    map[string]bool
	wentOn     bool
}

// listen begins to listen.
func listen() (*ear, error) {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	e := &ear{address: listener.Addr().String(), served: make(chan error, 1), release: make(chan struct{}),
		first: map[string]int{}, hanging: map[string]bool{}, reconciles: func() (int, error) { return 0, nil }}
	e.server = &http.Server{Handler: e, ReadHeaderTimeout: 10 * time.Second}
	go func() { e.served <- e.server.Serve(listener) }()
	return e, nil
}

func (e *ear) Close() error {
	e.become(nil)
	err := e.server.Close()
	if served := <-e.served; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}

// become changes how requests are answered. Those that hang end.
func (e *ear) become(answer http.HandlerFunc) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.answer, e.heard, e.wentOn = answer, 0, false
	e.first, e.hanging = map[string]int{}, map[string]bool{}
	close(e.release)
	e.release = make(chan struct{})
}

func (e *ear) requests() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.heard
}

func (e *ear) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	event, _ := io.ReadAll(r.Body)
	reconciles, _ := e.reconciles() // none, where the controller has just ended
	e.mu.Lock()
	e.heard++
	answer := e.answer
	if first, again := e.first[string(event)]; !again {
		e.first[string(event)] = reconciles
	} else if reconciles > first {
		e.wentOn = true
	}
	e.hanging[string(event)] = true
	e.mu.Unlock()
	if answer != nil {
		answer(w, r)
	}
	e.mu.Lock()
	delete(e.hanging, string(event))
	e.mu.Unlock()
}

// controllerWentOn says whether the controller has ended a reconcile while an event waited for its answer, or to be sent
// again. One that does one reconcile at a time has not, if that reconcile waits for the event.
func (e *ear) controllerWentOn() (bool, error) {
	reconciles, err := e.reconciles()
	e.mu.Lock()
	defer e.mu.Unlock()
	for event := range e.hanging {
		e.wentOn = e.wentOn || reconciles > e.first[event]
	}
	return e.wentOn, err
}

// hang answers nothing until the ear becomes something else, or the client has had enough.
func (e *ear) hang(_ http.ResponseWriter, r *http.Request) {
	e.mu.Lock()
	release := e.release
	e.mu.Unlock()
	select {
	case <-release:
	case <-r.Context().Done():
	}
}

func answering(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

// TestNotificationControllerHoldsUpNothing has a system of its own, with one reconcile at a time, whose events nobody takes:
// a reconcile that waited for that would hold up all Stacks.
func TestNotificationControllerHoldsUpNothing(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	g := NewWithT(t)
	e, err := listen()
	g.Expect(err).NotTo(HaveOccurred())
	closeEar := sync.OnceValue(e.Close)
	t.Cleanup(func() { g.Expect(closeEar()).To(Succeed()) })
	w := ownController(t, "deaf", "--concurrent=1", "--events-addr=http://"+e.address)

	e.mu.Lock()
	e.reconciles = func() (int, error) { return w.allReconciles(context.WithoutCancel(t.Context())) }
	e.mu.Unlock()
	for _, fault := range []struct {
		name   string
		answer http.HandlerFunc
		// waits: the events are yet to be taken.
		waits bool
	}{
		{"it hangs", e.hang, true},
		{"it answers 500", answering(http.StatusInternalServerError), true},
		{"it answers 429", answering(http.StatusTooManyRequests), false},
		{"it is back", answering(http.StatusAccepted), false},
	} {
		t.Run(fault.name, func(t *testing.T) {
			u := newTenant(t, w)
			e.become(fault.answer)
			goesOn(u)
			u.Eventually(e.requests).Should(BeNumerically(">", 0), "it was tried")
			if fault.waits {
				u.Eventually(e.controllerWentOn).Should(BeTrue(), "the events held up the reconciles")
			}
		})
	}
	t.Run("it refuses", func(t *testing.T) {
		NewWithT(t).Expect(closeEar()).To(Succeed())
		goesOn(newTenant(t, w))
	})
}

// goesOn has some Stacks go through a failure and a success.
func goesOn(u *tenant) {
	const count = 4
	var stacks []*v1.Stack
	for i := range count {
		name := fmt.Sprintf("s%d", i)
		stack := u.stack(named(name), func(s *v1.Stack) { s.Spec.ProgramRef = &v1.ProgramReference{Name: name} })
		u.apply(stack)
		stacks = append(stacks, stack)
	}
	for _, stack := range stacks {
		u.awaitMissing(stack, "not found")
	}
	for _, stack := range stacks {
		program := u.program(oneThing("one"))
		program.Name = stack.Name
		u.apply(program)
	}
	for _, stack := range stacks {
		u.awaitReady(stack)
		u.awaitEvent(stack, "Normal", "ReconciliationSucceeded", "1 created")
	}
}
