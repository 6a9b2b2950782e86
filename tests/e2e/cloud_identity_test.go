// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/cloudidentity"
	"github.com/flux-pulumi/pulumi-controller/tests/controlplane"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
	"github.com/flux-pulumi/pulumi-controller/tests/system"
)

const (
	awsRole        = "arn:aws:iam::111122223333:role/deployer"
	azureClient    = "11111111-1111-1111-1111-111111111111"
	azureTenant    = "22222222-2222-2222-2222-222222222222"
	googleProvider = "projects/123456789012/locations/global/workloadIdentityPools/flux/providers/cluster"
	googleAccount  = "deployer@project.iam.gserviceaccount.com"
)

// identityWorld is a controller that gives identities to programs, an API server whose tokens seem to expire within
// seconds, and clouds that trust it.
type identityWorld struct {
	*world
	issuer *cloudidentity.Issuer
	clouds *cloudidentity.Clouds
}

// withIdentities starts a controller whose own environment has an identity in each cloud.
func withIdentities(t *testing.T, shard string) *identityWorld {
	t.Helper()
	g := NewWithT(t)
	plane, err := shared.own.get(filepath.Join(shared.dir, "own"))
	g.Expect(err).NotTo(HaveOccurred())
	w := &identityWorld{}
	w.issuer, err = cloudidentity.StartIssuer(plane.RESTConfig(), 10*time.Second)
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { g.Expect(w.issuer.Close()).To(Succeed()) })
	keys := shared.s3.Credentials()
	certificates := t.TempDir()
	w.clouds, err = cloudidentity.Start(t.Context(), cloudidentity.Options{
		Config: plane.RESTConfig(), Dir: certificates, Life: 2 * time.Second,
		S3: cloudidentity.S3{Endpoint: shared.s3.Endpoint(), AccessKey: keys["accesskey"], SecretKey: keys["secretkey"]},
	})
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { g.Expect(w.clouds.Close()).To(Succeed()) })
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	g.Expect(controlplane.WriteKubeconfig(kubeconfig, w.issuer.At(plane.RESTConfig()))).To(Succeed())
	w.world = startOwn(t, shard, system.Options{
		Kubeconfig:     kubeconfig,
		ReadPaths:      []string{certificates},
		ControllerArgs: []string{"--feature-gates=ObjectLevelWorkloadIdentity=true", "--watch-label-selector=" + shardLabel + "=" + shard},
		ControllerEnv: []string{
			"AWS_ROLE_ARN=arn:aws:iam::111122223333:role/controller", "AWS_WEB_IDENTITY_TOKEN_FILE=/var/run/secrets/eks.amazonaws.com/serviceaccount/token",
			"AWS_ACCESS_KEY_ID=canary-controller", "AWS_SECRET_ACCESS_KEY=canary-controller", "AWS_CONTAINER_CREDENTIALS_FULL_URI=http://169.254.170.23/v1/credentials",
			"AZURE_CLIENT_ID=canary-controller", "AZURE_FEDERATED_TOKEN_FILE=/nowhere", "ARM_CLIENT_SECRET=canary-controller",
			"GOOGLE_APPLICATION_CREDENTIALS=/nowhere", "CLOUDSDK_CONFIG=/nowhere",
		},
	})
	return w
}

// reached is the environment of a Stack that reaches the stand-ins of the clouds.
func (w *identityWorld) reached(s *v1.Stack) {
	for name, value := range w.clouds.Env() {
		s.Spec.EnvRefs[name] = literal(value)
	}
	s.Spec.EnvRefs["AWS_REGION"] = literal("us-east-1")
	s.Spec.EnvRefs["AWS_EC2_METADATA_DISABLED"] = literal("true")
}

func annotated(name string, annotations map[string]string) *corev1.ServiceAccount {
	return &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: annotations}}
}

func (t *tenant) subject(account string) string {
	return "system:serviceaccount:" + t.namespace + ":" + account
}

func called(account string, changes ...func(*v1.Stack)) []func(*v1.Stack) {
	return append([]func(*v1.Stack){fromProgram, func(s *v1.Stack) {
		s.Spec.ServiceAccountName = account
		delete(s.Spec.Config, "lab:directory")
	}}, changes...)
}

