// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/inventory"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/runlog"
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

const runLog = `{"level":"info","ts":"2026-03-02T10:16:01.000Z","msg":"update starts","controllerKind":"Stack","name":"network","namespace":"logs-runs","run":"01jnb3"}
{"level":"info","ts":"2026-03-02T10:16:02.000Z","msg":"aws:s3:Bucket (b): create done","controllerKind":"Stack","name":"network","namespace":"logs-runs","run":"01jnb3"}
`

// startRun makes the pod of a run of the Stack network.
func startRun(w *world, node string) {
	w.t.Helper()
	started, err := podlogs.Start(w.t.Context(), w.api, podlogs.Options{
		Node: node, Namespace: w.namespace, Pod: "pulumi-run-01jnb3", Run: "01jnb3", Stack: "network",
		Log: func() ([]byte, error) { return []byte(runLog), nil },
	})
	NewWithT(w.t).Expect(err).NotTo(HaveOccurred())
	w.t.Cleanup(func() {
		started.Stop()
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "pulumi-run-01jnb3"}}
		_ = w.api.Delete(context.Background(), pod, client.GracePeriodSeconds(0))
		_ = w.api.Delete(context.Background(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node}})
	})
}

// keepLog keeps the log of a run of the Stack, as the controller does.
func keepLog(w *world, name, runID string, lines ...string) {
	w.t.Helper()
	g := NewWithT(w.t)
	log := &run.Log{LeftOut: 7}
	for n, line := range lines {
		log.Lines = append(log.Lines, run.LogLine{At: now.Add(time.Duration(n-len(lines)) * time.Second), Text: line})
	}
	data, err := runlog.Encode(log)
	g.Expect(err).NotTo(HaveOccurred())
	stack := &v1.Stack{}
	g.Expect(w.api.Get(w.t.Context(), client.ObjectKey{Namespace: w.namespace, Name: name}, stack)).To(Succeed())
	g.Expect(w.api.Create(w.t.Context(), &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name + "-log"}, BinaryData: map[string][]byte{runlog.Key: data},
	})).To(Succeed())
	stack.Status.RunLog = &v1.RunLogStatus{Run: runID, ConfigMap: name + "-log", Digest: inventory.Digest(data)}
	g.Expect(w.api.Status().Update(w.t.Context(), stack)).To(Succeed())
}

func TestLogsOfRunsAreThoseOfTheirPodsOrKept(t *testing.T) {
	w := newWorld(t, "logs-runs")
	w.apply("reconcile")
	startNode(w, "node-runs")
	startRun(w, "node-of-a-run")
	keepLog(w, "network", "01jnb3", "shown by its pod")
	keepLog(w, "external", "01jna9", "update starts", "aws:rds:Instance (db): \x1b[31mcreate failed", "Update failed")
	w.golden("logs_runs",
		"logs --flux-namespace node-runs-system",
		"logs network --flux-namespace node-runs-system",
		"logs external --flux-namespace node-runs-system",
		"logs external --flux-namespace node-runs-system --tail 1",
		"logs external --flux-namespace node-runs-system --since 2s",
		"logs --level error --flux-namespace node-runs-system",
		"logs --kind Program --flux-namespace node-runs-system",
	)
}

func TestATenantSeesTheLogsOfRunsButNotOfTheController(t *testing.T) {
	w := newWorld(t, "logs-tenant")
	w.apply("reconcile")
	startNode(w, "node-tenant")
	keepLog(w, "network", "01jnb3", "update starts")
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: w.namespace, Name: "pulumi-run-01jnc1", Labels: map[string]string{runLabel: "01jnc1"}, Annotations: map[string]string{stackAnnotation: "app"},
		},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: runContainer, Image: "absent:1"}}},
	}
	g := NewWithT(t)
	g.Expect(w.api.Create(t.Context(), pod)).To(Succeed())
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: runContainer, Image: "absent:1", State: corev1.ContainerState{
		Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: `Back-off pulling image "absent:1"`}}}}
	g.Expect(w.api.Status().Update(t.Context(), pod)).To(Succeed())
	w.allow("logs-tenant", events, stacks, rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"pods", "pods/log", "configmaps"}})
	w.golden("logs_tenant",
		"logs network --flux-namespace node-tenant-system --as logs-tenant",
		"logs external --flux-namespace node-tenant-system --as logs-tenant",
		"logs app --flux-namespace node-tenant-system --as logs-tenant",
		"logs --kind Program --flux-namespace node-tenant-system --as logs-tenant",
	)
}

// A run as a Job continues while the controller has no pod, and the Job may have none while it
// is in a queue.
func TestLogsSayWhatIsThereOfARunAndWhatIsNot(t *testing.T) {
	w := newWorld(t, "logs-lacking")
	w.apply("reconcile")
	keepLog(w, "network", "01jnb3", "update starts")
	g := NewWithT(t)
	queued := &v1.Stack{}
	g.Expect(w.api.Get(t.Context(), client.ObjectKey{Namespace: w.namespace, Name: "external"}, queued)).To(Succeed())
	queued.Status.Run = &v1.RunStatus{
		ID: "01jnc1", Job: "pulumi-run-01jnc1", Operation: v1.OperationUpdate, Generation: 1, StartedAt: metav1.NewTime(now), Holder: v1.RunHolder{Host: "job"},
	}
	conditions.MarkUnknown(queued, meta.ReadyCondition, meta.ProgressingReason, "Running update: Job pulumi-run-01jnc1 is suspended")
	g.Expect(w.api.Status().Update(t.Context(), queued)).To(Succeed())
	w.allow("logs-queued", events, stacks, rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"pods", "pods/log", "configmaps"}})
	w.golden("logs_lacking",
		"logs network --flux-namespace empty",
		"logs external --flux-namespace empty --as logs-queued",
		"logs cluster --flux-namespace empty",
		"logs cluster --flux-namespace empty -f",
		"logs --kind Program --flux-namespace empty",
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
