// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

// stackProgram has Stacks follow a source with a program in a language.
type stackProgram struct {
	*controllerSide
	source *publisher
	lang   language
}

// newStackProgram publishes the program, in a namespace of its own. Its source is to be stopped.
func newStackProgram(ctx context.Context, side *controllerSide, lang language) (*stackProgram, error) {
	side.interval = &metav1.Duration{Duration: time.Hour} // nothing is to run beside what is timed
	if err := side.prepareNamespace(ctx, lang.name, 0); err != nil {
		return nil, err
	}
	source, err := newPublisher(ctx, side.system, filepath.Join(side.dir, "artifacts"), side.namespace)
	if err != nil {
		return nil, err
	}
	p := &stackProgram{controllerSide: side, source: source, lang: lang}
	return p, p.publish(ctx, beforeTheEdit)
}

func (p *stackProgram) publish(ctx context.Context, greeting string) error {
	if err := p.source.serve(p.lang.files(greeting)); err != nil {
		return err
	}
	return p.source.tell(ctx)
}

// stack is the nth, with the value in its configuration.
func (p *stackProgram) stack(n int, value string) *v1.Stack {
	stack := p.controllerSide.stack(n)
	stack.Spec.ProgramRef = nil
	stack.Spec.FluxSource = theSource()
	stack.Spec.Config = configOf(value)
	for name, text := range p.lang.env {
		stack.Spec.EnvRefs[name] = v1.ResourceRef{Type: v1.ResourceRefLiteral, Literal: &v1.LiteralValue{Value: text}}
	}
	return stack
}

// configOf is a configuration with the value, which needs no quotes but those of JSON.
func configOf(value string) map[string]apiextensionsv1.JSON {
	return map[string]apiextensionsv1.JSON{valueKey: {Raw: fmt.Appendf(nil, "%q", value)}}
}

func (p *stackProgram) create(ctx context.Context, now shown, first, stacks int) (span, error) {
	return p.awaitShown(ctx, now, first, stacks, func() error {
		for n := first; n < first+stacks; n++ {
			if err := p.system.Create(ctx, p.stack(n, now.value)); err != nil {
				return fmt.Errorf("making Stack %s: %w", stackName(n), err)
			}
		}
		return nil
	})
}

func (p *stackProgram) configure(ctx context.Context, now shown) (span, error) {
	stack := &v1.Stack{}
	if err := p.system.Get(ctx, client.ObjectKey{Namespace: p.namespace, Name: stackName(0)}, stack); err != nil {
		return span{}, fmt.Errorf("reading the Stack: %w", err)
	}
	before := stack.DeepCopy()
	stack.Spec.Config = configOf(now.value)
	return p.awaitShown(ctx, now, 0, 1, func() error {
		if err := p.system.Patch(ctx, stack, client.MergeFrom(before)); err != nil {
			return fmt.Errorf("editing the Stack: %w", err)
		}
		return nil
	})
}

func (p *stackProgram) commit(ctx context.Context, now shown) (span, error) {
	return p.awaitShown(ctx, now, 0, 1, func() error { return p.publish(ctx, now.greeting) })
}

// awaitShown measures until as many Stacks from the first on are Ready and show what they are to show. Others do not count.
func (p *stackProgram) awaitShown(ctx context.Context, now shown, first, stacks int, change func() error) (span, error) {
	names := map[string]bool{}
	for n := first; n < first+stacks; n++ {
		names[stackName(n)] = true
	}
	p.stacks = stacks
	up := upWith(now.String())
	return p.changeAndAwait(ctx, func(stack *v1.Stack) bool { return names[stack.Name] && up(stack) }, change)
}
