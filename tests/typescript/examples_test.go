// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package typescript

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// TestPulumiBootstrapsFlux runs the program of the guide: Flux, then what it follows.
func TestPulumiBootstrapsFlux(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	p := newPerson(t)
	const token = "ghp-canary-of-the-repository"
	config := map[string]setting{"gitToken": {token, true}}
	dir := p.compiled("bootstrap-flux-with-pulumi")

	p.Expect(p.pulumi(dir, "preview", config)).To(HaveKeyWithValue("create", BeNumerically(">", 20)))
	p.Expect(p.pulumi(dir, "up", config)).To(HaveKeyWithValue("create", BeNumerically(">", 20)))
	for _, name := range []string{"source-controller", "kustomize-controller", "notification-controller"} {
		p.made("apps/v1", "Deployment", "flux-system", name)
	}
	p.cancelsHealthChecks()
	p.acceptsStacksInNotifications()
	p.shows(filepath.Join(dir, "index.ts"), "transforms")
	p.Expect(p.textsOf("flux-system", "flux-system")).To(Equal(map[string]string{"username": "git", "password": token}))
	p.madeAll(filepath.Join(dir, "sync.yaml"))
	p.Expect(p.state("bootstrap-flux")).To(And(ContainSubstring(`"ciphertext"`), Not(ContainSubstring(token)),
		Not(ContainSubstring(base64.StdEncoding.EncodeToString([]byte(token))))))

	p.Expect(p.pulumi(dir, "up", config)).To(HaveLen(1), "nothing has changed")
	p.Expect(p.pulumi(dir, "destroy", config)).To(HaveKeyWithValue("delete", BeNumerically(">", 20)))
}

// TestTheLayersHandOnWhatTheNextOneNeeds runs the first two layers of the demo of the talk as a person does. What comes after them is a
// test of tests/e2e.
func TestTheLayersHandOnWhatTheNextOneNeeds(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	p := newPerson(t)
	below := p.project("layers/cluster")
	for _, args := range []string{
		"stack init dev", "config set gcp:project acme-blog", "up --yes --skip-preview",
	} {
		p.run(below, []string{"GOOGLE_CREDENTIALS={}"}, filepath.Join(p.bin, "pulumi"), append(strings.Fields(args), "--non-interactive")...)
	}
	output := func(name string) string {
		return strings.TrimRight(p.run(below, nil, filepath.Join(p.bin, "pulumi"), "stack", "output", name, "--show-secrets", "--stack", "dev"), "\n")
	}
	dir := p.compiled("layers/bootstrap")
	p.pulumi(dir, "up", map[string]setting{
		"cluster": {"organization/wordpress-cluster/dev", false}, "appPassphrase": {"canary-of-the-application", true},
	})

	p.made("v1", "Namespace", "", "wordpress")
	p.cancelsHealthChecks()
	p.acceptsStacksInNotifications()
	p.Expect(p.textsOf("wordpress", "cluster")).To(Equal(map[string]string{
		"instanceName": output("instanceName"), "instanceConnectionName": output("instanceConnectionName"),
		"serviceAccountKey": output("serviceAccountKey"), "passphrase": "canary-of-the-application",
	}), "and nothing else, such as the kubeconfig")
	p.madeAll(filepath.Join(dir, "sync.yaml"))
	p.Expect(p.state("wordpress-bootstrap")).To(And(ContainSubstring(`"ciphertext"`),
		Not(ContainSubstring("canary-of-the-application")), Not(ContainSubstring("gke-gcloud-auth-plugin"))))
}

