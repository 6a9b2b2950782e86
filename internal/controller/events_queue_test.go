// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/go-logr/logr"
	. "github.com/onsi/gomega"
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/notify"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// hanging is a notification-controller that does not respond before the test ends.
type hanging struct{ open chan struct{} }

func (h hanging) Send(client.Object, map[string]string, string, string, string) error {
	<-h.open
	return nil
}

func TestNoReconcileWaitsForNotificationController(t *testing.T) {
	g := NewWithT(t)
	w, _ := sourceWorld(t)
	written := w.events
	never := hanging{make(chan struct{})}
	queue, err := notify.New(notify.Options{
		Writer: written, Sender: never, Size: 1, Scheme: w.Client.Scheme(), Registerer: prometheus.NewRegistry(), Log: logr.Discard(),
	})
	g.Expect(err).NotTo(HaveOccurred())
	w.Events = queue

	// With a queue of one, the third event would block forever.
	for range 3 {
		w.run(run.Succeeded, "", run.Changes{Created: 1})
		w.request()
	}
	g.Expect(written.lines).To(HaveLen(3), "the Kubernetes Events are written")
	g.Expect(written.commitStatuses).To(BeEmpty(), "those for forges are sent only")
	close(never.open)
	g.Expect(queue.Close(t.Context())).To(Succeed())
}

// request makes a new reconcile request.
func (w *world) request() {
	w.t.Helper()
	w.edit(func(s *v1.Stack) {
		s.Annotations = map[string]string{meta.ReconcileRequestAnnotation: fmt.Sprint(w.writes)}
	})
}
