// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
	"github.com/flux-pulumi/pulumi-controller/tests/sources"
)

// attack is the code of a pull request: it asks the API server for all that it may want, tries to write to the state, and keeps
// its environment and the answers in a file.
const attack = `
const fs = require("fs"), https = require("https"), os = require("os");
const { loot, state, requests } = JSON.parse(fs.readFileSync(__dirname + "/../../../../../attack.json"));
const kubeconfig = fs.readFileSync(process.env.HOME + "/.kube/config", "utf8");
const server = /server"?: *"?([^"\s,]+)/.exec(kubeconfig)[1], tokenFile = /tokenFile"?: *"?([^"\s,]+)/.exec(kubeconfig)[1];
const answers = {};
const ask = (request) => new Promise((resolve) => {
    const [method, path] = request.replace("OWN", os.hostname()).split(" ");
    const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
    const sent = https.request(server + path, { method, rejectUnauthorized: false, headers: {
        Authorization: "Bearer " + fs.readFileSync(tokenFile, "utf8"), "Content-Type": type,
    } }, (answer) => {
        let body = "";
        answer.on("data", (part) => { body += part; });
        answer.on("end", () => { answers[request] = { status: answer.statusCode, body }; resolve(); });
    });
    sent.end(method === "POST" || method === "PATCH" ? "{}" : undefined);
});
(async () => {
    for (const request of requests) {
        await ask(request);
    }
    let written = "written";
    try { fs.writeFileSync(state + "/attack", ""); } catch (error) { written = error.code; }
    fs.writeFileSync(loot, JSON.stringify({ env: process.env, answers, written }));
    console.error(JSON.stringify(process.env));
})();
`

// loot is what the attack has found.
type loot struct {
	Env     map[string]string
	Answers map[string]struct {
		Status int
		Body   string
	}
	Written string
}

