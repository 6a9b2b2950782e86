// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"context"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A pod's token becomes invalid when its ServiceAccount is deleted: the run continues,
// but can neither report nor be cancelled by its Secret. The controller may not read
// ServiceAccounts, so it requests a token, which it does not use, as it does before each
// run.

// goneAccount returns the ServiceAccount of a pod if it is gone.
func (r *Runner) goneAccount(ctx context.Context, pods []corev1.Pod) string {
	for _, pod := range pods {
		name := pod.Spec.ServiceAccountName
		if name == "" {
			continue
		}
		account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: name}}
		err := r.options.Client.SubResource("token").Create(ctx, account, &authenticationv1.TokenRequest{})
		if apierrors.IsNotFound(err) {
			return name
		}
	}
	return ""
}

// accountOf is goneAccount for a run in flight, at most once a minute.
func (r *Runner) accountOf(ctx context.Context, k key, s seen) string {
	known := r.get(k)
	if known.account != "" || s.now.Sub(known.asked) < lookAgain {
		return known.account
	}
	gone := ""
	if !known.asked.IsZero() { // else it was just there
		gone = r.goneAccount(ctx, s.pods)
	}
	r.update(k, func(known *record) { known.account, known.asked = gone, time.Now() })
	return gone
}