// callers calls each cloud until its credentials have expired often enough for the token to be renewed twice.
const callers = `
resources:
  aws:
    type: clouds:index:Caller
    properties: {cloud: aws, sessions: 12}
  azure:
    type: clouds:index:Caller
    properties: {cloud: azure, sessions: 3}
  gcp:
    type: clouds:index:Caller
    properties: {cloud: gcp, sessions: 12}
  oidc:
    type: clouds:index:Caller
    properties: {cloud: "` + cloudidentity.OIDCURL + `", sessions: 3, tokenFileVariable: OIDC_TOKEN_FILE_EXAMPLE}
  environment:
    type: clouds:index:Caller
    properties: {cloud: environment}
outputs:
  aws: ${aws.identity}
  azure: ${azure.identity}
  gcp: ${gcp.identity}
  oidc: ${oidc.identity}
  environment: ${environment.identity}
`

// TestAProgramIsItsServiceAccountInEveryCloudWithoutKeys has the state in a bucket, which the same identity opens.
func TestAProgramIsItsServiceAccountInEveryCloudWithoutKeys(t *testing.T) {
	t.Parallel()
	w := withIdentities(t, "identity")
	u := newTenant(t, w.world)
	deployer := u.subject("deployer")
	const newest = 25 * time.Second
	w.clouds.Allow(
		cloudidentity.Trust{Cloud: cloudidentity.AWS, Subject: deployer, Audience: "sts.amazonaws.com", Identity: awsRole, Newest: newest},
		cloudidentity.Trust{Cloud: cloudidentity.Azure, Subject: deployer, Audience: "api://AzureADTokenExchange", Identity: azureTenant + "/" + azureClient},
		cloudidentity.Trust{Cloud: cloudidentity.Google, Subject: deployer, Audience: "//iam.googleapis.com/" + googleProvider,
			Identity: cloudidentity.Federated(googleProvider, deployer), Newest: newest},
		cloudidentity.Trust{Cloud: cloudidentity.Google, Subject: deployer, Identity: googleAccount},
		cloudidentity.Trust{Cloud: cloudidentity.OIDC, Subject: deployer, Audience: "https://example.com", Identity: deployer, Newest: newest},
	)
	u.apply(annotated("deployer", map[string]string{
		"eks.amazonaws.com/role-arn":                    awsRole,
		"azure.workload.identity/client-id":             azureClient,
		"azure.workload.identity/tenant-id":             azureTenant,
		"gcp.auth.fluxcd.io/workload-identity-provider": googleProvider,
		"iam.gke.io/gcp-service-account":                googleAccount,
		"pulumi.com/token-audiences":                    "example=https://example.com",
	}))
	u.Expect(shared.s3.MakeBackend(u.ctx, u.namespace)).To(Succeed())
	u.apply(u.program(callers))
	stack := u.stack(called("deployer", destroyed, w.reached, func(s *v1.Stack) {
		s.Spec.Backend = "s3://" + u.namespace + "?region=us-east-1&use_path_style=true"
	})...)
	u.apply(stack)
	u.awaitReady(stack)

	u.Expect(u.textOf(stack, "aws")).To(Equal(awsRole))
	u.Expect(u.textOf(stack, "azure")).To(Equal(azureTenant + "/" + azureClient))
	u.Expect(u.textOf(stack, "gcp")).To(Equal(googleAccount))
	u.Expect(u.textOf(stack, "oidc")).To(Equal(deployer))
	u.Expect(strings.Fields(u.textOf(stack, "environment"))).To(ConsistOf(
		"AWS_REGION", "AWS_EC2_METADATA_DISABLED", "AWS_ROLE_ARN", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_ROLE_SESSION_NAME",
		"AZURE_CLIENT_ID", "AZURE_TENANT_ID", "AZURE_FEDERATED_TOKEN_FILE", "AZURE_AUTHORITY_HOST",
		"ARM_USE_OIDC", "ARM_CLIENT_ID", "ARM_TENANT_ID", "ARM_OIDC_TOKEN_FILE_PATH", "GOOGLE_APPLICATION_CREDENTIALS", "OIDC_TOKEN_FILE_EXAMPLE",
	), "nothing of the controller is there")
	exchanges := w.clouds.Exchanges(deployer)
	for _, cloud := range []string{cloudidentity.AWS, cloudidentity.Google, cloudidentity.OIDC} {
		u.Expect(len(tokensOf(exchanges, cloud))).To(BeNumerically(">=", 3), "tokens that %s has seen: %v", cloud, exchanges)
	}
	u.Expect(tokensOf(exchanges, cloudidentity.Azure)).NotTo(BeEmpty())
	u.Expect(exchanges).To(ContainElement(HaveField("Session", ContainSubstring(u.namespace))), "AWS knows which Stack it is")

	u.expectNoToken(w)
	u.delete(stack)
	u.awaitGone(stack)
	u.expectNoToken(w)
}

