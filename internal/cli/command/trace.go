// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/cluster"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/rows"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/table"
)

func newTrace(s *session) *cobra.Command {
	return newGroup("trace", "Trace a Stack to its source and to what applied it", &cobra.Command{
		Use: "stack [name]", Aliases: []string{"stacks"},
		Short: "Trace a Stack to its source and commit, and to the Kustomization or HelmRelease that applied it",
		Example: `  # Trace a Stack
  flux pulumi trace stack network -n apps`,
		ValidArgsFunction: s.completeName(cluster.Stack().GroupVersionKind),
		RunE:              s.onOne(cluster.Stack(), s.traceStack),
	})
}

func (s *session) traceStack(ctx context.Context, api client.WithWatch, of target) error {
	object, err := of.get(ctx, api)
	if err != nil {
		return err
	}
	stack := &v1.Stack{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, stack); err != nil {
		return fmt.Errorf("reading Stack %s: %w", of.Name, err)
	}
	applier := applierOf(object)
	page := &tracePage{out: s.Out}
	page.stack(stack, object, applier)
	traceSource(ctx, api, page, sourceOf(stack))
	if applier != nil {
		traceApplier(ctx, api, page, *applier)
	}
	if page.err != nil {
		return page.err
	}
	return s.tellAll(ctx, page.unread, fmt.Sprintf("the trace of Stack %s is incomplete", of.Name))
}

// sourceOf returns the object that provides the program of a Stack.
func sourceOf(stack *v1.Stack) target {
	parts := strings.SplitN(rows.Source(stack), "/", 3)
	kind := sourcev1.GroupVersion.WithKind(parts[0])
	if parts[0] == v1.ProgramKind {
		kind = cluster.Program().GroupVersionKind
	}
	return target{kind, client.ObjectKey{Namespace: parts[1], Name: parts[2]}}
}

// applierOf returns the object that applied this one, according to Flux's labels.
func applierOf(object *unstructured.Unstructured) *target {
	labels := object.GetLabels()
	for _, kind := range []schema.GroupVersionKind{
		{Group: "kustomize.toolkit.fluxcd.io", Version: "v1", Kind: "Kustomization"},
		{Group: "helm.toolkit.fluxcd.io", Version: "v2", Kind: "HelmRelease"},
	} {
		if name, namespace := labels[kind.Group+"/name"], labels[kind.Group+"/namespace"]; name != "" && namespace != "" {
			return &target{kind, client.ObjectKey{Namespace: namespace, Name: name}}
		}
	}
	return nil
}

// found reads an object to continue with. It returns nil if that is missing or
// unreadable, which the page then says, and the rest is still traced.
func (p *tracePage) found(ctx context.Context, api client.Reader, of target) *unstructured.Unstructured {
	object, err := of.get(ctx, api)
	switch {
	case apierrors.IsNotFound(err) || apimeta.IsNoMatchError(err):
		p.without(of, "Not found")
		return nil
	case err != nil:
		p.without(of, "Not readable")
		p.unread = append(p.unread, fmt.Errorf("failed to find %s: %w", of.Kind, err))
		return nil
	}
	return object
}

func traceSource(ctx context.Context, api client.Reader, page *tracePage, of target) {
	if object := page.found(ctx, api, of); object != nil {
		page.source(object)
	}
}

// traceApplier traces the object that applied the Stack, and its source.
func traceApplier(ctx context.Context, api client.Reader, page *tracePage, of target) {
	object := page.found(ctx, api, of)
	if object == nil {
		return
	}
	page.applier(object)
	for _, path := range [][]string{{"spec", "sourceRef"}, {"spec", "chartRef"}, {"spec", "chart", "spec", "sourceRef"}} {
		ref, found, _ := unstructured.NestedStringMap(object.Object, path...)
		if !found {
			continue
		}
		key := client.ObjectKey{Namespace: ref["namespace"], Name: ref["name"]}
		if key.Namespace == "" {
			key.Namespace = of.Namespace
		}
		traceSource(ctx, api, page, target{sourcev1.GroupVersion.WithKind(ref["kind"]), key})
		return
	}
}

// tracePage prints the parts of a trace as flux trace does.
type tracePage struct {
	out io.Writer
	// err is the error of printing.
	err error
	// unread are the errors of parts missing from the page.
	unread []error
}

