// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"fmt"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/cloudidentity"
)

const (
	role     = "arn:aws:iam::111122223333:role/deployer"
	azureID  = "11111111-1111-1111-1111-111111111111"
	tenantID = "22222222-2222-2222-2222-222222222222"
	provider = "projects/123456789012/locations/global/workloadIdentityPools/flux/providers/cluster"
	robot    = "deployer@project.iam.gserviceaccount.com"
)

// everywhere are the annotations of an account that is known in each cloud.
func everywhere() map[string]string {
	return map[string]string{
		"eks.amazonaws.com/role-arn":                    role,
		"azure.workload.identity/client-id":             azureID,
		"azure.workload.identity/tenant-id":             tenantID,
		"gcp.auth.fluxcd.io/workload-identity-provider": provider,
		"iam.gke.io/gcp-service-account":                robot,
		"pulumi.com/token-audiences":                    "example=https://example.com",
	}
}

// clouds are stand-ins whose credentials expire within seconds.
func (t *team) clouds() *cloudidentity.Clouds {
	t.test.Helper()
	clouds, err := cloudidentity.Start(t.ctx, cloudidentity.Options{Config: t.ControlPlane.RESTConfig(), Dir: t.test.TempDir(), Life: 2 * time.Second})
	t.Expect(err).NotTo(HaveOccurred())
	t.test.Cleanup(func() { t.Expect(clouds.Close()).To(Succeed()) })
	return clouds
}

func (t *team) account(name string, annotations map[string]string) {
	t.test.Helper()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: t.namespace, Name: name, Annotations: annotations}}
	t.Expect(t.Client().Create(t.ctx, account)).To(Succeed())
}

// signedInAs is a Stack that reaches the stand-ins as the account.
func signedInAs(clouds *cloudidentity.Clouds, account string) func(*v1.Stack) {
	return func(s *v1.Stack) {
		s.Spec.ServiceAccountName, s.Spec.DestroyOnFinalize, s.Spec.Config = account, true, nil
		for name, value := range clouds.Env() {
			s.Spec.EnvRefs[name] = literal(value)
		}
		s.Spec.EnvRefs["AWS_REGION"] = literal("us-east-1")
	}
}

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
	clouds := u.clouds()
	subject := "system:serviceaccount:" + u.namespace + ":deployer"
	clouds.Allow(cloudidentity.Trust{Cloud: cloudidentity.AWS, Subject: subject, Audience: "sts.amazonaws.com", Identity: role})
	for _, name := range []string{"deployer", "other"} {
		u.account(name, map[string]string{"eks.amazonaws.com/role-arn": role})
	}
	u.program("app", callsAWS)
	stack := u.stack("app", signedInAs(clouds, "deployer"))
	u.awaitReady(stack, role)
	granted := clouds.Exchanges(subject)
	u.Expect(len(granted)).To(BeNumerically(">=", 2))
	u.Expect(granted).To(HaveEach(HaveField("Refused", "")))

	u.program("other", callsAWS)
	other := u.stack("other", signedInAs(clouds, "other"))
	u.awaitMessage(other, v1.UpdateFailedReason, "Not authorized to perform sts:AssumeRoleWithWebIdentity")
	u.awaitMessage(other, v1.UpdateFailedReason, role)
	u.awaitMessage(other, v1.UpdateFailedReason, "system:serviceaccount:"+u.namespace+":other")

	u.Expect(u.Client().Delete(u.ctx, stack)).To(Succeed())
	u.Eventually(func() int { return len(clouds.Exchanges(subject)) }).Should(BeNumerically(">", len(granted)), "the provider signs in to delete")
}

// callsAll calls each cloud, and says which variables of clouds there are.
const callsAll = `
resources:
  aws:
    type: clouds:index:Caller
    properties: {cloud: aws, sessions: 3}
  azure:
    type: clouds:index:Caller
    properties: {cloud: azure, sessions: 2}
  gcp:
    type: clouds:index:Caller
    properties: {cloud: gcp, sessions: 2}
  oidc:
    type: clouds:index:Caller
    properties: {cloud: "` + cloudidentity.OIDCURL + `", tokenFileVariable: OIDC_TOKEN_FILE_EXAMPLE}
  environment:
    type: clouds:index:Caller
    properties: {cloud: environment}
outputs:
  value: ${aws.identity} ${azure.identity} ${gcp.identity} ${oidc.identity}
  environment: ${environment.identity}
`

