// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package stackstatus

import (
	"bytes"
	"flag"
	"fmt"
	. "github.com/onsi/gomega"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/decide"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

var updateTransitions = flag.Bool("update", false, "write testdata/transitions.txt")

// TestTransitions compares what becomes of a status with the committed table: for each status
// before, each kind of run that may start from it, and each way in which that can end.
//
// A change of the table is a change of behaviour: its commit says why.
func TestTransitions(t *testing.T) {
	g := NewWithT(t)
	golden := filepath.Join("testdata", "transitions.txt")
	table := transitions()
	if *updateTransitions {
		g.Expect(os.MkdirAll("testdata", 0o755)).To(Succeed())
		g.Expect(os.WriteFile(golden, table, 0o644)).To(Succeed())
	}
	want, err := os.ReadFile(golden)
	g.Expect(err).NotTo(HaveOccurred())
	if bytes.Equal(table, want) {
		return
	}
	at, before := slices.Collect(bytes.Lines(table)), slices.Collect(bytes.Lines(want))
	for i := range min(len(at), len(before)) {
		if !bytes.Equal(at[i], before[i]) {
			t.Fatalf("line %d of %s differs (go test ./internal/stackstatus -run TestTransitions -update, and look at git diff)\nwas: %s\nis:  %s",
				i+1, golden, before[i], at[i])
		}
	}
	t.Fatalf("%s has %d lines, and is to have %d", golden, len(before), len(at))
}

const transitionsIntro = `# What becomes of a status: for each status before and each kind of run, what its record
# changes ("recorded"), and then what each way to end it changes, the event, and what is
# decided next with the same inputs. Ends with the same consequences share a line, and those
# that have them from an earlier status before too are only listed. $reason is the reason of
# the outcome (first table). Texts are numbered, and listed at the end: only that list changes
# with their wording. Times of conditions are left out.
# go test ./internal/stackstatus -run TestTransitions -update writes this file.
`

func transitions() []byte {
	table := &transitionTable{first: map[string]string{}}
	table.WriteString(transitionsIntro)
	table.reasons()
	for _, before := range statusesBefore() {
		fmt.Fprintf(table, "\n## %s\n", before.name)
		for _, kind := range before.kinds {
			fmt.Fprintf(table, "\n%s\n", kind.name)
			table.add(before, kind)
		}
	}
	table.WriteString("\n## texts\n\n")
	for i, text := range table.texts.all {
		fmt.Fprintf(table, "T%d %s\n", i+1, text)
	}
	return table.Bytes()
}

// transitionTable is the table as far as it is written.
type transitionTable struct {
	bytes.Buffer
	texts texts
	// first has the status before that had the consequences first, by kind, end and these.
	first map[string]string
}

func (t *transitionTable) reasons() {
	t.WriteString("\n## reasons\n\n")
	for _, outcome := range run.Outcomes() {
		fmt.Fprintf(t, "%s:", outcome)
		for _, operation := range []v1.Operation{v1.OperationUpdate, v1.OperationDestroy, v1.OperationRecover, v1.OperationPreview, v1.OperationOutputs, v1.OperationPropose, v1.OperationProposeDestroy, v1.OperationCheckDrift} {
			fmt.Fprintf(t, " %s=%s", operation, outcome.Reason(run.KindOf(operation)))
		}
		t.WriteString("\n")
	}
}

// add adds a line for the record of a run, and one for each group of ends that have the same
// consequences.
func (t *transitionTable) add(before statusBefore, kind kindOfRun) {
	start := func() *v1.Stack {
		stack := before.make()
		startRun(stack, kind, "run", "sha256:new")
		return stack
	}
	fmt.Fprintf(t, "  recorded: %s\n", t.texts.changes(before.make(), start(), ""))
	var lines []string
	ends := map[string][]string{}
	for _, end := range waysToEnd() {
		if len(end.kinds) > 0 && !slices.Contains(end.kinds, kind.operation) {
			continue
		}
		running := start()
		if end.only != nil && !end.only(running) {
			continue
		}
		stack := running.DeepCopy()
		event := end.do(stack)
		reason := end.outcome.Reason(run.KindOf(kind.operation))
		line := t.texts.changes(running, stack, reason) + t.texts.event(event, reason) + t.texts.next(stack, reason)
		id := fmt.Sprintln(kind.name, end.name, line)
		if first, ok := t.first[id]; ok {
			line = fmt.Sprintf("as above (%s)", first)
		} else {
			t.first[id] = before.name
		}
		if _, ok := ends[line]; !ok {
			lines = append(lines, line)
		}
		ends[line] = append(ends[line], end.name)
	}
	for _, line := range lines {
		fmt.Fprintf(t, "  %s: %s\n", strings.Join(ends[line], ", "), line)
	}
}

// startRun records a run as start does.
func startRun(stack *v1.Stack, kind kindOfRun, id, digest string) {
	record := v1.RunStatus{
		ID: id, Operation: kind.operation, Generation: stack.Generation, Revision: gitRevision, Digest: digest,
		StartedAt: metav1.Time{Time: started}, Holder: v1.RunHolder{Host: "pod-1", Instance: "a"},
		ProjectInfo: &v1.ProjectInfo{Name: "app", Runtime: "yaml", Backend: "file:///state"},
	}
	if kind.onRequest {
		record.PreviewRequest = "please"
	} else {
		AcknowledgeRequests(stack)
	}
	if kind.ofDrift {
		record.Drift = stack.Status.Drift.Digest
		if p := openPlan(stack); p != nil && kind.operation == v1.OperationUpdate {
			record.Approved = p.Digest
		}
	}
	if seen := observeApproval(stack); seen.Required && run.KindOf(kind.operation).ChangesResources && seen.Plan != nil {
		record.Approved = seen.Plan.Digest // decide would start no other
	}
	RecordRun(stack, record)
}

// nextDecision decides with the same inputs as the run that has ended.
func nextDecision(stack *v1.Stack) decide.Decision {
	seen := Observation(stack, started.Add(20*time.Second))
	seen.Digest, seen.HasFinalizer = "sha256:new", true
	if WritesOutputs(stack) && !seen.Deleting {
		seen.Outputs, _ = ObserveOutputs(stack, nil)
	}
	return decide.Next(seen)
}
