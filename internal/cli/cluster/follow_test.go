// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

func TestAResumedWatchDoesNotRepeatChanges(t *testing.T) {
	event := func(change watch.EventType, name, version string) watch.Event {
		return watch.Event{Type: change, Object: &corev1.Event{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), ResourceVersion: version}}}
	}
	expired := watch.Event{Type: watch.Error, Object: &apierrors.NewResourceExpired("too old").ErrStatus}
	watches := [][]watch.Event{
		{event(watch.Added, "a", "9"), event(watch.Added, "b", "3"), event(watch.Added, "c", "4")}, // by name, as the API server does
		{event(watch.Added, "a", "9"), event(watch.Added, "b", "10"), expired},
		{event(watch.Added, "a", "9"), event(watch.Added, "b", "10"), event(watch.Added, "c", "4"), event(watch.Modified, "a", "11"), event(watch.Deleted, "c", "12")},
		{event(watch.Added, "a", "9"), event(watch.Added, "b", "10"), event(watch.Modified, "a", "11"), event(watch.Modified, "a", "13")}, // from a cache that is behind
	}
	ctx, cancel := context.WithCancel(t.Context())
	api := fake.NewClientBuilder().WithInterceptorFuncs(interceptor.Funcs{
		Watch: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) (watch.Interface, error) {
			if len(watches) == 0 {
				cancel()
				return nil, ctx.Err()
			}
			watcher := watch.NewFakeWithChanSize(len(watches[0]), false)
			for _, one := range watches[0] {
				watcher.Action(one.Type, one.Object)
			}
			watches = watches[1:]
			watcher.Stop()
			return watcher, nil
		},
	}).Build()
	var reported []string
	g := NewWithT(t)
	g.Expect(Follow(ctx, api, &corev1.EventList{}, Follower{Tell: func(change watch.EventType, object client.Object) error {
		reported = append(reported, fmt.Sprintf("%s %s@%s", change, object.GetName(), object.GetResourceVersion()))
		return nil
	}})).To(Succeed())
	g.Expect(reported).To(Equal([]string{"ADDED a@9", "ADDED b@3", "ADDED c@4", "ADDED b@10", "MODIFIED a@11", "DELETED c@12", "MODIFIED a@13"}))
}

func TestWatchesThatEndAtOnceAreRestartedAfterAPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		started := 0
		api := fake.NewClientBuilder().WithInterceptorFuncs(interceptor.Funcs{
			Watch: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) (watch.Interface, error) {
				if started++; started > 100 {
					cancel()
				}
				watcher := watch.NewFake()
				watcher.Stop()
				return watcher, nil
			},
		}).Build()
		g := NewWithT(t)
		g.Expect(Follow(ctx, api, &corev1.EventList{}, Follower{Pause: 2 * time.Second})).To(Succeed())
		g.Expect(started).To(BeNumerically("~", 30, 1))
	})
}

func TestALostWatchMayBeRefusedForAWhile(t *testing.T) {
	away := errors.New("connection refused")
	refused := apierrors.NewForbidden(corev1.Resource("events"), "", errors.New("no role allows it"))
	for name, tt := range map[string]struct {
		answers []error // nil ends the watch
		pause   time.Duration
		want    string
	}{
		"from the beginning":           {[]error{refused}, time.Second, "no role allows it"},
		"after a watch that has ended": {[]error{nil, refused}, time.Second, "no role allows it"},
		"after an outage":              {[]error{nil, away, refused, refused, nil}, time.Second, ""},
		"for longer than that":         {[]error{nil, away, refused, refused, refused}, time.Minute, "no role allows it"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				answers := tt.answers
				api := fake.NewClientBuilder().WithInterceptorFuncs(interceptor.Funcs{
					Watch: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) (watch.Interface, error) {
						if len(answers) == 0 {
							cancel()
							return nil, ctx.Err()
						}
						answer := answers[0]
						answers = answers[1:]
						watcher := watch.NewEmptyWatch()
						return watcher, answer
					},
				}).Build()
				err := Follow(ctx, api, &corev1.EventList{}, Follower{Lost: func(error) {}, Pause: tt.pause})
				if tt.want == "" {
					NewWithT(t).Expect(err).NotTo(HaveOccurred())
					return
				}
				NewWithT(t).Expect(err).To(MatchError(ContainSubstring(tt.want)))
			})
		})
	}
}