// tokensOf counts how often a cloud has seen each token.
func tokensOf(exchanges []cloudidentity.Exchange, cloud string) map[string]int {
	tokens := map[string]int{}
	for _, exchange := range exchanges {
		if exchange.Cloud == cloud && exchange.Refused == "" {
			tokens[exchange.Token]++
		}
	}
	return tokens
}

// expectNoToken looks everywhere for the signatures of the tokens that the API server has issued, and for their files.
func (t *tenant) expectNoToken(w *identityWorld) {
	t.test.Helper()
	tokens := w.issuer.Tokens()
	t.Expect(tokens).NotTo(BeEmpty())
	canaries := map[string]string{}
	for i, token := range tokens {
		canaries[fmt.Sprintf("token %d", i)] = token[strings.LastIndexByte(token, '.')+1:]
	}
	t.expectNotShown(canaries)
	for name, canary := range canaries {
		t.Expect(filesWith(filepath.Join(shared.dir, "s3"), canary)).To(BeEmpty(), "objects with %s", name)
	}
	for _, name := range []string{"aws-token", "azure-token", "google-token", "google-credentials.json", "example.token"} {
		t.Expect(filesNamed(t.DataDir(), name)).To(BeEmpty())
	}
}

// callsAWS calls AWS each time that it is asked.
const callsAWS = `
resources:
  caller:
    type: clouds:index:Caller
    properties: {cloud: aws, asked: %s}
outputs: {aws: "${caller.identity}"}
`

// A cloud that refuses a program is quoted, beside what the program was there.
func TestTheMessageSaysAsWhatACloudRefusesAProgram(t *testing.T) {
	t.Parallel()
	w := withIdentities(t, "refused")
	u := newTenant(t, w.world)
	w.clouds.Allow(
		cloudidentity.Trust{Cloud: cloudidentity.AWS, Subject: u.subject("first"), Audience: "sts.amazonaws.com", Identity: awsRole},
		cloudidentity.Trust{Cloud: cloudidentity.AWS, Subject: u.subject("second"), Audience: "elsewhere", Identity: awsRole},
		cloudidentity.Trust{Cloud: cloudidentity.AWS, Subject: u.subject("third"), Audience: "sts.amazonaws.com", Identity: awsRole, Newest: time.Nanosecond},
	)
	aws := map[string]string{"eks.amazonaws.com/role-arn": awsRole}
	program := u.program(fmt.Sprintf(callsAWS, "first"))
	u.apply(program)
	stack := u.stack(called("first", w.reached)...)
	u.apply(annotated("first", aws))
	u.apply(stack)
	u.awaitReady(stack)
	u.Expect(u.textOf(stack, "aws")).To(Equal(awsRole))

	for i, refused := range []struct{ account, says string }{
		{"other", "Not authorized to perform sts:AssumeRoleWithWebIdentity"},
		{"second", "Incorrect token audience"},
		{"third", "Token expired"},
	} {
		u.apply(annotated(refused.account, aws))
		other := u.stack(slices.Concat(called(refused.account, w.reached), []func(*v1.Stack){named(fmt.Sprintf("refused-%d", i))})...)
		u.apply(other)
		u.awaitFailure(other, v1.UpdateFailedReason, refused.says, awsRole, "sts.amazonaws.com", u.subject(refused.account))
	}

	// Who trusted the first role does not let the Stack have another one.
	first := annotated("first", nil)
	first.Namespace = u.namespace
	edit(u, first, func(a *corev1.ServiceAccount) {
		a.Annotations = map[string]string{"eks.amazonaws.com/role-arn": awsRole + "-of-another-team"}
	})
	edit(u, program, func(p *v1.Program) { u.setProgram(p, fmt.Sprintf(callsAWS, "again")) })
	u.awaitFailure(stack, v1.UpdateFailedReason, "Not authorized to perform sts:AssumeRoleWithWebIdentity", awsRole+"-of-another-team")
}

