// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

// stackOf returns a Stack of the examples of the commands.
func stackOf(t *testing.T, file, name string) *v1.Stack {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "command", "testdata", file+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	decoder := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096)
	for {
		stack := &v1.Stack{}
		err := decoder.Decode(stack)
		switch {
		case errors.Is(err, io.EOF):
			t.Fatalf("%s has no Stack %s", file, name)
		case err != nil:
			t.Fatal(err)
		case stack.Kind == v1.StackKind && stack.Name == name:
			stack.Namespace = "apps"
			return stack
		}
	}
}

func at(text string) metav1.Time {
	when, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err) // of a test's own literals
	}
	return metav1.NewTime(when)
}

func TestTheRowOfAStack(t *testing.T) {
	const revision = "main@sha1:9a8f4c4a7c8b1f6f0f5d0f3e7b2f1f0a3c5d7e91"
	for name, want := range map[string]Row{
		"network": {Namespace: "apps", Name: "network", State: Ready, Ready: "True", Reason: "ReconciliationSucceeded", Message: "Applied revision: main@sha1:9a8f4c4a",
			Source: "GitRepository/flux-system/infra", Revision: revision},
		"cluster": {Namespace: "apps", Name: "cluster", State: Running, Ready: "Unknown", Reason: "Progressing", Running: true, Source: "Program/apps/cluster",
			Message: "Running update at revision 1@sha256:6c1f9a0c for 0s: 3 created, 2 in progress after 10s"},
		"starting": {Namespace: "apps", Name: "starting", State: Running, Ready: "Unknown", Reason: "Progressing", Running: true, Source: "GitRepository/apps/starting",
			Message: "Running update at revision main@sha1:9a8f4c4a for 0s with a timeout of 1h0m0s"},
		"database": {Namespace: "apps", Name: "database", State: Failed, Ready: "False", Reason: "UpdateFailed", Failed: true, Suspended: true, Drifted: true, Source: "Bucket/apps/infra",
			Message: "aws:rds/instance:Instance (main): creating the instance: InvalidParameter"},
		"unseen": {Namespace: "apps", Name: "unseen", State: Unknown, Ready: "Unknown", Message: "waiting to be reconciled", Source: "Program/apps/cluster"},
	} {
		NewWithT(t).Expect(RowOf(stackOf(t, "fleet", name))).To(Equal(want), name)
	}
}

func TestTheStateOfAStack(t *testing.T) {
	ready := func(status metav1.ConditionStatus, reason string) metav1.Condition {
		return metav1.Condition{Type: meta.ReadyCondition, Status: status, Reason: reason, Message: "why"}
	}
	reconciling := func(reason string) metav1.Condition {
		return metav1.Condition{Type: meta.ReconcilingCondition, Status: metav1.ConditionTrue, Reason: reason}
	}
	drifted := metav1.Condition{Type: v1.DriftedCondition, Status: metav1.ConditionTrue, Reason: v1.DriftDetectedReason}
	planned := func(state v1.PlanState) func(*v1.Stack) {
		return func(stack *v1.Stack) {
			stack.Status.Plan = &v1.PlanStatus{Digest: "sha256:1", State: state}
		}
	}
	none := func(*v1.Stack) {}
	for name, tt := range map[string]struct {
		conditions []metav1.Condition
		change     func(*v1.Stack)
		want       string
	}{
		"ready":                    {[]metav1.Condition{ready("True", "a")}, none, Ready},
		"ready and drifted":        {[]metav1.Condition{ready("True", "a"), drifted}, none, Drifted},
		"failed and drifted":       {[]metav1.Condition{ready("False", "a"), drifted}, none, Failed},
		"failed, tried again":      {[]metav1.Condition{ready("False", "a"), reconciling(meta.ProgressingWithRetryReason)}, none, Failed},
		"waits for a source":       {[]metav1.Condition{ready("False", "a"), reconciling(meta.ProgressingReason)}, none, Unknown},
		"waits for another Stack":  {[]metav1.Condition{ready("False", meta.DependencyNotReadyReason)}, none, Unknown},
		"waits for an approval":    {[]metav1.Condition{ready("False", v1.ApprovalRequiredReason), reconciling(meta.ProgressingReason)}, planned(v1.PlanProposed), Waiting},
		"its plan was approved":    {[]metav1.Condition{ready("Unknown", "a")}, planned(v1.PlanApproved), Unknown},
		"its plan was rejected":    {[]metav1.Condition{ready("False", v1.PlanRejectedReason)}, planned(v1.PlanRejected), Failed},
		"it only previews":         {[]metav1.Condition{ready("True", "a")}, planned(v1.PlanPreviewed), Ready},
		"suspended":                {[]metav1.Condition{ready("True", "a")}, func(stack *v1.Stack) { stack.Spec.Suspend = true }, Suspended},
		"a run after a failed one": {[]metav1.Condition{ready("False", "a")}, func(stack *v1.Stack) { stack.Status.Run = &v1.RunStatus{} }, Running},
		"new":                      {nil, none, Unknown},
	} {
		stack := &v1.Stack{Status: v1.StackStatus{Conditions: tt.conditions}}
		tt.change(stack)
		NewWithT(t).Expect(StateOf(stack)).To(Equal(tt.want), name)
	}
}

func TestARowIsSmallWhateverTheStatusHas(t *testing.T) {
	g := NewWithT(t)
	long := strings.Repeat("long ", 10_000)
	stack := stackOf(t, "fleet", "network")
	stack.Status.Conditions[0].Message, stack.Status.Conditions[0].Reason, stack.Status.LastAppliedRevision = long, long, long
	row := RowOf(stack)
	g.Expect(len(row.Message) + len(row.Reason) + len(row.Revision)).To(BeNumerically("<=", 3*maxLine))
	g.Expect(row.Message).To(HaveSuffix("..."))
	for i := range 256 {
		stack.Spec.DependsOn = append(stack.Spec.DependsOn, v1.DependencyReference{Namespace: "infra", Name: fmt.Sprintf("%0253d", i)})
		stack.Spec.Prerequisites = append(stack.Spec.Prerequisites, v1.PrerequisiteReference{Name: fmt.Sprintf("%0253d", i)})
	}
	data, err := json.Marshal(RowOf(stack))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(len(data)).To(BeNumerically("<", 3<<10))
}

func TestARowChangesWithWhatTheStackNeeds(t *testing.T) {
	g := NewWithT(t)
	of := func(names ...string) string {
		stack := &v1.Stack{}
		for _, name := range names {
			stack.Spec.DependsOn = append(stack.Spec.DependsOn, v1.DependencyReference{Name: name})
		}
		return RowOf(stack).Needs
	}
	g.Expect(of()).To(BeEmpty())
	g.Expect(of("a", "b")).To(Equal(of("a", "b")))
	g.Expect(of("a", "b")).NotTo(Or(Equal(of("a")), Equal(of("ab")), Equal(of("a", "c"))))
}
