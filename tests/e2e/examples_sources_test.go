// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
	"github.com/flux-pulumi/pulumi-controller/tests/sources"
)

func TestTheExampleGitSourceRuns(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	repo, stack := u.releases()
	u.release(repo, "second", "v2.0.0")
	u.release(repo, "minor", "v1.1.0")
	u.look(&sourcev1.GitRepository{}, "website")
	u.awaitReady(stack, func(g Gomega, s *v1.Stack) { g.Expect(s.Status.LastAppliedRevision).To(HavePrefix("v1.1.0@sha1:")) })
	u.showsRelease(stack, "minor")
	u.destroyedWith(stack, "website")
	u.Expect(u.standIns()).To(BeEmpty())
}

func TestTheExampleOCISourceRunsOnlyWhatIsSigned(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	key, other := u.signingKey(), u.signingKey()
	public, err := key.PublicKey()
	u.Expect(err).NotTo(HaveOccurred())
	u.apply(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "cosign"}, StringData: map[string]string{"cosign.pub": public}})
	first := u.pushed("first")
	u.tries("oci-source/source.yaml", u.setIn(sourcev1.OCIRepositoryKind, map[string]any{
		"url": u.registry.URL(u.namespace), "insecure": true, "interval": "1h",
	}))
	stack := u.tries("oci-source/stack.yaml", nil)["signed"]
	u.awaitMissing(stack, "has no artifact yet", "no matching signatures")
	u.Expect(u.registry.Sign(u.ctx, u.namespace, first, other)).To(Succeed())
	u.refusedAsUnsigned()
	u.Expect(u.pulumiCalls()).To(BeEmpty())

	u.Expect(u.registry.Sign(u.ctx, u.namespace, first, key)).To(Succeed())
	u.look(&sourcev1.OCIRepository{}, "signed")
	u.awaitReady(stack, atRevision("latest@"+first))
	u.showsRelease(stack, "first")

	second := u.pushed("second")
	u.refusedAsUnsigned()
	u.Expect(u.Get(u.ctx, keyOf(stack), stack)).To(Succeed())
	u.Expect(stack.Status.LastAppliedRevision).To(Equal("latest@" + first))
	u.showsRelease(stack, "first")
	u.Expect(u.registry.Sign(u.ctx, u.namespace, second, key)).To(Succeed())
	u.look(&sourcev1.OCIRepository{}, "signed")
	u.awaitReady(stack, atRevision("latest@"+second))
	u.showsRelease(stack, "second")
	u.destroyedWith(stack, "website")
}

func (t *tenant) signingKey() *sources.SigningKey {
	t.test.Helper()
	key, err := sources.NewSigningKey()
	t.Expect(err).NotTo(HaveOccurred())
	return key
}

// pushed pushes a release as the latest artifact and returns its digest.
func (t *tenant) pushed(release string) string {
	t.test.Helper()
	digest, err := t.registry.PushArtifact(t.ctx, t.namespace+":latest", t.released(release), nil)
	t.Expect(err).NotTo(HaveOccurred())
	return digest
}

// refusedAsUnsigned reconciles the source and waits until source-controller has rejected the artifact.
func (t *tenant) refusedAsUnsigned() {
	t.test.Helper()
	source := &sourcev1.OCIRepository{ObjectMeta: metav1.ObjectMeta{Name: "signed", Namespace: t.namespace}}
	token := request(t, source)
	t.Eventually(func(g Gomega) {
		g.Expect(t.Get(t.ctx, keyOf(source), source)).To(Succeed())
		g.Expect(source.Status.LastHandledReconcileAt).To(Equal(token))
		g.Expect(conditions.IsReady(source)).To(BeFalse())
		g.Expect(conditions.GetReason(source, meta.ReadyCondition)).To(Equal(sourcev1.VerificationError))
	}).Should(Succeed())
}

func TestTheExampleBucketSourceRuns(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	u.Expect(u.s3.MakeBucket(u.ctx, u.namespace)).To(Succeed())
	u.Expect(u.s3.PutObjects(u.ctx, u.namespace, in("website", u.released("first")))).To(Succeed())
	u.tries("bucket-source/source.yaml", u.setIn(sourcev1.BucketKind, map[string]any{
		"provider": "generic", "endpoint": u.s3.Endpoint(), "region": u.s3.Region(), "bucketName": u.namespace,
		"insecure": true, "interval": "1h",
	}))
	credentials := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "programs-bucket", Namespace: u.namespace}}
	edit(u, credentials, func(s *corev1.Secret) { s.StringData = u.s3.Credentials() })
	u.look(&sourcev1.Bucket{}, "programs")
	stack := u.tries("bucket-source/stack.yaml", nil)["programs"]
	u.awaitReady(stack)
	u.Expect(stack.Status.LastAppliedRevision).To(HavePrefix("sha256:"))
	u.showsRelease(stack, "first")

	u.Expect(u.s3.PutObjects(u.ctx, u.namespace, in("website", u.released("second")))).To(Succeed())
	before := stack.Status.LastAppliedRevision
	u.look(&sourcev1.Bucket{}, "programs")
	u.awaitReady(stack, func(g Gomega, s *v1.Stack) { g.Expect(s.Status.LastAppliedRevision).NotTo(Equal(before)) })
	u.showsRelease(stack, "second")

	made := u.standIns()
	u.Expect(u.s3.PutObjects(u.ctx, u.namespace, in("other", u.released("third")))).To(Succeed())
	before = stack.Status.LastAppliedRevision
	u.look(&sourcev1.Bucket{}, "programs")
	u.awaitReady(stack, func(g Gomega, s *v1.Stack) { g.Expect(s.Status.LastAppliedRevision).NotTo(Equal(before)) })
	u.Expect(u.standIns()).To(Equal(made), "another folder changes nothing")
	u.destroyedWith(stack, "website")
}

func TestTheExampleWebhookReceiverMakesTheStackFollow(t *testing.T) {
	t.Parallel()
	u := newTenant(t, shared)
	repo, stack := u.releases()
	u.tries("webhook-receiver/receiver.yaml", nil)
	url := u.webhook("website")
	u.release(repo, "minor", "v1.1.0")
	u.Eventually(func() (int, error) { return pushedAsGitHub(url, "another token") }).Should(Equal(http.StatusBadRequest))
	u.Eventually(func() (int, error) { return pushedAsGitHub(url, "change-me") }).Should(Equal(http.StatusOK))
	u.awaitReady(stack, func(g Gomega, s *v1.Stack) { g.Expect(s.Status.LastAppliedRevision).To(HavePrefix("v1.1.0@sha1:")) })
	u.showsRelease(stack, "minor")
	u.destroyedWith(stack, "website")
}

// pushedAsGitHub reports a push like GitHub, and returns the status of the response.
func pushedAsGitHub(url, token string) (int, error) {
	const body = `{"ref": "refs/tags/v1.1.0"}`
	request, err := http.NewRequest(http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return 0, err
	}
	mac := hmac.New(sha256.New, []byte(token))
	mac.Write([]byte(body))
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("X-GitHub-Event", "push")
	request.Header.Set("X-Hub-Signature-256", "sha256="+hex.EncodeToString(mac.Sum(nil)))
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err
	}
	return response.StatusCode, response.Body.Close()
}
