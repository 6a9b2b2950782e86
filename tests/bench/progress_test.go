// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

func seenAs(name, output string, conditions ...metav1.Condition) watch.Event {
	return watch.Event{Type: watch.Modified, Object: &v1.Stack{
		ObjectMeta: metav1.ObjectMeta{Name: name, Generation: 1},
		Status: v1.StackStatus{
			ObservedGeneration: 1, Conditions: conditions,
			Outputs: map[string]apiextensionsv1.JSON{outputName: {Raw: []byte(`"` + output + `"`)}},
		},
	}}
}

func TestProgress(t *testing.T) {
	ready := metav1.Condition{Type: meta.ReadyCondition, Status: metav1.ConditionTrue}
	waiting := metav1.Condition{Type: meta.ReadyCondition, Status: metav1.ConditionUnknown}
	inFlight := seenAs("b", "new", ready)
	inFlight.Object.(*v1.Stack).Status.Run = &v1.RunStatus{ID: "1"}
	notObserved := seenAs("b", "new", ready)
	notObserved.Object.(*v1.Stack).Generation = 2

	for name, tc := range map[string]struct {
		events []watch.Event
		want   bool
	}{
		"all are Ready with the output":            {[]watch.Event{seenAs("a", "new", ready), seenAs("b", "new", ready)}, true},
		"one was seen twice and the other not yet": {[]watch.Event{seenAs("a", "new", ready), seenAs("a", "new", ready)}, false},
		"one has the output of before":             {[]watch.Event{seenAs("a", "new", ready), seenAs("b", "old", ready)}, false},
		"one is not Ready":                         {[]watch.Event{seenAs("a", "new", ready), seenAs("b", "new", waiting)}, false},
		"one has a run in flight":                  {[]watch.Event{seenAs("a", "new", ready), inFlight}, false},
		"one is Ready for an older generation":     {[]watch.Event{seenAs("a", "new", ready), notObserved}, false},
		"one is no longer Ready":                   {[]watch.Event{seenAs("a", "new", ready), seenAs("a", "new", waiting), seenAs("b", "new", ready)}, false},
		"a bookmark says nothing":                  {[]watch.Event{{Type: watch.Bookmark, Object: &metav1.Status{}}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			seen := newProgress(2, upWith("new"))
			var all bool
			for _, event := range tc.events {
				var err error
				all, err = seen.take(event)
				g.Expect(err).NotTo(HaveOccurred())
			}
			g.Expect(all).To(Equal(tc.want))
		})
	}
}

func TestProgressFails(t *testing.T) {
	failed := metav1.Condition{Type: meta.ReadyCondition, Status: metav1.ConditionFalse, Reason: "UpdateFailed", Message: "no disk"}
	stalled := metav1.Condition{Type: meta.StalledCondition, Status: metav1.ConditionTrue}
	afterFailure := seenAs("a", "", failed)
	afterFailure.Object.(*v1.Stack).Status.Failures = 1

	for name, event := range map[string]watch.Event{
		"a run failed: its retry is not to be measured": afterFailure,
		"a Stack is stalled":                            seenAs("a", "", failed, stalled),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := newProgress(2, upWith("new")).take(event)
			NewWithT(t).Expect(err).To(MatchError(ContainSubstring("Stack a: it failed: UpdateFailed: no disk")))
		})
	}
	t.Run("the watch itself fails", func(t *testing.T) {
		_, err := newProgress(2, upWith("new")).take(watch.Event{Type: watch.Error, Object: &metav1.Status{Message: "too old"}})
		NewWithT(t).Expect(err).To(MatchError(ContainSubstring("too old")))
	})
}
