// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package rows

import (
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

func TestRunning(t *testing.T) {
	started := time.Date(2026, 3, 2, 10, 17, 50, 0, time.UTC)
	const running = "Running update at revision v1"
	for name, tt := range map[string]struct {
		message  string
		progress *v1.RunProgress
		want     string
	}{
		"nothing":           {"", nil, running + " for 1m5s"},
		"that it started":   {running + " with a timeout of 1h0m0s", nil, running + " for 1m5s with a timeout of 1h0m0s"},
		"that it is cut":    {"Cancelling run a (update) at once", nil, running + " for 1m5s: Cancelling run a (update) at once"},
		"a preview of it":   {"Applied revision: v0", nil, running + " for 1m5s: Applied revision: v0"},
		"how far it is":     {running + ": 1 created after 40s", &v1.RunProgress{Message: "1 created"}, running + " for 1m5s: 1 created after 40s"},
		"nothing to tell":   {"", &v1.RunProgress{}, running + " for 1m5s"},
		"by an old release": {running + ": 1 created after 40s", nil, running + " for 1m5s: 1 created after 40s"},
	} {
		t.Run(name, func(t *testing.T) {
			stack := &v1.Stack{}
			stack.Status.Run = &v1.RunStatus{Operation: v1.OperationUpdate, Revision: "v1", StartedAt: metav1.Time{Time: started}}
			stack.Status.Conditions = []metav1.Condition{{Type: meta.ReadyCondition, Message: tt.message}}
			if tt.progress != nil {
				stack.Status.Run.Progress = tt.progress
				stack.Status.Run.Progress.LastUpdateTime = metav1.Time{Time: started.Add(40 * time.Second)}
			}
			NewWithT(t).Expect(Running(stack, started.Add(65*time.Second))).To(Equal(tt.want))
		})
	}
	NewWithT(t).Expect(Running(&v1.Stack{}, started)).To(BeEmpty())
	stack := &v1.Stack{}
	stack.Status.Run = &v1.RunStatus{Operation: v1.OperationUpdate, StartedAt: metav1.Time{Time: started}, Progress: &v1.RunProgress{Message: "1 created", LastUpdateTime: metav1.Time{Time: started.Add(-time.Minute)}}}
	NewWithT(t).Expect(Running(stack, started.Add(-time.Hour))).To(Equal("Running update for 0s: 1 created after 0s"), "with a clock that is behind")
}

func TestPreviewWait(t *testing.T) {
	waits := v1.PreviewStatus{Request: "one", Message: "Waiting for other runs to end"}
	for name, tt := range map[string]struct {
		asked, reason string
		preview       v1.PreviewStatus
		want          string
	}{
		"waits":                 {"one", "", waits, "The preview is queued: Waiting for other runs to end"},
		"of what has failed":    {"one", meta.ProgressingWithRetryReason, waits, "The preview is queued: Waiting for other runs to end"},
		"a run is due before":   {"one", meta.ProgressingReason, waits, ""},
		"not asked for by now":  {"", "", waits, ""},
		"another is asked for":  {"two", "", waits, ""},
		"answered":              {"one", "", v1.PreviewStatus{Request: "one", EndedAt: &metav1.Time{Time: time.Unix(1, 0)}}, ""},
		"answered, after a run": {"one", "", v1.PreviewStatus{Request: "one", Run: "a", EndedAt: &metav1.Time{Time: time.Unix(1, 0)}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			stack := &v1.Stack{Status: v1.StackStatus{Preview: &tt.preview}}
			stack.SetGroupVersionKind(v1.GroupVersion.WithKind(v1.StackKind))
			stack.Annotations = map[string]string{v1.PreviewRequestAnnotation: tt.asked}
			stack.Status.Conditions = []metav1.Condition{{Type: meta.ReconcilingCondition, Status: metav1.ConditionTrue, Reason: tt.reason}}
			fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(stack)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(PreviewWait(&unstructured.Unstructured{Object: fields})).To(Equal(tt.want))
		})
	}
}
