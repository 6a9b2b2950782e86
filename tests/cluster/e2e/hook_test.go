// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"net"
	"net/http"
	"sync"
	"time"

	eventv1 "github.com/fluxcd/pkg/apis/event/v1beta1"
	. "github.com/onsi/gomega"
)

// hook is a webhook that notification-controller sends events to.
type hook struct {
	url string

	mu     sync.Mutex
	events []string
}

func newHook(w *world) *hook {
	w.test.Helper()
	listener, err := net.Listen("tcp4", net.JoinHostPort(w.host, "0"))
	w.Expect(err).NotTo(HaveOccurred())
	h := &hook{url: "http://" + listener.Addr().String()}
	server := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = server.Serve(listener) }() // until it is closed
	w.test.Cleanup(func() { _ = server.Close() })
	return h
}

// ServeHTTP receives events from notification-controller.
func (h *hook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var event eventv1.Event
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20)).Decode(&event); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.events = append(h.events, event.InvolvedObject.Kind+"/"+event.InvolvedObject.Name+" "+event.Reason+": "+event.Message)
}

// received returns the events as "Stack/name Reason: message".
func (h *hook) received() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]string(nil), h.events...)
}
