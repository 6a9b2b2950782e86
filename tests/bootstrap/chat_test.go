// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	eventv1 "github.com/fluxcd/pkg/apis/event/v1beta1"

	"github.com/flux-pulumi/pulumi-controller/tests/sources"
)

// chat stands for the people who want to know of failures.
type chat struct {
	mu       sync.Mutex
	received []string
}

// alerts returns an Alert for all Kustomizations, which Flux accepts without config/notifications, and the chat that
// it is sent to.
func alerts(t *testing.T) (*chat, sources.Files) {
	t.Helper()
	room := &chat{}
	server := httptest.NewServer(room)
	t.Cleanup(server.Close)
	return room, sources.Files{"clusters/production/alerts.yaml": `apiVersion: notification.toolkit.fluxcd.io/v1beta3
kind: Provider
metadata: {name: chat, namespace: flux-system}
spec: {type: generic, address: "` + server.URL + `"}
---
apiVersion: notification.toolkit.fluxcd.io/v1beta3
kind: Alert
metadata: {name: chat, namespace: flux-system}
spec:
  providerRef: {name: chat}
  eventSeverity: error
  eventSources: [{kind: Kustomization, name: '*'}]
`}
}

// ServeHTTP receives events from notification-controller.
func (c *chat) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var event eventv1.Event
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20)).Decode(&event); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.received = append(c.received, event.Message)
}

func (c *chat) messages() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string(nil), c.received...)
}
