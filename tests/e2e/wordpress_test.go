// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"os"
	"testing"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/sources"
)

const googleKey = `{"type":"service_account","private_key_id":"of-the-administrator"}`

// onGoogleCloud lets the program be somebody there.
func onGoogleCloud(s *v1.Stack) {
	s.Spec.Config["gcp:project"] = jsonText("acme-blog")
	s.Spec.EnvRefs["GOOGLE_CREDENTIALS"] = literal(googleKey)
}

// TestWordPressOnGoogleCloud is the demonstration of the talk: a first layer makes the cluster and a database server, the
// program of the application refers to it and leaves what the Deployment needs in Secrets.
func TestWordPressOnGoogleCloud(t *testing.T) {
	t.Parallel()
	u := newTenant(t, shared)
	bootstrap := u.bootstrapWordPress()
	instance := u.standIns()["database"].ID
	u.Expect(u.textOf(bootstrap, "instanceConnectionName")).To(Equal("acme-blog:europe-west1:" + instance))
	u.Expect(u.textOf(bootstrap, "kubeconfig")).To(Equal("[secret]"))
	u.Expect(u.textOf(bootstrap, "serviceAccountKey")).To(Equal("[secret]"))
	first := len(u.standIns())

	u.apply(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "google-key"}, StringData: map[string]string{"GOOGLE_CREDENTIALS": googleKey}})
	u.apply(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "pulumi-token"}, StringData: map[string]string{"PULUMI_ACCESS_TOKEN": "none"}})
	u.apply(account("wordpress-infra"))
	u.mayWrite("wordpress-infra", "", "secrets")
	infra := u.bring("wordpress/app-infra.yaml", u.nowhere, func(s *v1.Stack) {
		// Programs of the Pulumi operator v1 had the rights of the operator itself.
		s.Spec.ServiceAccountName = "wordpress-infra"
		s.Spec.Config["bootstrapOrg"] = jsonText("organization")
	})["wordpress-infra"]
	u.awaitReady(infra)

	made := u.standIns()
	u.Expect(made).To(HaveLen(first + 5))
	u.Expect(made["wordpress"].Inputs).To(Equal(map[string]any{"name": "wordpress", "instance": instance}))
	u.Expect(made["user"].Inputs).To(And(HaveKeyWithValue("name", "wp"), HaveKeyWithValue("instance", instance), Not(HaveKey("password"))))
	u.Expect(made["client_role"].Inputs).To(HaveKeyWithValue("member", "serviceAccount:sql-client@acme-blog.iam.gserviceaccount.com"))
	u.Expect(u.keysOf("sql-auth")).To(And(HaveLen(2), HaveKeyWithValue("username", "wp"), HaveKeyWithValue("password", HaveLen(24))))
	u.Expect(u.keysOf("cloudsql-instance")).To(And(HaveLen(2),
		HaveKeyWithValue("connectionName", "acme-blog:europe-west1:"+instance),
		HaveKeyWithValue("key.json", ContainSubstring(made["client_key"].ID))))
	u.findsItsSecrets("wordpress/wordpress.yaml")

	u.destroyedWith(infra, "wordpress-infra")
	u.Expect(u.standIns()).To(HaveLen(first))
	var secrets corev1.SecretList
	u.Expect(u.List(u.ctx, &secrets)).To(Succeed())
	for _, secret := range secrets.Items {
		if secret.Namespace == u.namespace {
			u.Expect(secret.Name).NotTo(BeElementOf("sql-auth", "cloudsql-instance"))
		}
	}
	u.destroyedWith(bootstrap, "wordpress-bootstrap")
	u.Expect(u.standIns()).To(BeEmpty())
}

// bootstrapWordPress makes the first layer, from git.
func (t *tenant) bootstrapWordPress() *v1.Stack {
	t.test.Helper()
	text, err := os.ReadFile(t.testdata("wordpress", "bootstrap", "Pulumi.yaml"))
	t.Expect(err).NotTo(HaveOccurred())
	t.git(in("bootstrap", sources.Files{"Pulumi.yaml": string(text)}))
	stack := t.stack(named("bootstrap"), destroyed, from(sourcev1.GitRepositoryKind, "bootstrap"), onGoogleCloud, func(s *v1.Stack) {
		s.Spec.Stack = "organization/wordpress-bootstrap/dev"
		delete(s.Spec.Config, "lab:directory")
		s.Spec.EnvRefs["STAND_IN_CLOUD"] = literal(t.place)
	})
	t.apply(stack)
	t.awaitReady(stack)
	return stack
}

// findsItsSecrets says that a Deployment has all that it refers to.
func (t *tenant) findsItsSecrets(file string) {
	t.test.Helper()
	for _, object := range t.objectsIn(file) {
		t.apply(object)
		var deployment appsv1.Deployment
		t.Expect(t.Get(t.ctx, keyOf(object), &deployment)).To(Succeed())
		found := 0
		for _, container := range deployment.Spec.Template.Spec.Containers {
			for _, variable := range container.Env {
				if variable.ValueFrom == nil {
					continue
				}
				ref := variable.ValueFrom.SecretKeyRef
				t.Expect(t.keysOf(ref.Name)).To(HaveKey(ref.Key), "the variable %s", variable.Name)
				found++
			}
		}
		t.Expect(found).To(Equal(3))
	}
}