// Without an account that has annotations, a program has nothing, whatever the controller has.
func TestNothingOfTheControllersOwnIdentityReachesAProgram(t *testing.T) {
	t.Parallel()
	w := withIdentities(t, "nothing")
	u := newTenant(t, w.world)
	u.apply(account("plain"))
	u.apply(u.program("resources:\n  caller:\n    type: clouds:index:Caller\n    properties: {cloud: environment}\noutputs: {names: \"${caller.identity}\"}\n"))
	stack := u.stack(called("plain")...)
	u.apply(stack)
	u.awaitReady(stack)
	u.Expect(u.textOf(stack, "names")).To(BeEmpty())
}

// shown shows its token in the log and in an error, or in the log and in an output.
const shown = `
resources:
  caller:
    type: clouds:index:Caller
    properties: {cloud: shown, tokenFileVariable: AWS_WEB_IDENTITY_TOKEN_FILE, asked: %s}
outputs: {shown: "${caller.identity}"}
`

// A program may show its token, which it can read. What it keeps in its own state is its own affair.
func TestATokenThatAProgramShowsIsMasked(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	w := withIdentities(t, "shown")
	u := newTenant(t, w.world)
	u.apply(annotated("deployer", map[string]string{"eks.amazonaws.com/role-arn": awsRole}))
	program := u.program(fmt.Sprintf(shown, "fail"))
	u.apply(program)
	stack := u.stack(called("deployer", w.reached)...)
	u.apply(stack)
	u.awaitFailure(stack, v1.UpdateFailedReason, "the error has *** in it")
	log, err := os.ReadFile(u.ControllerLog())
	u.Expect(err).NotTo(HaveOccurred())
	for _, line := range []string{"the log has *** in it", "a warning has *** in it", "the error has *** in it"} {
		u.Expect(string(log)).To(ContainSubstring(line))
	}
	u.expectNoToken(w)

	edit(u, program, func(p *v1.Program) { u.setProgram(p, fmt.Sprintf(shown, "output")) })
	u.awaitReady(stack)
	u.Expect(u.textOf(stack, "shown")).To(Equal("***"))
	for i, token := range w.issuer.Tokens() {
		signature := token[strings.LastIndexByte(token, '.')+1:]
		u.expectNotShown(map[string]string{fmt.Sprintf("token %d", i): signature})
	}
}

// The token of a run whose controller is killed goes with the run: nothing else would remove it.
func TestTheTokenOfAKilledRunIsRemoved(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	w := withIdentities(t, "killed")
	u := newTenant(t, w.world)
	w.clouds.Allow(cloudidentity.Trust{Cloud: cloudidentity.AWS, Subject: u.subject("deployer"), Audience: "sts.amazonaws.com", Identity: awsRole})
	u.apply(annotated("deployer", map[string]string{"eks.amazonaws.com/role-arn": awsRole}))
	u.apply(u.program("resources:\n  caller:\n    type: clouds:index:Caller\n    properties: {cloud: aws, sessions: 8}\noutputs: {aws: \"${caller.identity}\"}\n"))
	stack := u.stack(called("deployer", w.reached, func(s *v1.Stack) { s.Spec.PendingCreates = v1.PendingCreatesClear })...)
	u.apply(stack)
	u.Eventually(func() []cloudidentity.Exchange { return w.clouds.Exchanges(u.subject("deployer")) }).ShouldNot(BeEmpty())
	u.Expect(u.Controller.Kill()).To(Succeed())
	u.Expect(filesNamed(u.DataDir(), "aws-token")).NotTo(BeEmpty(), "nobody was left to remove it")

	u.Expect(u.StartController()).To(Succeed())
	u.awaitReady(stack)
	u.Expect(u.textOf(stack, "aws")).To(Equal(awsRole))
	u.expectNoToken(w)
}
