// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package rows turns objects into rows of a table: values in, text out. It must need no
// client and no clock.
package rows

import (
	"fmt"
	"strings"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/table"
)

// Options selects the columns.
type Options struct {
	// Namespace adds the namespace as the first column.
	Namespace bool
	// Kind writes names as kind/name.
	Kind bool
	// Source adds the source of a Stack's program.
	Source bool
	// Wide adds whether a Stack has drifted, and whether it complies with policies.
	Wide bool
}

// Header returns the header of the table for the kind of the object.
func Header(object client.Object, options Options) []string {
	var header []string
	if options.Namespace {
		header = append(header, "Namespace")
	}
	header = append(header, "Name")
	switch object.(type) {
	case *v1.Program:
		return append(header, "Revision", "Ready", "Message")
	case *v1.PolicySet:
		return append(header, "Enforcement", "Stacks", "Violating", "Unchecked", "Ready", "Message")
	}
	if options.Source {
		header = append(header, "Source")
	}
	header = append(header, "Revision", "Suspended", "Ready")
	if options.Wide {
		header = append(header, "Drifted", "Compliant")
	}
	return append(header, "Message")
}

// Of returns the row of an object.
func Of(object client.Object, options Options, now time.Time) []string {
	var row []string
	if options.Namespace {
		row = append(row, object.GetNamespace())
	}
	switch object := object.(type) {
	case *v1.Stack:
		row = append(row, name(object, "stack", options))
		if options.Source {
			row = append(row, Source(object))
		}
		ready, message := readiness(object.Status.Conditions)
		if running := Running(object, now); running != "" {
			message = running
		}
		row = append(row, table.Shorten(object.Status.LastAppliedRevision), yes(object.Spec.Suspend), ready)
		if options.Wide {
			row = append(row, conditionStatus(object, v1.DriftedCondition), conditionStatus(object, v1.CompliantCondition))
		}
		return append(row, table.Shorten(oneLine(message)))
	case *v1.Program:
		ready, message := readiness(object.Status.Conditions)
		return append(row, name(object, "program", options), table.Shorten(programRevision(object)), ready, table.Shorten(oneLine(message)))
	case *v1.PolicySet:
		ready, message := readiness(object.Status.Conditions)
		return append(row, name(object, "policyset", options), enforcement(object), fmt.Sprint(object.Status.Stacks), fmt.Sprint(object.Status.Violating),
			fmt.Sprint(object.Status.Unchecked), ready, table.Shorten(oneLine(message)))
	}
	return row
}

func name(object client.Object, kind string, options Options) string {
	if options.Kind {
		return kind + "/" + object.GetName()
	}
	return object.GetName()
}

// enforcement returns what follows from a violation: a PolicySet without a word for it enforces.
func enforcement(set *v1.PolicySet) string {
	if set.Enforces() {
		return string(v1.PolicyEnforce)
	}
	return string(v1.PolicyWarn)
}

func yes(value bool) string {
	if value {
		return "True"
	}
	return "False"
}

// readiness returns the Ready condition, or Flux's words while there is none.
func readiness(conditions []metav1.Condition) (status, message string) {
	if ready := apimeta.FindStatusCondition(conditions, meta.ReadyCondition); ready != nil {
		return string(ready.Status), ready.Message
	}
	return string(metav1.ConditionFalse), "waiting to be reconciled"
}

// conditionStatus returns the status of a condition of a Stack, "" if it has none.
func conditionStatus(stack *v1.Stack, conditionType string) string {
	if found := apimeta.FindStatusCondition(stack.Status.Conditions, conditionType); found != nil {
		return string(found.Status)
	}
	return ""
}

// oneLine joins the lines of a message, which would break the table.
func oneLine(message string) string { return strings.Join(strings.Fields(message), " ") }

// programRevision returns the revision of the Stacks that run a Program.
func programRevision(program *v1.Program) string {
	if program.Status.Digest == "" {
		return ""
	}
	return fmt.Sprintf("%d@%s", program.Status.ObservedGeneration, program.Status.Digest)
}

