// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/system"
)

// controllerSide runs the same stacks as Stacks.
type controllerSide struct {
	system *system.System
	// dir is where the backends are.
	dir string
	// interval of the Stacks. Without one they have the default.
	interval *metav1.Duration
	// approval of the Stacks, nil for none.
	approval *v1.Approval

	// Of the round; no namespace means that there was none yet.
	namespace string
	stacks    int
	backend   string
}

// prepare creates a namespace with the Program and the passphrase, and an empty backend.
func (s *controllerSide) prepare(ctx context.Context, round string, stacks int) error {
	spec, err := program(beforeTheEdit)
	if err != nil {
		return err
	}
	if err := s.prepareNamespace(ctx, round, stacks); err != nil {
		return err
	}
	if err := s.system.Create(ctx, &v1.Program{ObjectMeta: s.named(programName), Program: spec}); err != nil {
		return fmt.Errorf("preparing the round: %w", err)
	}
	return nil
}

// prepareNamespace creates a namespace with the passphrase, and an empty backend.
func (s *controllerSide) prepareNamespace(ctx context.Context, round string, stacks int) error {
	s.namespace, s.stacks, s.backend = round, stacks, filepath.Join(s.dir, "backend-"+round)
	if err := os.Mkdir(s.backend, 0o700); err != nil {
		return fmt.Errorf("preparing the round: %w", err)
	}
	for _, object := range []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.namespace}},
		&corev1.Secret{ObjectMeta: s.named("passphrase"), StringData: map[string]string{"passphrase": passphrase}},
	} {
		if err := s.system.Create(ctx, object); err != nil {
			return fmt.Errorf("preparing the round: %w", err)
		}
	}
	return nil
}

func (s *controllerSide) named(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: s.namespace, Name: name}
}

func (s *controllerSide) stack(n int) *v1.Stack {
	return &v1.Stack{
		ObjectMeta: s.named(stackName(n)),
		Spec: v1.StackSpec{
			Stack:      stackName(n),
			Interval:   s.interval,
			Approval:   s.approval,
			Backend:    "file://" + s.backend,
			ProgramRef: &v1.ProgramReference{Name: programName},
			EnvRefs: map[string]v1.ResourceRef{passphraseName: {
				Type:   v1.ResourceRefSecret,
				Secret: &v1.SecretKeyReference{Name: "passphrase", Key: "passphrase"},
			}},
		},
	}
}

// create makes the Stacks, one after the other as `kubectl apply` does, and
// waits until all are Ready.
func (s *controllerSide) create(ctx context.Context) (span, error) {
	return s.changeAndAwait(ctx, upWith(beforeTheEdit), func() error { return s.createAll(ctx) })
}

func (s *controllerSide) createAll(ctx context.Context) error {
	for n := range s.stacks {
		if err := s.system.Create(ctx, s.stack(n)); err != nil {
			return fmt.Errorf("making Stack %s: %w", stackName(n), err)
		}
	}
	return nil
}

// update edits the one Program of all Stacks.
func (s *controllerSide) update(ctx context.Context) (span, error) {
	spec, err := program(afterTheEdit)
	if err != nil {
		return span{}, err
	}
	object := &v1.Program{}
	if err := s.system.Get(ctx, client.ObjectKey{Namespace: s.namespace, Name: programName}, object); err != nil {
		return span{}, fmt.Errorf("reading the Program: %w", err)
	}
	object.Program = spec
	return s.changeAndAwait(ctx, upWith(afterTheEdit), func() error {
		if err := s.system.Update(ctx, object); err != nil {
			return fmt.Errorf("editing the Program: %w", err)
		}
		return nil
	})
}

// upWith reports whether a Stack is Ready with the greeting.
func upWith(greeting string) func(*v1.Stack) bool {
	return func(stack *v1.Stack) bool {
		var shown string
		err := json.Unmarshal(stack.Status.Outputs[outputName].Raw, &shown)
		return err == nil && shown == greeting && settled(stack)
	}
}

// settled reports whether a Stack is Ready with its current spec.
func settled(stack *v1.Stack) bool {
	return stack.Status.Run == nil && stack.Status.ObservedGeneration == stack.Generation &&
		apimeta.IsStatusConditionTrue(stack.Status.Conditions, meta.ReadyCondition)
}

// changeAndAwait watches while the change is made, and measures from before the
// change until the last Stack was seen as it is to be. The watch is open before,
// so no moment is missed and none is late.
func (s *controllerSide) changeAndAwait(ctx context.Context, done func(*v1.Stack) bool, change func() error) (span, error) {
	watcher, err := s.watch(ctx)
	if err != nil {
		return span{}, err
	}
	defer watcher.Stop()
	began := time.Now()
	changed := make(chan error, 1)
	go func() { changed <- change() }()
	if err := s.await(ctx, watcher, changed, newProgress(s.stacks, done)); err != nil {
		return span{}, err
	}
	return span{began: began, done: time.Now()}, nil
}

// await waits until all Stacks are done, or something fails.
func (s *controllerSide) await(ctx context.Context, watcher watch.Interface, changed <-chan error, seen *progress) error {
	for {
		select {
		case event, open := <-watcher.ResultChan():
			if !open {
				return errors.Join(errors.New("the watch ended too early"), ctx.Err())
			}
			if all, err := seen.take(event); all || err != nil {
				return err
			}
		case err := <-changed:
			if err != nil {
				return err
			}
			changed = nil
		case <-s.system.Controller.Done():
			return errors.Join(errors.New("the controller ended"), s.system.Controller.Wait())
		case <-ctx.Done():
			return fmt.Errorf("waiting for the Stacks: %w; %s", ctx.Err(), seen)
		}
	}
}

// watch sees the Stacks of the round from now on.
func (s *controllerSide) watch(ctx context.Context) (watch.Interface, error) {
	var now v1.StackList
	if err := s.system.List(ctx, &now, client.InNamespace(s.namespace), client.Limit(1)); err != nil { // for its version
		return nil, fmt.Errorf("listing Stacks: %w", err)
	}
	watcher, err := s.system.Watch(ctx, &v1.StackList{}, client.InNamespace(s.namespace),
		&client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: now.ResourceVersion}})
	if err != nil {
		return nil, fmt.Errorf("watching Stacks: %w", err)
	}
	return watcher, nil
}

// clear deletes the Stacks of the previous round and waits until they are gone.
func (s *controllerSide) clear(ctx context.Context) error {
	if s.namespace == "" {
		return nil
	}
	watcher, err := s.watch(ctx)
	if err != nil {
		return err
	}
	defer watcher.Stop()
	if err := s.system.DeleteAllOf(ctx, &v1.Stack{}, client.InNamespace(s.namespace)); err != nil {
		return fmt.Errorf("deleting the Stacks of the round before: %w", err)
	}
	for gone := 0; gone < s.stacks; {
		select {
		case event, open := <-watcher.ResultChan():
			if !open {
				return errors.Join(errors.New("the watch ended too early"), ctx.Err())
			}
			if event.Type == watch.Deleted {
				gone++
			}
		case <-ctx.Done():
			return fmt.Errorf("waiting for deleted Stacks: %w", ctx.Err())
		}
	}
	s.namespace = ""
	return nil
}
