// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"net/http"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// receiver creates a Receiver for the resources, waits until it is Ready and returns its URL.
func (t *tenant) receiver(resources string) (url string) {
	t.test.Helper()
	t.applyYAML("apiVersion: v1\nkind: Secret\nmetadata: {name: webhook}\nstringData: {token: t0ken}")
	t.applyYAML(`
apiVersion: notification.toolkit.fluxcd.io/v1
kind: Receiver
metadata: {name: app}
spec:
  type: generic
  secretRef: {name: webhook}
  resources: ` + resources + `
`)
	return t.webhook("app")
}

// webhook waits until the Receiver is Ready and returns its URL.
func (t *tenant) webhook(name string) (url string) {
	t.test.Helper()
	receiver := &unstructured.Unstructured{}
	receiver.SetAPIVersion("notification.toolkit.fluxcd.io/v1")
	receiver.SetKind("Receiver")
	t.Eventually(func(g Gomega) {
		g.Expect(t.Get(t.ctx, client.ObjectKey{Namespace: t.namespace, Name: name}, receiver)).To(Succeed())
		path, _, err := unstructured.NestedString(receiver.Object, "status", "webhookPath")
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(path).NotTo(BeEmpty(), "%v", receiver.Object["status"])
		url = t.NotificationController.ReceiversURL() + path
	}).Should(Succeed())
	return url
}

// post calls the webhook until it is served: notification-controller answers from a cache.
func (t *tenant) post(url string) {
	t.test.Helper()
	t.Eventually(func() (int, error) {
		response, err := http.Post(url, "application/json", strings.NewReader(`{"ref": "refs/heads/main"}`))
		if err != nil {
			return 0, err
		}
		return response.StatusCode, response.Body.Close()
	}).Should(Equal(http.StatusOK))
}

func TestAReceiverRunsStacks(t *testing.T) {
	short.Skip(t)
	for name, resource := range map[string]string{
		"by name":  "{apiVersion: pulumi.com/v1, kind: Stack, name: app}",
		"by label": "{apiVersion: pulumi.com/v1, kind: Stack, name: '*', matchLabels: {app: web}}",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := newTenant(t, shared)
			u.apply(u.program(oneThing("one")))
			stack := u.stack(fromProgram, func(s *v1.Stack) { s.Labels = map[string]string{"app": "web"} })
			u.apply(stack)
			u.awaitReady(stack)
			url := u.receiver("[" + resource + "]")
			before := len(u.pulumiCalls())

			u.post(url)
			u.awaitReady(stack, func(g Gomega, s *v1.Stack) { g.Expect(s.Status.LastHandledReconcileAt).NotTo(BeEmpty()) })
			u.Expect(u.pulumiCalls()[before:]).To(ContainElement(ContainSubstring(" up ")))
		})
	}
}

// This needs no patch of the Stack: the webhook reconciles the source, and the Stack follows its source.
func TestAReceiverOnAGitRepositoryMakesTheStackFollow(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	source := u.git(project("lab", oneThing("one")))
	stack := u.stack(fromGit)
	u.apply(stack)
	u.awaitReady(stack)
	url := u.receiver("[{kind: GitRepository, name: app}]")

	commit, err := source.repo.Commit(u.ctx, project("lab", oneThing("two")), "next")
	u.Expect(err).NotTo(HaveOccurred())
	u.post(url)
	u.awaitReady(stack, atRevision(revisionOf(commit)))
	u.showsThe("two", stack)
}