func (p *tracePage) field(name, value string) {
	if value != "" {
		_, err := fmt.Fprintf(p.out, "%-17s%s\n", name+":", table.Visible(strings.Join(strings.Fields(value), " ")))
		p.err = errors.Join(p.err, err)
	}
}

func (p *tracePage) part(of target) {
	_, err := fmt.Fprintln(p.out, "---")
	p.err = errors.Join(p.err, err)
	p.field(of.Kind, of.Name)
	p.field("Namespace", of.Namespace)
}

func (p *tracePage) without(of target, status string) {
	p.part(of)
	p.field("Status", status)
}

func (p *tracePage) stack(stack *v1.Stack, object *unstructured.Unstructured, applier *target) {
	p.field("Object", "Stack/"+stack.Name)
	p.field("Namespace", stack.Namespace)
	if applier != nil {
		p.field("Status", "Managed by Flux")
	} else {
		p.field("Status", "Not managed by Flux: it has no labels of a Kustomization or a HelmRelease")
	}
	p.part(target{cluster.Stack().GroupVersionKind, client.ObjectKeyFromObject(stack)})
	p.field("Pulumi stack", stack.Spec.Stack)
	p.field("Revision", stack.Status.LastAppliedRevision)
	p.field("Origin Revision", stack.Status.LastAppliedOriginRevision)
	if stack.Status.LastAttemptedRevision != stack.Status.LastAppliedRevision {
		p.field("Attempted", stack.Status.LastAttemptedRevision)
	}
	p.status(object)
}

func (p *tracePage) source(object *unstructured.Unstructured) {
	p.part(target{object.GroupVersionKind(), client.ObjectKeyFromObject(object)})
	text := func(path ...string) string {
		value, _, _ := unstructured.NestedString(object.Object, path...)
		return value
	}
	p.field("URL", withoutUser(text("spec", "url")))
	p.field("Endpoint", text("spec", "endpoint"))
	p.field("Bucket", text("spec", "bucketName"))
	for _, ref := range []struct{ name, key string }{{"Commit", "commit"}, {"Digest", "digest"}, {"Tag", "tag"}, {"Tag", "semver"}, {"Branch", "branch"}} {
		if value := text("spec", "ref", ref.key); value != "" {
			p.field(ref.name, value)
			break
		}
	}
	p.field("Revision", text("status", "artifact", "revision"))
	origin, _, _ := unstructured.NestedStringMap(object.Object, "status", "artifact", "metadata")
	p.field("Origin Source", withoutUser(origin["org.opencontainers.image.source"]))
	p.field("Origin Revision", origin["org.opencontainers.image.revision"])
	if digest := text("status", "digest"); digest != "" {
		generation, _, _ := unstructured.NestedInt64(object.Object, "status", "observedGeneration")
		p.field("Revision", fmt.Sprintf("%d@%s", generation, digest))
	}
	p.status(object)
}

func (p *tracePage) applier(object *unstructured.Unstructured) {
	p.part(target{object.GroupVersionKind(), client.ObjectKeyFromObject(object)})
	for _, field := range []struct {
		name string
		path []string
	}{
		{"Target", []string{"spec", "targetNamespace"}},
		{"Path", []string{"spec", "path"}},
		{"Chart", []string{"spec", "chart", "spec", "chart"}},
		{"Revision", []string{"status", "lastAppliedRevision"}},
	} {
		value, _, _ := unstructured.NestedString(object.Object, field.path...)
		p.field(field.name, value)
	}
	p.status(object)
}

func (p *tracePage) status(object *unstructured.Unstructured) {
	ready := apimeta.FindStatusCondition(rows.Conditions(object), meta.ReadyCondition)
	if ready == nil {
		p.field("Status", "Unknown")
		return
	}
	words := "Last reconciled at "
	if ready.Status == metav1.ConditionFalse {
		words = "Last reconciliation failed at "
	}
	p.field("Status", words+ready.LastTransitionTime.UTC().Format(time.RFC3339))
	p.field("Message", ready.Message)
}

// withoutUser removes a token or a password from a URL.
func withoutUser(text string) string {
	if parsed, err := url.Parse(text); err == nil && parsed.User != nil {
		if _, secret := parsed.User.Password(); secret || parsed.Scheme != "ssh" {
			parsed.User = nil
			return parsed.String()
		}
	}
	return text
}
