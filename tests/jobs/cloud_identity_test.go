// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/cloudidentity"
)

// callsAWS calls AWS until its credentials have expired once.
const callsAWS = `
resources:
  caller:
    type: clouds:index:Caller
    properties: {cloud: aws, sessions: 2}
outputs:
  value: ${caller.identity}
`

// TestAProgramInAJobIsItsServiceAccountInAWS has its token from the pod. The run that destroys is a Job too.
func TestAProgramInAJobIsItsServiceAccountInAWS(t *testing.T) {
	u := newTeam(t)
	clouds, err := cloudidentity.Start(u.ctx, cloudidentity.Options{Config: u.ControlPlane.RESTConfig(), Dir: t.TempDir(), Life: 2 * time.Second})
	u.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { u.Expect(clouds.Close()).To(Succeed()) })
	const role = "arn:aws:iam::111122223333:role/deployer"
	subject := "system:serviceaccount:" + u.namespace + ":deployer"
	clouds.Allow(cloudidentity.Trust{Cloud: cloudidentity.AWS, Subject: subject, Audience: "sts.amazonaws.com", Identity: role})
	for _, name := range []string{"deployer", "other"} {
		u.Expect(u.Client().Create(u.ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{
			Namespace: u.namespace, Name: name, Annotations: map[string]string{"eks.amazonaws.com/role-arn": role},
		}})).To(Succeed())
	}
	signedInAs := func(account string) func(*v1.Stack) {
		return func(s *v1.Stack) {
			s.Spec.ServiceAccountName, s.Spec.DestroyOnFinalize, s.Spec.Config = account, true, nil
			for name, value := range clouds.Env() {
				s.Spec.EnvRefs[name] = literal(value)
			}
			s.Spec.EnvRefs["AWS_REGION"] = literal("us-east-1")
		}
	}
	u.program("app", callsAWS)
	stack := u.stack("app", signedInAs("deployer"))
	u.awaitReady(stack, role)
	granted := clouds.Exchanges(subject)
	u.Expect(len(granted)).To(BeNumerically(">=", 2))
	u.Expect(granted).To(HaveEach(HaveField("Refused", "")))

	u.program("other", callsAWS)
	other := u.stack("other", signedInAs("other"))
	u.awaitMessage(other, v1.UpdateFailedReason, "Not authorized to perform sts:AssumeRoleWithWebIdentity")
	u.awaitMessage(other, v1.UpdateFailedReason, role)
	u.awaitMessage(other, v1.UpdateFailedReason, "system:serviceaccount:"+u.namespace+":other")

	u.Expect(u.Client().Delete(u.ctx, stack)).To(Succeed())
	u.Eventually(func() int { return len(clouds.Exchanges(subject)) }).Should(BeNumerically(">", len(granted)), "the provider signs in to delete")
}
