// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/ui/view"
	"github.com/flux-pulumi/pulumi-controller/tests/podlogs"
)

// growingLog is the log of a pod to which a test adds lines.
type growingLog struct {
	mu   sync.Mutex
	text []byte
}

func (l *growingLog) read() ([]byte, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]byte{}, l.text...), nil
}

func (l *growingLog) add(run string, seconds int, text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = fmt.Appendf(l.text, `{"level":"info","ts":"2026-03-02T10:16:%02d.000Z","msg":%q,"controllerKind":"Stack","name":"network","run":%q}`+"\n", seconds, text, run)
}

// logged starts the pod with the log, on a node of its own.
func (w *world) logged(options podlogs.Options) *growingLog {
	w.t.Helper()
	log := &growingLog{}
	options.Log = log.read
	node, err := podlogs.Start(w.t.Context(), w.api, options)
	NewWithT(w.t).Expect(err).NotTo(HaveOccurred())
	w.t.Cleanup(func() {
		node.Stop()
		_ = w.api.Delete(context.Background(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: options.Node}})
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: options.Namespace, Name: options.Pod}}
		_ = w.api.Delete(context.Background(), pod, client.GracePeriodSeconds(0))
	})
	return log
}

// running records a run in flight of the Stack network.
func (w *world) running(id, job, host string) {
	w.t.Helper()
	w.status(func(s *v1.StackStatus) {
		s.Run = &v1.RunStatus{ID: id, Operation: v1.OperationUpdate, StartedAt: metav1.Time{Time: now}, Revision: "main@sha1:1", Job: job, Holder: v1.RunHolder{Host: host, Instance: "1"}}
	})
}

// awaitRun reads the stream of the Stack network until the run in flight is as expected.
func (b *browser) awaitRun(is func(view.Run) bool) view.Run {
	b.w.t.Helper()
	g := NewWithT(b.w.t)
	ctx, cancel := context.WithTimeout(b.w.t.Context(), time.Minute)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+b.address.Host+"/api/stacks/"+b.w.namespace+"/network/live", nil)
	g.Expect(err).NotTo(HaveOccurred())
	response, err := b.client.Do(request)
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { _ = response.Body.Close() }()
	from, event, shown := bufio.NewReader(response.Body), "", view.Run{}
	for {
		line, err := from.ReadString('\n')
		g.Expect(err).NotTo(HaveOccurred(), "the run is %+v", shown)
		if name, ok := strings.CutPrefix(line, "event: "); ok {
			event = strings.TrimSpace(name)
		}
		data, ok := strings.CutPrefix(line, "data: ")
		switch {
		case ok && event == "detail":
			detail := view.Detail{}
			g.Expect(json.Unmarshal([]byte(data), &detail)).To(Succeed())
			if shown = (view.Run{}); detail.Run != nil {
				shown = *detail.Run
			}
		case ok && event == "progress":
			shown.Progress = view.Progress{}
			g.Expect(json.Unmarshal([]byte(data), &shown.Progress)).To(Succeed())
		}
		if ok && is(shown) {
			return shown
		}
	}
}

func TestThePageShowsTheStepsOfARunOfTheController(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, "ui-steps")
	w.apply("steered")
	log := w.logged(podlogs.Options{Node: "node-ui-steps", Namespace: "ui-steps-system", Pod: "pulumi-controller-0"})
	w.running("01jnd1", "", "elsewhere")
	log.add("01jnd1", 1, "t:i:T (a): create started")
	log.add("01jnd0", 1, "t:i:T (other): create started")
	b := w.open("--flux-namespace", "ui-steps-system")
	b.awaitRun(func(of view.Run) bool { return len(of.Steps) == 1 })
	log.add("01jnd1", 4, "t:i:T (a): create done")
	log.add("01jnd1", 4, "t:i:T (b): create started")
	shown := b.awaitRun(func(of view.Run) bool { return len(of.Steps) == 2 })
	g.Expect(shown.Progress).To(Equal(view.Progress{ID: "01jnd1", Done: 1, Steps: []view.Step{
		{Op: "create", Type: "t:i:T", Name: "a", State: view.StepDone, Seconds: 3}, {Op: "create", Type: "t:i:T", Name: "b", State: view.StepRunning}}}))
	g.Expect(shown.Operation).To(Equal("update"))

	w.status(func(s *v1.StackStatus) { s.Run = nil })
	b.awaitRun(func(of view.Run) bool { return of.ID == "" })
	w.running("01jnd2", "", "pulumi-controller-0")
	log.add("01jnd2", 9, "t:i:T (a): delete started")
	shown = b.awaitRun(func(of view.Run) bool { return len(of.Steps) == 1 })
	g.Expect(shown.Steps[0].Op).To(Equal("delete"), "those of the earlier run are not its own")
}

func TestThePageShowsTheStepsOfAJob(t *testing.T) {
	w := newWorld(t, "ui-job")
	w.apply("steered")
	w.running("01jnd3", "pulumi-run-01jnd3", "elsewhere")
	b := w.open("--no-open")
	b.awaitRun(func(of view.Run) bool { return of.ID == "01jnd3" && of.Unread == "" })
	log := w.logged(podlogs.Options{Node: "node-ui-job", Namespace: w.namespace, Pod: "pulumi-run-01jnd3", Run: "01jnd3", Stack: "network"})
	log.add("01jnd3", 1, "t:i:T (a): create started")
	b.awaitRun(func(of view.Run) bool { return len(of.Steps) == 1 })
}

func TestThePageSaysWhyItHasNoSteps(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, "ui-unread")
	w.apply("steered")
	w.allow("ui-unread-reader", events, stacks)
	w.running("01jnd4", "", "elsewhere")
	w.logged(podlogs.Options{Node: "node-ui-unread", Namespace: "ui-unread-system", Pod: "pulumi-controller-0"})
	b := w.open("--flux-namespace", "ui-unread-system", "--as", "ui-unread-reader")
	shown := b.awaitRun(func(of view.Run) bool { return of.Unread != "" })
	g.Expect(shown.Unread).To(And(HavePrefix("The steps of the run cannot be read: "), ContainSubstring(`User "ui-unread-reader" cannot list resource "deployments"`)))
	g.Expect(shown.Message).To(ContainSubstring("Running update"))
}
