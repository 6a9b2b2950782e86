// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/cluster"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/logs"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/records"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/ui"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/ui/graph"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/ui/view"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/words"
	"github.com/flux-pulumi/pulumi-controller/internal/history"
	"github.com/flux-pulumi/pulumi-controller/internal/observe"
)

// The parts of the view of a Stack that are read when they are opened.
const (
	partPlan      = "plan"
	partDrift     = "drift"
	partResources = "resources"
	partHistory   = "history"
	partEvents    = "events"
	partLogs      = "logs"
)

const (
	// maxLogLines bounds how much of the log of each pod is read, and maxLog what is shown of all, in bytes.
	maxLogLines = 1000
	maxLog      = 1 << 20
)

// Row implements ui.Commands.
func (p *pageCommands) Row(stack *v1.Stack) any { return view.RowOf(stack) }

// Graph implements ui.Commands.
func (p *pageCommands) Graph(stacks []*v1.Stack, focus, message string) any {
	drawn := graph.OfStacks(stacks, focus, view.StateOf)
	drawn.Message = cmp.Or(message, drawn.Message)
	return drawn
}

// Detail implements ui.Commands. What cannot be read is missing, and the warnings say so. If the API server does not answer,
// there is none.
func (p *pageCommands) Detail(ctx context.Context, stack *v1.Stack) (any, error) {
	in := view.Input{Stack: stack, Progress: p.progress(stack), Now: p.session.Now()}
	var away error
	note := func(err error) {
		if cluster.IsAway(err) {
			away = cmp.Or(away, err)
		}
		if err != nil {
			in.Warnings = append(in.Warnings, err.Error())
		}
	}
	var err error
	in.Explained, err = observe.Explain(ctx, withoutSecrets{p.api}, stack, p.options, p.session.Now)
	note(err)
	in.Warnings = append(in.Warnings, otherFlags(stack, p.options)...)
	in.Records, err = records.Of(ctx, p.api, stack)
	if apierrors.IsForbidden(err) {
		err = fmt.Errorf("these are the last results in the status: %w", err)
	}
	note(err)
	if of := words.ShownPlan(stack); of != nil {
		read, err := readPlan(ctx, p.api, stack, of)
		if err == nil {
			in.Plan = &read
		}
		note(err)
	}
	in.Allowed, err = p.allowed(ctx, stack)
	if err != nil {
		in.Unknown = err.Error()
	}
	note(err)
	if away = cmp.Or(away, ctx.Err()); away != nil {
		return nil, away
	}
	return view.DetailOf(in), nil
}

// Part implements ui.Commands.
func (p *pageCommands) Part(ctx context.Context, stack *v1.Stack, part, run string) (any, error) {
	switch {
	case part == partHistory && run != "":
		return p.ended(ctx, stack, run)
	case run != "":
		return nil, ui.ErrNoPart
	}
	switch part {
	case partPlan:
		return p.plan(ctx, stack), nil
	case partPreview:
		return p.previewed(ctx, stack), nil
	case partDrift:
		return p.drift(ctx, stack), nil
	case partResources:
		return p.resources(ctx, stack), nil
	case partEvents:
		return p.events(ctx, stack)
	case partLogs:
		return p.logs(ctx, stack)
	}
	return nil, ui.ErrNoPart
}

func (p *pageCommands) plan(ctx context.Context, stack *v1.Stack) view.PlanAnswer {
	of := words.ShownPlan(stack)
	if of == nil {
		return view.PlanAnswerOf(stack, nil, "")
	}
	read, err := readPlan(ctx, p.api, stack, of)
	if err != nil {
		return view.PlanAnswerOf(stack, nil, err.Error())
	}
	return view.PlanAnswerOf(stack, &read, "")
}

func (p *pageCommands) drift(ctx context.Context, stack *v1.Stack) view.DriftAnswer {
	if of := stack.Status.Drift; of == nil || of.Digest == "" {
		return view.DriftAnswerOf(nil, "")
	}
	found, err := readDrift(ctx, p.api, stack)
	if err != nil {
		return view.DriftAnswerOf(nil, err.Error())
	}
	return view.DriftAnswerOf(&found, "")
}

func (p *pageCommands) resources(ctx context.Context, stack *v1.Stack) view.Resources {
	list, err := readResources(ctx, p.api, stack)
	if err != nil {
		return view.Resources{Message: err.Error()}
	}
	return view.ResourcesOf(stack, list, stack.Status.Inventory.Message)
}

