// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/bounded"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/tree"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/ui/graph"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/words"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// Resources are those of a Stack, as `flux pulumi tree -o json` prints them and as a graph.
type Resources struct {
	Tree    *tree.Node   `json:"tree,omitempty"`
	Graph   *graph.Graph `json:"graph,omitempty"`
	Message string       `json:"message,omitempty"`
}

// ResourcesOf arranges the resources of a Stack. The message says what is missing of them.
func ResourcesOf(stack *v1.Stack, resources []run.Resource, message string) Resources {
	drawn := graph.OfResources(resources)
	return Resources{Tree: tree.Of(stack, resources), Graph: &drawn, Message: text(message)}
}

// Logs is the log of the run in flight, or of the last one.
type Logs struct {
	Text    string `json:"text,omitempty"`
	Message string `json:"message,omitempty"`
}

// LogsOf returns a log that the controller has kept, nil if there is none.
func LogsOf(log *run.Log, message string) Logs {
	if log == nil {
		return Logs{Message: text(message)}
	}
	return Logs{Text: words.Log(log), Message: text(message)}
}

// Events are those of a Stack, newest first.
type Events struct {
	Events  []Event `json:"events,omitempty"`
	Message string  `json:"message,omitempty"`
}

// Event is one event, which may have happened several times.
type Event struct {
	At      string `json:"at,omitempty"`
	Type    string `json:"type"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
	Count   int    `json:"count,omitempty"`
}

// EventsOf returns the newest of the events.
func EventsOf(list []corev1.Event) Events {
	sorted := slices.Clone(list)
	slices.SortStableFunc(sorted, func(a, b corev1.Event) int { return seen(&b).Compare(seen(&a).Time) })
	var shown Events
	for i := range first(sorted) {
		one, at := &sorted[i], seen(&sorted[i])
		shown.Events = append(shown.Events, Event{At: stamp(&at), Type: name(one.Type), Reason: name(one.Reason), Message: bounded.Text(one.Message, maxText), Count: int(max(1, countOf(one)))})
	}
	return shown
}

func countOf(event *corev1.Event) int32 {
	if event.Series != nil {
		return event.Series.Count
	}
	return event.Count
}

// seen returns when an event was last seen. Which field has it depends on the client that wrote it.
func seen(event *corev1.Event) metav1.Time {
	switch {
	case event.Series != nil:
		return metav1.NewTime(event.Series.LastObservedTime.Time)
	case !event.LastTimestamp.IsZero():
		return event.LastTimestamp
	case !event.EventTime.IsZero():
		return metav1.NewTime(event.EventTime.Time)
	}
	return event.CreationTimestamp
}
