// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// TestASourceThatMovesOnIsNoFailure has the source move on while the pod starts, as it may when pods wait for a node or
// in a queue: source-controller then deletes the artifact that the Job was made for.
func TestASourceThatMovesOnIsNoFailure(t *testing.T) {
	short.Skip(t)
	u := newTeam(t)
	archive := u.archive("Pulumi.yaml", "name: app\nruntime: yaml\n"+thing("two"))
	source := &sourcev1.ExternalArtifact{ObjectMeta: metav1.ObjectMeta{Name: "app", Namespace: u.namespace}}
	offer := func(url, revision, digest string) error { // the server calls it too
		offering := source.DeepCopy()
		offering.Status.Artifact = &meta.Artifact{Path: revision, URL: url + "/" + revision, Revision: revision, Digest: digest, LastUpdateTime: metav1.Now()}
		return u.Client().Status().Patch(u.ctx, offering, client.MergeFrom(source))
	}
	digest := fmt.Sprintf("sha256:%x", sha256.Sum256(archive))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/two" {
			_, _ = w.Write(archive)
			return
		}
		if err := offer("http://"+r.Host, "two", digest); err != nil {
			t.Error(err)
		}
		http.NotFound(w, r)
	}))
	defer server.Close()
	u.Expect(u.Client().Create(u.ctx, source)).To(Succeed())
	u.Expect(offer(server.URL, "one", fmt.Sprintf("sha256:%x", sha256.Sum256(nil)))).To(Succeed())

	stack := u.stack("app", func(s *v1.Stack) {
		s.Spec.ProgramRef = nil
		s.Spec.FluxSource = &v1.FluxSource{SourceRef: v1.SourceReference{APIVersion: sourcev1.GroupVersion.String(), Kind: sourcev1.ExternalArtifactKind, Name: "app"}}
	})
	u.awaitReady(stack, "two")
	u.Expect(stack.Status.LastAppliedRevision).To(Equal("two"))
	u.Expect(u.jobs()).To(HaveLen(2))
	u.Eventually(func(g Gomega) {
		events := &corev1.EventList{}
		g.Expect(u.List(u.ctx, events, client.InNamespace(u.namespace), client.MatchingFields{"involvedObject.kind": v1.StackKind})).To(Succeed())
		g.Expect(events.Items).To(ContainElement(And(HaveField("Reason", v1.ArtifactGoneReason), HaveField("Message", ContainSubstring("it is gone (404)")))))
		g.Expect(events.Items).NotTo(ContainElement(HaveField("Type", corev1.EventTypeWarning)))
	}).Should(Succeed())
}

// archive returns the artifact of a program of one file.
func (t *team) archive(name, text string) []byte {
	t.test.Helper()
	var buffer bytes.Buffer
	zipped := gzip.NewWriter(&buffer)
	archive := tar.NewWriter(zipped)
	t.Expect(archive.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(text))})).To(Succeed())
	_, err := archive.Write([]byte(text))
	t.Expect(err).NotTo(HaveOccurred())
	t.Expect(archive.Close()).To(Succeed())
	t.Expect(zipped.Close()).To(Succeed())
	return buffer.Bytes()
}
