// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"bytes"
	"context"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/flux-pulumi/pulumi-controller/tests/podlogs"
)

const controllerLog = `{"level":"info","ts":"2026-03-02T10:15:30.000Z","msg":"starting"}
{"level":"info","ts":"2026-03-02T10:15:42.000Z","msg":"aws:s3:Bucket (a): created","controllerKind":"Stack","name":"network","namespace":"logs","run":"01jnb2"}
{"level":"error","ts":"2026-03-02T10:15:43.000Z","msg":"Update failed","controllerKind":"Stack","name":"network","namespace":"logs","error":"no such bucket"}
{"level":"info","ts":"2026-03-02T10:15:44.000Z","msg":"Program can be run","controllerKind":"Program","name":"network","namespace":"logs"}
panic: no JSON
{"level":"info","ts":"2026-03-02T10:15:45.000Z","msg":"Update succeeded","controllerKind":"Stack","name":"cluster","namespace":"elsewhere"}
`

func startNode(w *world, name string) {
	w.t.Helper()
	node, err := podlogs.Start(w.t.Context(), w.api, podlogs.Options{
		Node: name, Namespace: name + "-system", Pod: "pulumi-controller-0",
		Log: func() ([]byte, error) { return []byte(controllerLog), nil },
	})
	NewWithT(w.t).Expect(err).NotTo(HaveOccurred())
	w.t.Cleanup(func() {
		node.Stop()
		_ = w.api.Delete(context.Background(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}})
	})
}

func TestLogs(t *testing.T) {
	w := newWorld(t, "logs")
	w.apply("reconcile")
	startNode(w, "node-logs")
	w.golden("logs",
		"logs --flux-namespace node-logs-system",
		"logs network --flux-namespace node-logs-system",
		"logs --kind Program --flux-namespace node-logs-system",
		"logs --kind program --flux-namespace node-logs-system",
		"logs --level error --flux-namespace node-logs-system",
		"logs -A --flux-namespace node-logs-system",
		"logs absent --flux-namespace node-logs-system",
		"logs --flux-namespace empty",
		"logs --kind Kustomization",
		"logs network --kind Program",
		"logs --level warning",
		"logs --since 1m --since-time 2026-03-02T10:15:44Z",
		"logs --since-time yesterday",
	)
}

// stopWriter calls stop when the text is written.
type stopWriter struct {
	bytes.Buffer
	text string
	stop context.CancelFunc
}

func (w *stopWriter) Write(text []byte) (int, error) {
	n, err := w.Buffer.Write(text)
	if strings.Contains(w.String(), w.text) {
		w.stop()
	}
	return n, err
}

func TestLogsAreFollowedUntilInterrupted(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, "logs-follow")
	startNode(w, "node-follow")
	ctx, stop := context.WithCancel(t.Context())
	out := &stopWriter{text: "Update succeeded", stop: stop}
	env := w.env
	env.Out, env.Err = out, out
	exit := Run(ctx, env, []string{"logs", "-f", "-A", "--flux-namespace", "node-follow-system", "--kubeconfig", w.kubeconfig, "--timeout", "1ms"})
	g.Expect(out.String()).To(ContainSubstring("2026-03-02T10:15:42.000Z info Stack/network.logs - aws:s3:Bucket (a): created \n"))
	g.Expect(exit).To(Equal(0), out.String())
}