// Left implements ui.Commands. What was retained is read with the rights of the person, as everything is.
func (p *pageCommands) Left(ctx context.Context, stack client.ObjectKey, run string) (any, error) {
	kept, err := records.Read(ctx, p.api, stack.Namespace, stack.Name)
	switch {
	case apierrors.IsNotFound(err) || err == nil && !kept.Gone:
		return nil, nil
	case err != nil:
		return nil, err
	case run == "":
		return view.HistoryOf(kept.Entries), nil
	}
	return endedIn(kept, run)
}

// ended returns what a run has changed that has ended.
func (p *pageCommands) ended(ctx context.Context, stack *v1.Stack, id string) (any, error) {
	kept, err := records.Of(ctx, p.api, stack)
	if err != nil {
		return nil, err
	}
	return endedIn(kept, id)
}

func endedIn(kept *records.Records, id string) (any, error) {
	for _, entry := range kept.Entries {
		if history.Run(entry.Metadata) != id && !slices.Contains(history.ChangedIn(entry.Metadata), id) {
			continue
		}
		room := records.MaxShown
		log, err := kept.Log(id)
		if err != nil {
			log = nil // most have none
		}
		return view.RunAnswerOf(entry, kept.Changes(entry, &room), id, log), nil
	}
	return nil, fmt.Errorf("there is no record of run %q", id)
}

func (p *pageCommands) events(ctx context.Context, stack *v1.Stack) (any, error) {
	s, _, said := p.quiet()
	subjects := subjectsOf(stack)
	list := &eventsView{session: s, namespaces: namespacesOf(subjects), shown: func(event *corev1.Event) bool {
		return slices.ContainsFunc(subjects, func(of subject) bool { return of.matches(event) })
	}}
	found, err := list.read(ctx, p.api)
	if err != nil {
		return nil, err
	}
	shown := view.EventsOf(found)
	shown.Message = strings.Join(texts(said.String(), "⚠️"), "\n")
	return shown, nil
}

func (p *pageCommands) logs(ctx context.Context, stack *v1.Stack) (any, error) {
	s, _, said := p.quiet()
	end := &tail{most: maxLog}
	s.Out = end
	lines := int64(maxLogLines)
	filter := logs.Filter{Kinds: []string{cluster.Stack().Kind}, Namespace: stack.Namespace, Name: stack.Name}
	of, err := newLogsView(s, p.api, corev1.PodLogOptions{TailLines: &lines}, filter)
	if err != nil {
		return nil, err
	}
	err = of.print(ctx, p.fluxNamespace)
	notes := texts(said.String(), "⚠️")
	if err != nil {
		notes = append(notes, err.Error())
	}
	return view.Logs{Text: end.text(), Message: strings.Join(notes, "\n")}, nil
}

// tail keeps the end of what is written to it.
type tail struct {
	most int
	kept []byte
	cut  bool
}

// Write implements io.Writer.
func (t *tail) Write(text []byte) (int, error) {
	t.kept = append(t.kept, text...)
	if left := len(t.kept) - t.most; left > 0 {
		t.kept, t.cut = append(t.kept[:0], t.kept[left:]...), true
	}
	return len(text), nil
}

// text returns whole lines.
func (t *tail) text() string {
	text := string(t.kept)
	if t.cut {
		_, text, _ = strings.Cut(text, "\n")
	}
	return strings.ToValidUTF8(text, "")
}

// withoutSecrets is a client that reads no Secret: nothing that the page shows may come from one.
type withoutSecrets struct{ client.Client }

// Get implements client.Reader.
func (w withoutSecrets) Get(ctx context.Context, key client.ObjectKey, into client.Object, options ...client.GetOption) error {
	if w.isSecret(into) {
		return errNoSecret(key.Name)
	}
	return w.Client.Get(ctx, key, into, options...)
}

// List implements client.Reader.
func (w withoutSecrets) List(ctx context.Context, into client.ObjectList, options ...client.ListOption) error {
	if w.isSecret(into) {
		return errNoSecret("")
	}
	return w.Client.List(ctx, into, options...)
}

// isSecret reports whether an object, or a list, is of Secrets. What is of no known kind is taken for one.
func (w withoutSecrets) isSecret(object runtime.Object) bool {
	kind, err := w.GroupVersionKindFor(object)
	return err != nil || kind.Group == corev1.GroupName && strings.TrimSuffix(kind.Kind, "List") == "Secret"
}

func errNoSecret(name string) error {
	return apierrors.NewForbidden(corev1.Resource("secrets"), name, errors.New("the page reads no Secrets: run flux pulumi debug"))
}
