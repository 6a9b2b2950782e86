// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"sync"

	eventv1 "github.com/fluxcd/pkg/apis/event/v1beta1"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

// hook is a service that Providers deliver to.
type hook struct {
	url string

	mu     sync.Mutex
	bodies [][]byte
}

// hook starts one for the time of the test.
func (t *tenant) hook() *hook {
	h := &hook{}
	server := httptest.NewServer(h)
	t.test.Cleanup(server.Close)
	h.url = server.URL
	return h
}

// ServeHTTP keeps what is posted.
func (h *hook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := readAll(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.bodies = append(h.bodies, body)
}

// texts are the bodies, in the order they came.
func (h *hook) texts() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var texts []string
	for _, body := range h.bodies {
		texts = append(texts, string(body))
	}
	return texts
}

// events are what a generic Provider has delivered.
func (h *hook) events(g Gomega) []eventv1.Event {
	var events []eventv1.Event
	for _, text := range h.texts() {
		var event eventv1.Event
		g.Expect(json.Unmarshal([]byte(text), &event)).To(Succeed())
		events = append(events, event)
	}
	return events
}

// applyYAML creates an object of a kind that has no Go type here, as a user writes it.
func (t *tenant) applyYAML(text string) *unstructured.Unstructured {
	t.test.Helper()
	object := &unstructured.Unstructured{}
	t.Expect(yaml.UnmarshalStrict([]byte(text), &object.Object)).To(Succeed())
	t.apply(object)
	return object
}

// provider creates a Provider.
func (t *tenant) provider(name, kind, address string) {
	t.test.Helper()
	t.applyYAML(`
apiVersion: notification.toolkit.fluxcd.io/v1beta3
kind: Provider
metadata: {name: ` + name + `}
spec:
  type: ` + kind + `
  address: ` + address + `
  secretRef: {name: ` + name + `}
`)
}

// alert creates an Alert of the Stacks given, of the namespace, to the Provider of the same name.
func (t *tenant) alert(name, severity, stacks string) {
	t.test.Helper()
	t.applyYAML(`
apiVersion: notification.toolkit.fluxcd.io/v1beta3
kind: Alert
metadata: {name: ` + name + `}
spec:
  providerRef: {name: ` + name + `}
  eventSeverity: ` + severity + `
  eventMetadata: {cluster: production}
  eventSources: ` + stacks + `
`)
}

// tells creates a Provider and an Alert that tells the hook of the Stacks.
func (t *tenant) tells(h *hook, name, severity, stacks string) {
	t.test.Helper()
	t.applyYAML("apiVersion: v1\nkind: Secret\nmetadata: {name: " + name + "}\nstringData: {token: t0ken}")
	t.provider(name, "generic", h.url)
	t.alert(name, severity, stacks)
}

// awaitNotice waits until the hook has received an event of the Stack with that severity and reason, and returns the first such event.
func (t *tenant) awaitNotice(h *hook, stack *v1.Stack, severity, reason string, texts ...string) (found eventv1.Event) {
	t.test.Helper()
	t.Eventually(func(g Gomega) {
		events := h.events(g)
		for _, event := range events {
			matches, err := hasAll(texts).Match(event.Message)
			g.Expect(err).NotTo(HaveOccurred())
			if event.InvolvedObject.Name == stack.Name && event.Severity == severity && event.Reason == reason && matches {
				found = event
				return
			}
		}
		g.Expect(events).To(BeNil(), "none of these is a %s event with reason %s and %q", severity, reason, texts)
		g.Expect(events).NotTo(BeNil(), "no event was delivered")
	}).Should(Succeed())
	return found
}
