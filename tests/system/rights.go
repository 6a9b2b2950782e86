// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package system

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/flux-pulumi/pulumi-controller/tests/controlplane"
	"github.com/flux-pulumi/pulumi-controller/tests/process"
)

const (
	// Account is the service account of the controller in config/default.
	Account = "pulumi-controller"

	serviceAccounts = "system:serviceaccount:" + fluxNamespace + ":"
	// ControllerUser is who the controller of an installed system is to the API server.
	ControllerUser = serviceAccounts + Account
	// NotificationUser is the same for notification-controller.
	NotificationUser = serviceAccounts + notificationAccount
)

// audited are the users whose requests the API server logs.
func (s *System) audited() (users []string) {
	if s.options.Installed {
		users = append(users, ControllerUser)
	}
	if s.options.WithNotifications {
		users = append(users, NotificationUser)
	}
	return users
}

// install creates the account of config/default with its rights, and its kubeconfig.
func (s *System) install(ctx context.Context) error {
	if s.options.Namespace != "" || s.options.ControlPlane != nil {
		return errors.New("an installed system needs a control plane of its own, and all namespaces")
	}
	root, err := process.RepoRoot()
	if err != nil {
		return err
	}
	built, err := controlplane.Kustomize(ctx, filepath.Join(root, filepath.FromSlash(cmp.Or(s.options.Config, "config/default"))))
	if err != nil {
		return err
	}
	rights, err := rightsIn(built)
	if err != nil {
		return fmt.Errorf("reading what is installed: %w", err)
	}
	if err := s.createInFlux(ctx, rights); err != nil {
		return err
	}
	s.kubeconfig = s.Path("kubeconfig")
	return s.ControlPlane.WriteAccountKubeconfig(ctx, s.kubeconfig, fluxNamespace, Account)
}

// createInFlux creates the objects, after the namespace of Flux if that is missing.
func (s *System) createInFlux(ctx context.Context, objects []client.Object) error {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: fluxNamespace}}
	if err := s.Create(ctx, namespace); err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	for _, object := range objects {
		if err := s.Create(ctx, object); err != nil {
			return err
		}
	}
	return nil
}

// rightsIn returns the accounts, roles and bindings among the objects of a text.
func rightsIn(text []byte) ([]client.Object, error) {
	var rights []client.Object
	documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return rights, nil
		}
		if err != nil {
			return nil, err
		}
		var header metav1.TypeMeta
		if err := yaml.Unmarshal(document, &header); err != nil {
			return nil, err
		}
		object := newRight(header.Kind)
		if object == nil {
			continue
		}
		if err := yaml.UnmarshalStrict(document, object); err != nil {
			return nil, err
		}
		rights = append(rights, object)
	}
}

// newRight returns nil for a kind that has nothing to do with rights.
func newRight(kind string) client.Object {
	switch kind {
	case "ServiceAccount":
		return &corev1.ServiceAccount{}
	case "ClusterRole":
		return &rbacv1.ClusterRole{}
	case "ClusterRoleBinding":
		return &rbacv1.ClusterRoleBinding{}
	case "Role":
		return &rbacv1.Role{}
	case "RoleBinding":
		return &rbacv1.RoleBinding{}
	}
	return nil
}
