// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package crash

import (
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/cloud"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// Outputs are kept in memory only. A controller that is killed after the run and before
// it writes the Secret leaves the result without them. The next one reads them from the
// state, without another update.
func TestControllerKilledBetweenTheRunAndTheSecret(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	ctx := t.Context()
	u := newSubject(t, startAlone(t), "outputs")
	spec := program(held())
	spec.Outputs = map[string]apiextensionsv1.JSON{"token": raw(map[string]string{"fn::secret": "canary-4715"})}
	u.createProgram(ctx, spec, held(), func(stack *v1.Stack) { stack.Spec.WriteOutputsToSecret = &v1.OutputsSecret{Name: "out"} })
	recorded := u.awaitRun(ctx, v1.OperationUpdate)
	u.awaitStarted(ctx, cloud.Create, "slow")

	u.stopAPIServer()
	u.release()
	u.Eventually(u.s.Path("data", "runs", recorded.ID, "result.json")).Should(BeAnExistingFile())
	u.Expect(u.s.Controller.Kill()).To(Succeed())
	u.Expect(u.s.ControlPlane.StartAPIServer(ctx)).To(Succeed())
	secret := &corev1.Secret{}
	at := client.ObjectKey{Namespace: u.s.RuntimeNamespace(), Name: "out"}
	u.Expect(u.s.Get(ctx, at, secret)).NotTo(Succeed())

	u.Expect(u.s.StartController()).To(Succeed())
	u.awaitCurrent(ctx)
	u.Expect(u.s.Get(ctx, at, secret)).To(Succeed(), "it is there before the Stack is ready")
	u.Expect(secret.Data).To(Equal(map[string][]byte{"token": []byte("canary-4715")}))
	u.Expect(u.stack(ctx).Status.LastUpdate.Name).To(Equal(recorded.ID), "no other update was made")
	u.checkExact()
}
