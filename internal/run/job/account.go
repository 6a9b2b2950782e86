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

// The token of a pod is of no use any more when its account is deleted: the run goes on,
// and can tell nothing, nor be told anything. The controller may not read accounts. It
// asks for a token, which it does not use, as before each run.

// goneAccount names the account that a pod runs as, where it is gone.
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

// accountOf is goneAccount of a run in flight, which is asked for each minute.
func (r *Runner) accountOf(ctx context.Context, k key, s seen) string {
	r.mu.Lock()
	known, ok := r.runs[k.id]
	if !ok || known.account != "" || s.now.Sub(known.asked) < lookAgain {
		defer r.mu.Unlock()
		if ok {
			return known.account
		}
		return ""
	}
	first := known.asked.IsZero()
	known.asked = time.Now()
	r.mu.Unlock()
	if first {
		return "" // it was just there
	}
	gone := r.goneAccount(ctx, s.pods)
	r.mu.Lock()
	defer r.mu.Unlock()
	known.account = gone
	return gone
}
