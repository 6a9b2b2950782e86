// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/duration"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/cluster"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/rows"
)

// eventsFlags are the flags of flux events.
type eventsFlags struct {
	allNamespaces, watch bool
	about                string
	types                []string
}

func newEvents(s *session) *cobra.Command {
	flags := &eventsFlags{}
	cmd := &cobra.Command{
		Use:   "events",
		Short: "Show the events of Stacks and Programs",
		Example: `  # Show the events of a Stack and of its source
  flux pulumi events --for Stack/network -n apps

  # Show all warnings
  flux pulumi events -A --types Warning`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return s.events(cmd, flags) },
	}
	set := cmd.Flags()
	set.BoolVarP(&flags.allNamespaces, "all-namespaces", "A", false, "show events in all namespaces")
	set.BoolVarP(&flags.watch, "watch", "w", false, "print new events until interrupted")
	set.StringVar(&flags.about, "for", "", "show the events of a kind, such as Stack, or of one object and its source, such as Stack/name")
	set.StringSliceVar(&flags.types, "types", nil, "only show events of these types: Normal, Warning")
	completeValues(cmd, "types", corev1.EventTypeNormal, corev1.EventTypeWarning)
	_ = cmd.RegisterFlagCompletionFunc("for", s.completeObjects(cluster.Stack(), cluster.Program())) // cannot fail: the flag exists
	return cmd
}

// subject selects the objects whose events are shown. An empty name selects all of the
// kind.
type subject struct{ kind, namespace, name string }

func (s subject) matches(event *corev1.Event) bool {
	object := event.InvolvedObject
	return strings.EqualFold(s.kind, object.Kind) && (s.name == "" || s.name == object.Name) && (s.namespace == "" || s.namespace == object.Namespace)
}

func (s *session) events(cmd *cobra.Command, flags *eventsFlags) error {
	for _, wanted := range flags.types {
		if !strings.EqualFold(wanted, corev1.EventTypeNormal) && !strings.EqualFold(wanted, corev1.EventTypeWarning) {
			return fmt.Errorf("type '%s' not supported. Supported types are Normal, Warning", wanted)
		}
	}
	ctx, cancel := s.limitedUnless(cmd, flags.watch)
	defer cancel()
	api, err := s.connect(ctx)
	if err != nil {
		return err
	}
	subjects, err := s.subjects(ctx, api, flags)
	if err != nil {
		return err
	}
	shown := func(event *corev1.Event) bool {
		ofType := len(flags.types) == 0 || slices.ContainsFunc(flags.types, func(wanted string) bool { return strings.EqualFold(wanted, event.Type) })
		return ofType && slices.ContainsFunc(subjects, func(of subject) bool { return of.matches(event) })
	}
	view := &eventsView{session: s, namespaces: namespacesOf(subjects), shown: shown}
	if flags.watch {
		return view.watch(ctx, api)
	}
	return view.list(ctx, api)
}

// subjects returns the subjects of --for, or both kinds. A named Stack adds its source,
// whose events often explain why the Stack is stuck.
func (s *session) subjects(ctx context.Context, api client.Reader, flags *eventsFlags) ([]subject, error) {
	namespace := s.namespace()
	if flags.allNamespaces {
		namespace = ""
	}
	if flags.about == "" {
		return []subject{{kind: cluster.Stack().Kind, namespace: namespace}, {kind: cluster.Program().Kind, namespace: namespace}}, nil
	}
	kind, name, _ := strings.Cut(flags.about, "/")
	if kind == "" {
		return nil, errors.New("--for selector must be of format <kind>[/<name>]")
	}
	of := subject{kind: kind, namespace: namespace, name: name}
	isStack := strings.EqualFold(kind, cluster.Stack().Kind)
	if !isStack && !strings.EqualFold(kind, cluster.Program().Kind) {
		return nil, fmt.Errorf("'%s' is not a recognized kind: Stack or Program is expected", kind)
	}
	if !isStack || name == "" || flags.allNamespaces {
		return []subject{of}, nil
	}
	stack := &v1.Stack{}
	if err := api.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, stack); err != nil {
		return nil, cluster.Explain(err)
	}
	return subjectsOf(stack), nil
}

// subjectsOf returns a Stack and its source.
func subjectsOf(stack *v1.Stack) []subject {
	source := strings.SplitN(rows.Source(stack), "/", 3)
	return []subject{{kind: cluster.Stack().Kind, namespace: stack.Namespace, name: stack.Name}, {kind: source[0], namespace: source[1], name: source[2]}}
}

// seen formats how long ago an event was last seen, and how often since when.
func (s *session) seen(event *corev1.Event) string {
	last, count := s.ago(lastSeen(event)), countOfEvent(event)
	if count <= 1 {
		return last
	}
	first := event.EventTime.Time
	if first.IsZero() {
		first = event.FirstTimestamp.Time
	}
	return fmt.Sprintf("%s (x%d over %s)", last, count, s.ago(first))
}

func (s *session) ago(then time.Time) string {
	if then.IsZero() {
		return "<unknown>"
	}
	return duration.HumanDuration(max(0, s.Now().Sub(then))) // clocks may differ
}

// countOfEvent returns how often an event was seen.
func countOfEvent(event *corev1.Event) int32 {
	if event.Series != nil {
		return event.Series.Count
	}
	return event.Count
}

// lastSeen returns the time of an event, which may be in any of several fields.
func lastSeen(event *corev1.Event) time.Time {
	switch {
	case event.Series != nil:
		return event.Series.LastObservedTime.Time
	case !event.LastTimestamp.IsZero():
		return event.LastTimestamp.Time
	case !event.EventTime.IsZero():
		return event.EventTime.Time
	default:
		return event.FirstTimestamp.Time
	}
}