// Source names the source of a Stack's program, as Kind/namespace/name, or by its URL if
// the Stack itself has it.
func Source(stack *v1.Stack) string {
	switch {
	case stack.Spec.FluxSource != nil:
		ref := stack.Spec.FluxSource.SourceRef
		namespace := ref.Namespace
		if namespace == "" {
			namespace = stack.Namespace
		}
		return ref.Kind + "/" + namespace + "/" + ref.Name
	case stack.Spec.ProgramRef != nil:
		return "Program/" + stack.Namespace + "/" + stack.Spec.ProgramRef.Name
	case stack.Status.GitRepository != "":
		return "GitRepository/" + stack.Namespace + "/" + stack.Status.GitRepository
	default:
		// Not the URL of spec.projectRepo, which may contain a password.
		return "GitRepository/" + stack.Namespace + "/" + stack.Name
	}
}

// Message is the message of the condition Ready of a Stack.
func Message(stack *v1.Stack) string {
	_, message := readiness(stack.Status.Conditions)
	return message
}

// Running says what the run in flight does, for how long, and its progress as far as the
// status has it. It is empty without a run.
func Running(stack *v1.Stack, now time.Time) string {
	record := stack.Status.Run
	if record == nil {
		return ""
	}
	text := "Running " + string(record.Operation)
	if record.Revision != "" {
		text += " at revision " + record.Revision
	}
	_, message := readiness(stack.Status.Conditions)
	rest, isReported := strings.CutPrefix(message, text) // the message of its start
	text += " for " + elapsed(record.StartedAt.Time, now).Round(time.Second).String()
	switch progress := record.Progress; {
	case progress != nil && progress.Message != "":
		return fmt.Sprintf("%s: %s after %s", text, progress.Message, elapsed(record.StartedAt.Time, progress.LastUpdateTime.Time))
	case isReported:
		return text + rest
	case message != "":
		return text + ": " + message
	}
	return text
}

// elapsed is the time between two clocks that may differ.
func elapsed(from, to time.Time) time.Duration { return max(0, to.Sub(from)) }

// Matches reports whether a condition of the type has the status, both regardless of
// case.
func Matches(conditions []metav1.Condition, conditionType, status string) bool {
	for i := range conditions {
		if strings.EqualFold(conditions[i].Type, conditionType) {
			return strings.EqualFold(string(conditions[i].Status), status)
		}
	}
	return false
}

// Progress says what an object is doing: for a Stack with a run in flight, its age and
// progress, and for any other its Ready condition.
func Progress(object *unstructured.Unstructured, now time.Time) string {
	if stack := asStack(object); stack != nil && stack.Status.Run != nil {
		return Running(stack, now)
	}
	if waits := PreviewWait(object); waits != "" {
		return waits
	}
	_, message := readiness(Conditions(object))
	return oneLine(message)
}

// PreviewWait says that a requested preview of a Stack is queued, and why. It is empty if
// there is none, or a run is due before it.
func PreviewWait(object *unstructured.Unstructured) string {
	stack := asStack(object)
	if stack == nil {
		return ""
	}
	return PreviewQueued(stack)
}

// PreviewQueued is PreviewWait of a Stack.
func PreviewQueued(stack *v1.Stack) string {
	if stack.Status.Run != nil {
		return ""
	}
	if due := apimeta.FindStatusCondition(stack.Status.Conditions, meta.ReconcilingCondition); due != nil && due.Reason == meta.ProgressingReason {
		return ""
	}
	asked, recorded := stack.Annotations[v1.PreviewRequestAnnotation], stack.Status.Preview
	if asked == "" || recorded == nil || recorded.Request != asked || recorded.Run != "" || recorded.EndedAt != nil {
		return ""
	}
	return "The preview is queued: " + oneLine(recorded.Message)
}

// asStack returns nil if the object is not a Stack.
func asStack(object *unstructured.Unstructured) *v1.Stack {
	stack := &v1.Stack{}
	if object.GroupVersionKind() != v1.GroupVersion.WithKind("Stack") ||
		runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, stack) != nil {
		return nil
	}
	return stack
}
