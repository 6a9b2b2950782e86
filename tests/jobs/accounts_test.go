// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

// whoami is a program that tells who it is in the cluster.
const whoami = `
resources:
  who:
    type: lab:kube:Whoami
outputs:
  value: ${who.username}${who.variable}
`

func TestAProgramInAJobIsTheServiceAccountOfItsStack(t *testing.T) {
	t.Parallel()
	u := newTeam(t)
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: u.namespace, Name: "deployer"}}
	u.Expect(u.Client().Create(u.ctx, account)).To(Succeed())
	deployed := func(s *v1.Stack) { s.Spec.ServiceAccountName = "deployer" }
	u.program("app", whoami)
	u.awaitReady(u.stack("app", deployed), "system:serviceaccount:"+u.namespace+":deployer")

	u.program("elsewhere", whoami)
	elsewhere := u.stack("elsewhere", deployed, func(s *v1.Stack) {
		s.Spec.WorkspaceTemplate = u.pod(map[string]any{"env": []map[string]string{{"name": "KUBECONFIG", "value": "/mnt/kubeconfig"}}})
	})
	u.awaitMessage(elsewhere, v1.UpdateFailedReason, "open /mnt/kubeconfig")
}
