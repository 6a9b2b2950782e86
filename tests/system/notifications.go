// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package system

import (
	"context"
	"fmt"
	"os"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/flux-pulumi/pulumi-controller/tests/controlplane"
)

const (
	fluxNamespace       = "flux-system"
	notificationAccount = "notification-controller"
)

// startNotifications starts notification-controller with Flux's account for it, and only
// the rights that Flux and config/notifications give that account.
func (s *System) startNotifications(ctx context.Context) error {
	if err := s.allowNotifications(ctx); err != nil {
		return fmt.Errorf("giving notification-controller its rights: %w", err)
	}
	var err error
	s.NotificationController, err = controlplane.StartNotificationController(ctx, s.ControlPlane, controlplane.NotificationControllerOptions{
		Dir: s.Path("notifications"), LogDir: s.options.Dir,
		Account: types.NamespacedName{Namespace: fluxNamespace, Name: notificationAccount},
	})
	return err
}

func (s *System) allowNotifications(ctx context.Context) error {
	built, err := os.ReadFile(s.notifications)
	if err != nil {
		return err
	}
	roles, err := rightsIn(built)
	if err != nil {
		return fmt.Errorf("reading %s: %w", s.notifications, err)
	}
	objects := append([]client.Object{
		&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: notificationAccount, Namespace: fluxNamespace}},
		fluxRole(), fluxBinding(),
	}, roles...)
	return s.createInFlux(ctx, objects)
}

const crdController = "crd-controller"

// fluxRole is the part of the role that flux install gives all its controllers which
// matters to notification-controller.
func fluxRole() *rbacv1.ClusterRole {
	read := []string{"get", "list", "watch"}
	return &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: crdController}, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{"source.toolkit.fluxcd.io", "notification.toolkit.fluxcd.io"}, Resources: []string{"*"}, Verbs: []string{"*"}},
		{APIGroups: []string{""}, Resources: []string{"namespaces", "secrets", "configmaps", "serviceaccounts"}, Verbs: read},
		{APIGroups: []string{""}, Resources: []string{"events"}, Verbs: []string{"create", "patch"}},
		{NonResourceURLs: []string{"/livez/ping"}, Verbs: []string{"head"}},
	}}
}

func fluxBinding() *rbacv1.ClusterRoleBinding {
	return &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: crdController},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: crdController},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: notificationAccount, Namespace: fluxNamespace}},
	}
}
