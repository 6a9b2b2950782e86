// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"path"
	"strings"
	"testing"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

const googleKey = `{"type":"service_account","private_key_id":"of-the-administrator"}`

// TestTheExampleLayersRunsWordPress is the demo of the talk: a first layer creates the cluster and a database server.
// The program of the application gets some of its outputs, and leaves what the Deployment needs in Secrets. The
// second layer, in TypeScript, runs in tests/typescript: here the first Stack writes its Secret itself.
func TestTheExampleLayersRunsWordPress(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	cluster := u.clusterOfWordPress()
	instance := u.standIns()["database"].ID
	u.Expect(u.textOf(cluster, "instanceConnectionName")).To(Equal("acme-blog:europe-west1:" + instance))
	u.Expect(u.textOf(cluster, "kubeconfig")).To(Equal("[secret]"))
	u.Expect(u.textOf(cluster, "serviceAccountKey")).To(Equal("[secret]"))
	u.Expect(u.keysOf("cluster")).To(And(HaveLen(3), HaveKeyWithValue("serviceAccountKey", ContainSubstring(u.standIns()["controller_key"].ID))))
	u.Expect(u.standIns()["controller_sqladmin"].Inputs).To(HaveKeyWithValue("role", "roles/cloudsql.admin"), "it creates a database and its user")
	u.Expect(u.standIns()["controller_members"].Inputs).To(HaveKeyWithValue("condition",
		HaveKeyWithValue("expression", ContainSubstring("hasOnly(['roles/cloudsql.client'])"))), "whoever gives roles gives this one")
	first := len(u.standIns())

	u.tries("layers/sync/wordpress.yaml", nil)
	infra := u.tries("layers/app/app-infra.yaml", nil)["wordpress-infra"]
	u.awaitReady(infra)

	made := u.standIns()
	u.Expect(made).To(HaveLen(first + 5))
	u.Expect(made["wordpress"].Inputs).To(Equal(map[string]any{"name": "wordpress"}), "what is handed on is secret config")
	u.Expect(made["user"].Inputs).To(And(HaveKeyWithValue("name", "wp"), Not(HaveKey("password"))))
	u.Expect(made["client_role"].Inputs).To(And(HaveKeyWithValue("role", "roles/cloudsql.client"),
		HaveKeyWithValue("member", "serviceAccount:sql-client@acme-blog.iam.gserviceaccount.com")))
	u.Expect(u.keysOf("sql-auth")).To(And(HaveLen(2), HaveKeyWithValue("username", "wp"), HaveKeyWithValue("password", HaveLen(24))))
	u.Expect(u.keysOf("cloudsql-instance")).To(And(HaveLen(2),
		HaveKeyWithValue("connectionName", "acme-blog:europe-west1:"+instance),
		HaveKeyWithValue("key.json", ContainSubstring(made["client_key"].ID))))
	u.findsItsSecrets("layers/app/wordpress.yaml")
	u.reachesOver(cluster, instance)

	u.destroyedWith(infra, "wordpress-infra")
	u.Expect(u.standIns()).To(HaveLen(first))
	var secrets corev1.SecretList
	u.Expect(u.List(u.ctx, &secrets)).To(Succeed())
	for _, secret := range secrets.Items {
		if secret.Namespace == u.namespace {
			u.Expect(secret.Name).NotTo(BeElementOf("sql-auth", "cloudsql-instance"))
		}
	}
	u.destroyedWith(cluster, "wordpress-cluster")
	u.Expect(u.standIns()).To(BeEmpty())
}

// clusterOfWordPress runs the first layer from git, and hands on what the second one would.
func (t *tenant) clusterOfWordPress() *v1.Stack {
	t.test.Helper()
	t.git(in("cluster", t.exampleFiles("layers/cluster")))
	handed := handsOn("cluster", "instanceName", "instanceConnectionName", "serviceAccountKey")
	stack := t.stack(named("cluster"), destroyed, from(sourcev1.GitRepositoryKind, "cluster"), handed, func(s *v1.Stack) {
		s.Spec.Stack = "organization/wordpress-cluster/dev"
		s.Spec.Config = map[string]apiextensionsv1.JSON{"gcp:project": jsonText("acme-blog")}
		s.Spec.EnvRefs["GOOGLE_CREDENTIALS"] = literal(googleKey)
		s.Spec.EnvRefs["STAND_IN_CLOUD"] = literal(t.place)
	})
	t.apply(stack)
	t.awaitReady(stack)
	return stack
}

// reachesOver reads across the layers with a StackReference, as the program of the talk did: anyone who can read the
// backend may.
func (t *tenant) reachesOver(cluster *v1.Stack, instance string) {
	t.test.Helper()
	program, stack := t.programNamed("reaches", `
resources:
  below:
    type: pulumi:pulumi:StackReference
    properties: {name: `+cluster.Spec.Stack+`}
outputs:
  instance: ${below.outputs["instanceName"]}
  kubeconfig: ${below.outputs["kubeconfig"]}
`)
	t.apply(program)
	t.apply(stack)
	t.awaitReady(stack)
	t.Expect(t.textOf(stack, "instance")).To(Equal(instance))
	t.Expect(t.textOf(stack, "kubeconfig")).To(Equal("[secret]"))
	t.destroyedWith(stack, "reaches")
}

// findsItsSecrets expects that the Secrets which the Deployment refers to exist, with the keys that its variables and
// its arguments name.
func (t *tenant) findsItsSecrets(file string) {
	t.test.Helper()
	for _, object := range t.objectsOf(t.inExamples(file)) {
		t.apply(object)
		var deployment appsv1.Deployment
		t.Expect(t.Get(t.ctx, keyOf(object), &deployment)).To(Succeed())
		pod := deployment.Spec.Template.Spec
		volumes := t.secretsIn(pod.Volumes)
		variables, files := 0, 0
		for _, container := range pod.Containers {
			for _, variable := range container.Env {
				if variable.ValueFrom == nil {
					continue
				}
				ref := variable.ValueFrom.SecretKeyRef
				t.Expect(ref).NotTo(BeNil(), "the variable %s", variable.Name)
				t.Expect(t.keysOf(ref.Name)).To(HaveKey(ref.Key), "the variable %s", variable.Name)
				variables++
			}
			mounted := map[string]bool{}
			for _, mount := range container.VolumeMounts {
				t.Expect(volumes).To(HaveKey(mount.Name))
				for key := range volumes[mount.Name] {
					mounted[path.Join(mount.MountPath, key)] = true
				}
			}
			for _, arg := range container.Args {
				if file, found := strings.CutPrefix(arg, "--credentials-file="); found {
					t.Expect(mounted).To(HaveKey(file))
					files++
				}
			}
		}
		t.Expect([]int{variables, files}).To(Equal([]int{3, 1}))
	}
}

// secretsIn returns the contents of the Secrets that are volumes, which all have to be.
func (t *tenant) secretsIn(volumes []corev1.Volume) map[string]map[string]string {
	t.test.Helper()
	contents := map[string]map[string]string{}
	for _, volume := range volumes {
		t.Expect(volume.Secret).NotTo(BeNil(), "the volume %s", volume.Name)
		t.Expect(volume.Secret.Items).To(BeEmpty(), "the volume %s has every key", volume.Name)
		contents[volume.Name] = t.keysOf(volume.Secret.SecretName)
	}
	return contents
}