// TestTheProgramOfAPullRequestReachesNothingOfTheRealStack previews the code of an attacker as the guide to pull requests has it
// previewed: in a Job in a namespace of its own, with an account without rights and a state that it can only read.
func TestTheProgramOfAPullRequestReachesNothingOfTheRealStack(t *testing.T) {
	short.Skip(t)
	const canary = "canary-of-production-5f2c"
	apps, previews := newTeam(t), newTeam(t)
	apps.Expect(apps.Client().Create(apps.ctx, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: apps.namespace, Name: "production"}, StringData: map[string]string{"password": canary},
	})).To(Succeed())
	apps.program("app", thing("one"))
	apps.awaitReady(apps.stack("app", func(s *v1.Stack) {
		s.Spec.Approval = &v1.Approval{Require: v1.ApprovalNever, PreviewNamespaces: []string{previews.namespace}}
		s.Spec.EnvRefs["DATABASE_PASSWORD"] = v1.ResourceRef{Type: v1.ResourceRefSecret, Secret: &v1.SecretKeyReference{Name: "production", Key: "password"}}
	}), "one")
	state, err := sources.ReadDir(apps.backend)
	apps.Expect(err).NotTo(HaveOccurred())

	previews.backend = apps.backend
	taken := filepath.Join(previews.dir, "loot.json")
	own, other := "/namespaces/"+previews.namespace, "/namespaces/"+apps.namespace
	forbidden := []string{
		"GET /api/v1/secrets", "GET /api/v1" + own + "/secrets", "GET /api/v1" + other + "/secrets", "GET /api/v1" + other + "/secrets/production",
		"GET /api/v1" + own + "/configmaps", "GET /api/v1" + own + "/pods", "POST /api/v1" + own + "/pods", "POST /api/v1" + own + "/serviceaccounts/previews/token",
		"GET /apis/pulumi.com/v1" + own + "/stacks", "PATCH /apis/pulumi.com/v1" + own + "/stacks/app-pr-1", "PATCH /apis/pulumi.com/v1" + other + "/stacks/app",
		"PATCH /apis/source.toolkit.fluxcd.io/v1" + own + "/gitrepositories/app-pr-1", "DELETE /apis/batch/v1" + own + "/jobs/OWN", "GET /api/v1/namespaces",
	}
	ofRun := "GET /api/v1" + own + "/secrets/OWN"
	plan, err := json.Marshal(map[string]any{"loot": taken, "state": apps.backend, "requests": append(forbidden, ofRun)})
	previews.Expect(err).NotTo(HaveOccurred())
	previews.repository("app-pr-1", sources.Files{
		"Pulumi.yaml": "name: app\nruntime: nodejs\n", "index.js": "", "attack.json": string(plan),
		"package.json": `{"name": "app", "dependencies": {"@pulumi/pulumi": "file:sdk.tgz"}}`,
		"sdk.tgz":      packed(previews, map[string]string{"package.json": `{"name": "@pulumi/pulumi", "version": "3.0.0"}`, "cmd/run/index.js": attack}),
	})
	previews.Expect(previews.Client().Create(previews.ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: previews.namespace, Name: "previews"}})).To(Succeed())
	stack := previews.stack("app-pr-1", func(s *v1.Stack) {
		s.Spec.Preview, s.Spec.ServiceAccountName, s.Spec.ProgramRef = true, "previews", nil
		s.Spec.PreviewOf = &v1.PreviewedStackReference{Name: "app", Namespace: apps.namespace}
		s.Spec.RetryInterval = &metav1.Duration{Duration: time.Hour}
		s.Spec.FluxSource = &v1.FluxSource{SourceRef: v1.SourceReference{APIVersion: sourcev1.GroupVersion.String(), Kind: sourcev1.GitRepositoryKind, Name: "app-pr-1"}}
		s.Spec.WorkspaceTemplate = previews.podWith(map[string]any{"image": nodeImage}, map[string]any{
			"containers": []map[string]any{{"name": "pulumi", "volumeMounts": []map[string]any{
				{"name": "backend", "mountPath": previews.backend, "readOnly": true}, {"name": "plugins", "mountPath": "/pulumi-plugins"},
			}}},
		})
	})
	previews.await(stack, func(g Gomega, s *v1.Stack) {
		g.Expect(s.Status.ObservedGeneration).To(Equal(s.Generation))
		g.Expect(s.Status.Run).To(BeNil())
		g.Expect(taken).To(BeAnExistingFile(), conditions.GetMessage(s, meta.ReadyCondition))
	})

	text, err := os.ReadFile(taken)
	previews.Expect(err).NotTo(HaveOccurred())
	previews.Expect(string(text)).NotTo(ContainSubstring(canary))
	var found loot
	previews.Expect(json.Unmarshal(text, &found)).To(Succeed())
	previews.Expect(found.Env).To(HaveKeyWithValue("PULUMI_CONFIG_PASSPHRASE", "passphrase-of-the-lab"), "which it needs")
	previews.Expect(found.Written).To(Equal("EROFS"), "the state is only read")
	for _, request := range forbidden {
		previews.Expect(found.Answers[request]).To(HaveField("Status", 403), "%s: %s", request, found.Answers[request].Body)
	}
	previews.Expect(found.Answers[ofRun]).To(HaveField("Status", 200), "which has what the program gets anyway")

	previews.shownNowhere(canary)
	previews.Expect(sources.ReadDir(apps.backend)).To(Equal(state), "nothing is written to the state, and no lock")
	previews.Expect(apps.count("update", "begin") + apps.count("delete", "begin")).To(BeZero())
}

// shownNowhere expects the text neither in an object of the namespace nor in the log of a pod.
func (t *team) shownNowhere(text string) {
	t.test.Helper()
	for _, list := range []client.ObjectList{&v1.StackList{}, &corev1.PodList{}, &corev1.SecretList{}, &corev1.ConfigMapList{}, &corev1.EventList{}} {
		t.Expect(t.List(t.ctx, list, client.InNamespace(t.namespace))).To(Succeed())
		written, err := yaml.Marshal(list)
		t.Expect(err).NotTo(HaveOccurred())
		t.Expect(string(written)).NotTo(ContainSubstring(text))
	}
	t.Expect(t.logs()).NotTo(ContainSubstring(text))
}
