// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package failure prints at the end of a failed test what a person looks for first: the conditions of its Stacks, the
// last events, and the end of the controller's log. It fits ten lines, so that it is what one sees.
package failure

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

const (
	// timeout of all reads: an API server that is gone must not hold up the end of a test.
	timeout = 5 * time.Second

	maxObjects, maxEvents, maxLogLines = 4, 3, 3
	maxLine                            = 400
	// logBytes is how much of the end of a log is searched.
	logBytes = 256 << 10
)

// Report describes the namespace if the test has failed, before the cleanup of what was there before the call. The log
// may be nil.
func Report(t testing.TB, api client.Reader, namespace string, log func() ([]byte, error)) {
	t.Helper()
	t.Cleanup(func() {
		if !t.Failed() {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), timeout)
		defer cancel()
		t.Log("\n" + strings.Join(Describe(ctx, api, namespace, log), "\n"))
	})
}

// Describe returns at most ten lines.
func Describe(ctx context.Context, api client.Reader, namespace string, log func() ([]byte, error)) []string {
	lines := append(objects(ctx, api, namespace), events(ctx, api, namespace)...)
	if log != nil {
		text, err := log()
		if err != nil {
			return append(lines, line("the log of the controller: %v", err))
		}
		lines = append(lines, logLines(text, namespace)...)
	}
	return lines
}

// LogFile reads the end of a file.
func LogFile(path string) func() ([]byte, error) {
	return func() ([]byte, error) {
		file, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer func() { _ = file.Close() }()
		if info, err := file.Stat(); err == nil && info.Size() > logBytes {
			if _, err := file.Seek(-logBytes, io.SeekEnd); err != nil {
				return nil, err
			}
		}
		return io.ReadAll(io.LimitReader(file, logBytes))
	}
}

// objects describes those that are not ready first.
func objects(ctx context.Context, api client.Reader, namespace string) []string {
	stacks := &v1.StackList{}
	if err := api.List(ctx, stacks, client.InNamespace(namespace)); err != nil {
		return []string{line("the Stacks of %s: %v", namespace, err)}
	}
	slices.SortStableFunc(stacks.Items, func(a, b v1.Stack) int {
		return cmp.Compare(rank(&a), rank(&b))
	})
	var lines []string
	for i := range stacks.Items {
		if i == maxObjects-1 && len(stacks.Items) > maxObjects {
			return append(lines, line("and %d more Stacks in %s", len(stacks.Items)-i, namespace))
		}
		lines = append(lines, describe(&stacks.Items[i]))
	}
	return lines
}

func rank(stack *v1.Stack) int {
	if conditions.IsReady(stack) {
		return 1
	}
	return 0
}

func describe(stack *v1.Stack) string {
	text := fmt.Sprintf("Stack %s/%s: generation %d, observed %d", stack.Namespace, stack.Name, stack.Generation, stack.Status.ObservedGeneration)
	if r := stack.Status.Run; r != nil {
		text += fmt.Sprintf(", run %s (%s)", r.ID, r.Operation)
	}
	for _, condition := range stack.Status.Conditions {
		text += fmt.Sprintf("; %s=%s %s", condition.Type, condition.Status, condition.Reason)
		// The message of the others is mostly that of Ready.
		if condition.Type == meta.ReadyCondition {
			text += ": " + condition.Message
		}
	}
	return line("%s", text)
}

func events(ctx context.Context, api client.Reader, namespace string) []string {
	list := &corev1.EventList{}
	if err := api.List(ctx, list, client.InNamespace(namespace)); err != nil {
		return []string{line("the events of %s: %v", namespace, err)}
	}
	slices.SortStableFunc(list.Items, func(a, b corev1.Event) int { return happened(&a).Compare(happened(&b).Time) })
	var lines []string
	for _, event := range list.Items[max(0, len(list.Items)-maxEvents):] {
		lines = append(lines, line("event %s %s/%s %s %s: %s", happened(&event).UTC().Format(time.TimeOnly),
			event.InvolvedObject.Kind, event.InvolvedObject.Name, event.Type, event.Reason, event.Message))
	}
	return lines
}

func happened(event *corev1.Event) metav1.Time {
	if event.LastTimestamp.IsZero() {
		return event.CreationTimestamp
	}
	return event.LastTimestamp
}

// logLines returns the last lines about the namespace, or the last of all if there are none.
func logLines(text []byte, namespace string) []string {
	text = bytes.TrimSpace(text)
	if len(text) == 0 {
		return nil
	}
	all := strings.Split(string(text), "\n")
	found := slices.DeleteFunc(slices.Clone(all), func(l string) bool { return !strings.Contains(l, namespace) })
	if len(found) == 0 {
		found = all
	}
	var lines []string
	for _, l := range found[max(0, len(found)-maxLogLines):] {
		lines = append(lines, line("log %s", l))
	}
	return lines
}

// line is one line of bounded length.
func line(format string, args ...any) string {
	text := strings.Join(strings.Fields(fmt.Sprintf(format, args...)), " ")
	if len(text) > maxLine {
		text = strings.ToValidUTF8(text[:maxLine], "") + "..."
	}
	return text
}
