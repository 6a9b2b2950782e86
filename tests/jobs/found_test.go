// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// The pod of the first run is killed, and the next revision renames the project: nothing but what the pod had reported before it made
// anything says which stack it was.
func TestAProjectThatIsRenamedAfterItsFirstRunWasKilled(t *testing.T) {
	short.Skip(t)
	u := newTeam(t)
	archives := map[string][]byte{}
	for revision, project := range map[string]string{"one": "app", "two": "renamed"} {
		archives["/"+revision] = u.archive("Pulumi.yaml", "name: "+project+"\nruntime: yaml\n"+thing("one", "hold: create"))
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write(archives[r.URL.Path]) }))
	defer server.Close()
	source := &sourcev1.ExternalArtifact{ObjectMeta: metav1.ObjectMeta{Name: "app", Namespace: u.namespace}}
	u.Expect(u.Client().Create(u.ctx, source)).To(Succeed())
	offer := func(revision string) {
		before := source.DeepCopy()
		path := "/" + revision
		source.Status.Artifact = &meta.Artifact{
			Path: revision, URL: server.URL + path, Revision: revision, Digest: fmt.Sprintf("sha256:%x", sha256.Sum256(archives[path])), LastUpdateTime: metav1.Now(),
		}
		u.Expect(u.Client().Status().Patch(u.ctx, source, client.MergeFrom(before))).To(Succeed())
	}
	offer("one")
	stack := u.stack("app", func(s *v1.Stack) {
		s.Spec.ProgramRef = nil
		s.Spec.FluxSource = &v1.FluxSource{SourceRef: v1.SourceReference{APIVersion: sourcev1.GroupVersion.String(), Kind: sourcev1.ExternalArtifactKind, Name: "app"}}
	})
	u.awaitJournal("create", "begin")
	offer("two")
	u.killPod(stack)
	u.Expect(u.cloud.Release()).To(Succeed())
	u.await(stack, func(g Gomega, s *v1.Stack) {
		g.Expect(conditions.GetReason(s, meta.StalledCondition)).To(Equal(v1.PendingOperationsReason), conditions.GetMessage(s, meta.ReadyCondition))
		g.Expect(s.Status.UnknownCreates).To(ConsistOf(And(ContainSubstring(":dev::app::"), HaveSuffix("::a"))))
	})
	u.noLocks()
	u.Expect(u.count("create", "begin")).To(Equal(1))
	edit(u, stack, func(s *v1.Stack) { s.Spec.PendingCreates = v1.PendingCreatesClear })
	u.awaitMessage(stack, v1.UpdateFailedReason, `the project was "app"`, `is "renamed" now`)
	u.Expect(u.count("create", "begin")).To(Equal(1))
}

// inMidDestroy returns a Stack whose only resource is being deleted, until the cloud is released.
func (t *team) inMidDestroy() *v1.Stack {
	t.test.Helper()
	t.program("app", thing("one", "hold: delete"))
	stack := t.stack("app", func(s *v1.Stack) { s.Spec.DestroyOnFinalize = true })
	t.awaitReady(stack, "one")
	t.Expect(t.Client().Delete(t.ctx, stack)).To(Succeed())
	t.awaitJournal("delete", "begin")
	return stack
}

// The pod of the destroy is killed, and the volume with the state is not mounted afterwards, so that it is an empty directory.
func TestADestroyThatIsKilledIsNotTakenForDone(t *testing.T) {
	short.Skip(t)
	u := newTeam(t)
	stack := u.inMidDestroy()
	u.killPod(stack)
	away := u.backend + ".away"
	u.Expect(os.Rename(u.backend, away)).To(Succeed())
	u.Expect(os.Mkdir(u.backend, 0o755)).To(Succeed())
	u.Expect(u.cloud.Release()).To(Succeed())
	u.awaitMessage(stack, v1.RecoveryFailedReason, "is no longer in the backend")

	u.Expect(os.RemoveAll(u.backend)).To(Succeed())
	u.Expect(os.Rename(away, u.backend)).To(Succeed())
	u.awaitDestroyed(stack)
}

// awaitDestroyed waits until the Stack is gone, with all that it managed.
func (t *team) awaitDestroyed(stack *v1.Stack) {
	t.test.Helper()
	t.Eventually(func() bool { return apierrors.IsNotFound(t.Get(t.ctx, client.ObjectKeyFromObject(stack), stack)) }).Should(BeTrue())
	things, err := t.cloud.Things()
	t.Expect(err).NotTo(HaveOccurred())
	t.Expect(things).To(BeEmpty())
}

// The Secret of the destroy is deleted, so that its pod can tell nobody that everything is deleted.
func TestADestroyThatCannotTellIsNotStuck(t *testing.T) {
	short.Skip(t)
	u := newTeam(t)
	stack := u.inMidDestroy()
	u.Expect(u.Get(u.ctx, client.ObjectKeyFromObject(stack), stack)).To(Succeed())
	u.Expect(u.Client().Delete(u.ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: u.namespace, Name: stack.Status.Run.Job}})).To(Succeed())
	u.Expect(u.cloud.Release()).To(Succeed())
	u.awaitDestroyed(stack)
}