// TestTheExamplesHaveTheSamePackages is why one installation is enough for them.
func TestTheExamplesHaveTheSamePackages(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	packages := func(example string) map[string]any {
		text, err := os.ReadFile(filepath.Join("..", "..", "examples", filepath.FromSlash(example), "package-lock.json"))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(string(text)).NotTo(ContainSubstring(`"resolved"`), "each reader has a registry of their own")
		var lock struct{ Packages map[string]any }
		g.Expect(json.Unmarshal(text, &lock)).To(Succeed())
		delete(lock.Packages, "") // the program
		return lock.Packages
	}
	g.Expect(packages("layers/bootstrap")).To(Equal(packages("bootstrap-flux-with-pulumi")))
	g.Expect(packages("layers/bootstrap")).To(HaveKey("node_modules/@pulumi/pulumi"))
}

// shows expects the block of the guide that has the word to be a part of the program.
func (p *person) shows(program, word string) {
	p.test.Helper()
	guide, err := os.ReadFile(p.path("docs", "guides", "bootstrap-with-pulumi.md"))
	p.Expect(err).NotTo(HaveOccurred())
	text, err := os.ReadFile(program)
	p.Expect(err).NotTo(HaveOccurred())
	var blocks []string
	for _, after := range strings.Split(string(guide), "```ts\n")[1:] {
		if block, _, _ := strings.Cut(after, "```\n"); strings.Contains(block, word) {
			blocks = append(blocks, block)
		}
	}
	p.Expect(blocks).To(HaveLen(1))
	p.Expect(string(text)).To(ContainSubstring(blocks[0]))
}

// textsOf returns the contents of a Secret.
func (p *person) textsOf(namespace, name string) map[string]string {
	p.test.Helper()
	data, _, err := unstructured.NestedStringMap(p.made("v1", "Secret", namespace, name).Object, "data")
	p.Expect(err).NotTo(HaveOccurred())
	texts := map[string]string{}
	for key, value := range data {
		text, err := base64.StdEncoding.DecodeString(value)
		p.Expect(err).NotTo(HaveOccurred())
		texts[key] = string(text)
	}
	return texts
}

// cancelsHealthChecks expects the flag of the guide on the controller that knows it.
func (p *person) cancelsHealthChecks() {
	p.test.Helper()
	p.Expect(p.argsOf("kustomize-controller")).To(ContainElement("--feature-gates=CancelHealthCheckOnNewRevision=true"))
	p.Expect(p.argsOf("source-controller")).NotTo(ContainElement(ContainSubstring("CancelHealthCheck")))
}

// acceptsStacksInNotifications creates an Alert and a Receiver that name the kinds of the guide.
func (p *person) acceptsStacksInNotifications() {
	p.test.Helper()
	named := []any{map[string]any{"kind": "Stack", "name": "*"}, map[string]any{"kind": "Program", "name": "*"}}
	for apiVersion, object := range map[string]map[string]any{
		"notification.toolkit.fluxcd.io/v1beta3": {"kind": "Alert", "spec": map[string]any{
			"eventSources": named, "providerRef": map[string]any{"name": "slack"}}},
		"notification.toolkit.fluxcd.io/v1": {"kind": "Receiver", "spec": map[string]any{
			"resources": named, "type": "generic", "secretRef": map[string]any{"name": "token"}}},
	} {
		object["apiVersion"], object["metadata"] = apiVersion, map[string]any{"namespace": "flux-system", "name": "stacks"}
		// It may take a moment until a new kind is served.
		p.Eventually(func() error {
			return p.Create(p.test.Context(), &unstructured.Unstructured{Object: object})
		}, time.Minute, 50*time.Millisecond).Should(Succeed())
	}
}

// argsOf returns the arguments of a controller of Flux.
func (p *person) argsOf(controller string) []string {
	p.test.Helper()
	containers, _, err := unstructured.NestedSlice(p.made("apps/v1", "Deployment", "flux-system", controller).Object,
		"spec", "template", "spec", "containers")
	p.Expect(err).NotTo(HaveOccurred())
	args, _, err := unstructured.NestedStringSlice(containers[0].(map[string]any), "args")
	p.Expect(err).NotTo(HaveOccurred())
	return args
}
