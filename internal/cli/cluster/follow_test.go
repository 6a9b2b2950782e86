// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

func TestAWatchIsRefusedForAWhileAfterItWasLost(t *testing.T) {
	away := errors.New("connection refused")
	refused := apierrors.NewForbidden(corev1.Resource("events"), "", errors.New("no role allows it"))
	for name, tt := range map[string]struct {
		answers []error // nil is a watch that ends
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
