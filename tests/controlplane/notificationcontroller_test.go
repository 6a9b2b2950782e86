// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

// tests/system gives notification-controller its rights, and tests/e2e tests what it
// does. Here it only has to start, as cluster admin, and to accept an event.
func eventsAreTaken(t *testing.T, plane *ControlPlane) {
	g, ctx := NewWithT(t), context.WithoutCancel(t.Context())
	begin := time.Now()
	controller, err := StartNotificationController(ctx, plane, NotificationControllerOptions{Dir: t.TempDir()})
	g.Expect(err).NotTo(HaveOccurred())
	t.Logf("notification-controller ready after %s", time.Since(begin).Round(time.Millisecond))
	t.Cleanup(func() { g.Expect(controller.Stop()).To(Succeed()) })

	const event = `{"involvedObject": {"apiVersion": "pulumi.com/v1", "kind": "Stack", "namespace": "default", "name": "app"},
		"severity": "info", "timestamp": "2026-01-01T00:00:00Z", "message": "m", "reason": "r", "reportingController": "c"}`
	for url, answer := range map[string]int{
		controller.EventsURL() + "/":             http.StatusAccepted,
		controller.ReceiversURL() + "/hook/none": http.StatusNotFound,
	} {
		response, err := http.Post(url, "application/json", strings.NewReader(event))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(response.Body.Close()).To(Succeed())
		g.Expect(response.StatusCode).To(Equal(answer), url)
	}
}
