// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"fmt"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/flux-pulumi/pulumi-controller/internal/identity"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// withIdentity is a run of an account with a role of AWS and a token for Vault.
func withIdentity(template string) run.Run {
	r := withTemplate(template)
	r.Account = run.ServiceAccount{Namespace: "team-a", Name: "deployer"}
	r.Identity = identity.Identity{
		AWS: &identity.AWS{Role: "arn:aws:iam::123456789012:role/deploy"}, Other: []identity.Audience{{Name: "vault", Audience: "https://vault"}},
	}
	return r
}

func TestThePodOfARunHasATokenForEachAudience(t *testing.T) {
	g := NewWithT(t)
	for _, operation := range []run.Operation{run.Update, run.Preview, run.Destroy, run.Recover, run.ReadOutputs, run.CheckDrift} {
		r := withIdentity(`{}`)
		r.Operation = operation
		pod := podFor(g, r)
		g.Expect(pod.ServiceAccountName).To(Equal("deployer"))
		g.Expect(pod.Volumes).To(ContainElement(corev1.Volume{Name: "pulumi-identity", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{
			Sources: []corev1.VolumeProjection{
				{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Audience: "sts.amazonaws.com", ExpirationSeconds: ptr.To(int64(3600)), Path: "aws-token"}},
				{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Audience: "https://vault", ExpirationSeconds: ptr.To(int64(3600)), Path: "vault.token"}},
			},
		}}}), string(operation))
		main := mainOf(&pod)
		g.Expect(main.VolumeMounts).To(ContainElement(corev1.VolumeMount{
			Name: "pulumi-identity", MountPath: "/var/run/secrets/pulumi.com/identity", ReadOnly: true,
		}))
		g.Expect(main.Args).To(ContainElement("--identity-dir=/var/run/secrets/pulumi.com/identity"))
		for _, other := range pod.InitContainers {
			g.Expect(other.VolumeMounts).NotTo(ContainElement(HaveField("Name", "pulumi-identity")), "only the program has them")
		}
	}
}

func TestAPodWithoutAnIdentityIsAsBefore(t *testing.T) {
	g := NewWithT(t)
	pod := podFor(g, aRun())
	g.Expect(pod.Volumes).NotTo(ContainElement(HaveField("Name", "pulumi-identity")))
	g.Expect(fmt.Sprint(mainOf(&pod).Args)).NotTo(ContainSubstring("identity"))
}

func TestATemplateCannotTakeThePlaceOfTheIdentity(t *testing.T) {
	for template, want := range map[string]string{
		`{spec: {env: [{name: AWS_ACCESS_KEY_ID, value: AKIA}]}}`:                           "cannot have the variable AWS_ACCESS_KEY_ID beside the annotation eks.amazonaws.com/role-arn",
		`{spec: {podTemplate: {spec: {volumes: [{name: pulumi-identity, emptyDir: {}}]}}}}`: "has a volume pulumi-identity, which is that of the controller",
		`{spec: {podTemplate: {spec: {volumes: [{name: x, emptyDir: {}}],
  containers: [{name: pulumi, volumeMounts: [{name: x, mountPath: /var/run/secrets/pulumi.com}]}]}}}}`: "mounts a volume at /var/run/secrets/pulumi.com",
	} {
		g := NewWithT(t)
		_, err := build(settings(), withIdentity(template))
		g.Expect(err).To(MatchError(ContainSubstring(want)))
		without := withTemplate(template)
		_, err = build(settings(), without)
		g.Expect(err).NotTo(HaveOccurred())
	}
}

func TestNothingOfTheControllersOwnIdentityIsInTheObjectsOfARun(t *testing.T) {
	g := NewWithT(t)
	for _, name := range []string{"AWS_ROLE_ARN", "AWS_WEB_IDENTITY_TOKEN_FILE", "AZURE_CLIENT_ID", "GOOGLE_APPLICATION_CREDENTIALS"} {
		t.Setenv(name, "the-controllers-own")
	}
	built, err := build(settings(), withIdentity(`{}`))
	g.Expect(err).NotTo(HaveOccurred())
	text, err := yaml.Marshal([]any{built.job, built.role, built.secret.StringData, built.secret.Annotations})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(text)).NotTo(ContainSubstring("the-controllers-own"))
	for key, value := range built.secret.Data {
		g.Expect(string(value)).NotTo(ContainSubstring("the-controllers-own"), key)
	}
}
