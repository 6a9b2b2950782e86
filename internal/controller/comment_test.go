// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"testing"

	"github.com/go-logr/logr"
	. "github.com/onsi/gomega"
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/notify"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// sent are the messages that notification-controller gets.
type sent struct{ messages []string }

func (s *sent) Send(_ client.Object, _ map[string]string, _, _, message string) error {
	s.messages = append(s.messages, message)
	return nil
}

// TestAFailureIsACommentOnThePullRequest, and as it is in the Kubernetes Event.
func TestAFailureIsACommentOnThePullRequest(t *testing.T) {
	g := NewWithT(t)
	w, _ := sourceWorld(t, func(stack *v1.Stack) {
		stack.Annotations = map[string]string{"event.toolkit.fluxcd.io/change_request": "7"}
	})
	written, to := w.events, &sent{}
	queue, err := notify.New(notify.Options{
		Writer: written, Sender: to, Size: 10, Scheme: w.Client.Scheme(), Registerer: prometheus.NewRegistry(), Log: logr.Discard(),
	})
	g.Expect(err).NotTo(HaveOccurred())
	w.Events = queue
	w.run(run.Failed, "ask @alice", run.Changes{})
	g.Expect(queue.Close(t.Context())).To(Succeed())
	g.Expect(written.lines).To(Equal([]string{"Warning UpdateFailed Update failed: ask @alice"}))
	g.Expect(written.metadata[0]).NotTo(HaveKey("pulumi.com/comment"))
	g.Expect(to.messages).To(Equal([]string{"```diff\n! Update failed: ask @alice\n```"}))
}