// TestAProgramInAJobIsItsServiceAccountInEveryCloud looks for the tokens during the run, after it, and after the destroy.
func TestAProgramInAJobIsItsServiceAccountInEveryCloud(t *testing.T) {
	t.Parallel()
	u := newTeam(t)
	clouds := u.clouds()
	subject := "system:serviceaccount:" + u.namespace + ":deployer"
	clouds.Allow(
		cloudidentity.Trust{Cloud: cloudidentity.AWS, Subject: subject, Audience: "sts.amazonaws.com", Identity: role},
		cloudidentity.Trust{Cloud: cloudidentity.Azure, Subject: subject, Audience: "api://AzureADTokenExchange", Identity: tenantID + "/" + azureID},
		cloudidentity.Trust{Cloud: cloudidentity.Google, Subject: subject, Audience: "//iam.googleapis.com/" + provider,
			Identity: cloudidentity.Federated(provider, subject)},
		cloudidentity.Trust{Cloud: cloudidentity.Google, Subject: subject, Identity: robot},
		cloudidentity.Trust{Cloud: cloudidentity.OIDC, Subject: subject, Audience: "https://example.com", Identity: subject},
	)
	u.account("deployer", everywhere())
	u.program("app", callsAll)
	stack := u.stack("app", signedInAs(clouds, "deployer"))
	u.Eventually(func() []cloudidentity.Exchange { return clouds.Exchanges(subject) }).ShouldNot(BeEmpty())
	pod := u.runningPod(stack)
	u.Expect(u.tokens()).To(HaveLen(4))
	u.Expect(filesWith(u.kubelet.Volumes(string(pod.UID)), u.tokens()...)).To(HaveLen(4), "where the kubelet has put them")
	u.Expect(processesWith("file://"+u.backend)).NotTo(BeEmpty(), "the run is seen")
	u.Expect(processesWith(u.tokens()...)).To(BeEmpty())
	u.awaitReady(stack, strings.Join([]string{role, tenantID + "/" + azureID, robot, subject}, " "))
	u.Expect(strings.Fields(strings.Trim(string(stack.Status.Outputs["environment"].Raw), `"`))).To(ConsistOf(
		"AWS_REGION", "AWS_ROLE_ARN", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_ROLE_SESSION_NAME",
		"AZURE_CLIENT_ID", "AZURE_TENANT_ID", "AZURE_FEDERATED_TOKEN_FILE", "AZURE_AUTHORITY_HOST",
		"ARM_USE_OIDC", "ARM_CLIENT_ID", "ARM_TENANT_ID", "ARM_OIDC_TOKEN_FILE_PATH", "GOOGLE_APPLICATION_CREDENTIALS", "OIDC_TOKEN_FILE_EXAMPLE",
	))
	u.expectNoToken()

	before := len(clouds.Exchanges(subject))
	u.Expect(u.Client().Delete(u.ctx, stack)).To(Succeed())
	u.Eventually(func() error { return u.Get(u.ctx, client.ObjectKeyFromObject(stack), stack) }).ShouldNot(Succeed())
	u.Expect(len(clouds.Exchanges(subject))).To(BeNumerically(">", before), "the providers sign in to delete")
	u.Expect(clouds.Exchanges(subject)).To(HaveEach(HaveField("Refused", "")))
	u.expectNoToken()
}

// TestTheMessageOfAJobSaysAsWhatACloudRefusesIt has an account that Azure and Google Cloud do not trust.
func TestTheMessageOfAJobSaysAsWhatACloudRefusesIt(t *testing.T) {
	t.Parallel()
	u := newTeam(t)
	clouds := u.clouds()
	u.account("other", everywhere())
	for _, refused := range []struct{ cloud, says, identity string }{
		{"azure", "AADSTS700213", "client " + azureID + " of Azure tenant " + tenantID},
		{"gcp", "rejected by the attribute condition", "account " + robot + " of Google Cloud"},
	} {
		u.program(refused.cloud, fmt.Sprintf("resources:\n  caller:\n    type: clouds:index:Caller\n    properties: {cloud: %s}\n", refused.cloud))
		stack := u.stack(refused.cloud, signedInAs(clouds, "other"))
		u.awaitMessage(stack, v1.UpdateFailedReason, refused.says, refused.identity, "subject system:serviceaccount:"+u.namespace+":other")
	}
	u.expectNoToken()
}

// shown shows its token in the log and in an error, or in the log and in an output.
const shown = `
resources:
  caller:
    type: clouds:index:Caller
    properties: {cloud: shown, tokenFileVariable: AWS_WEB_IDENTITY_TOKEN_FILE, asked: %s}
outputs:
  value: ${caller.identity}
`

func TestATokenThatAProgramInAJobShowsIsMasked(t *testing.T) {
	t.Parallel()
	u := newTeam(t)
	u.account("deployer", map[string]string{"eks.amazonaws.com/role-arn": role})
	program := u.program("app", fmt.Sprintf(shown, "fail"))
	stack := u.stack("app", func(s *v1.Stack) { s.Spec.ServiceAccountName, s.Spec.Config = "deployer", nil })
	u.awaitMessage(stack, v1.UpdateFailedReason, "the error has *** in it")
	u.expectNoToken()

	edit(u, program, func(p *v1.Program) { u.setProgram(p, fmt.Sprintf(shown, "output")) })
	u.awaitReady(stack, "***")
	u.expectNotShown(u.tokens())
}
