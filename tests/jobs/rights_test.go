// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"slices"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	. "github.com/onsi/gomega"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/controlplane"
	"github.com/flux-pulumi/pulumi-controller/tests/rights"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
	"github.com/flux-pulumi/pulumi-controller/tests/system"
)

// TestTheControllerHasTheRightsForJobsThatItNeedsAndNoOthers makes the controller use each permission of
// config/runner-jobs, and compares its requests with the role. It runs as the account with this role and those of
// config/default, so a missing permission fails the other tests too.
func TestTheControllerHasTheRightsForJobsThatItNeedsAndNoOthers(t *testing.T) {
	short.Skip(t)
	u := newTeam(t)
	u.program("app", thing("one"))
	app := u.stack("app")
	u.awaitReady(app, "one")
	u.program("stuck", thing("one"))
	stuck := u.stack("stuck", func(s *v1.Stack) {
		s.Spec.WorkspaceTemplate = u.pod(map[string]any{"image": "nowhere.example/pulumi:1"})
	})
	u.awaitMessage(stuck, v1.PodFailedReason, "nowhere.example/pulumi:1")

	// As if a controller had ended between recording a run and creating its Job.
	u.Eventually(func(g Gomega) {
		g.Expect(u.Get(u.ctx, client.ObjectKeyFromObject(app), app)).To(Succeed())
		app.Status.Run = &v1.RunStatus{ID: "nowhere", Operation: v1.OperationUpdate, Generation: app.Generation, StartedAt: metav1.Now(), Holder: v1.RunHolder{Host: "gone"}}
		g.Expect(u.Client().Status().Update(u.ctx, app)).To(Succeed())
	}).Should(Succeed())
	u.annotate(app, meta.ReconcileRequestAnnotation, time.Now().String())

	var role rbacv1.ClusterRole
	u.Expect(u.Get(u.ctx, client.ObjectKey{Name: "pulumi-controller-jobs"}, &role)).To(Succeed())
	granted := rights.Of(role.Rules, "")
	u.Expect(granted).NotTo(BeEmpty())
	u.Eventually(func(g Gomega) {
		requests, err := u.ControlPlane.Requests(system.ControllerUser)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(rights.Forbidden(requests)).To(BeEmpty(), "what the roles lack")
		// Its requests in its own namespace have their own Role.
		requests = slices.DeleteFunc(requests, func(r controlplane.Request) bool { return r.Namespace == u.RuntimeNamespace() })
		g.Expect(rights.Unused(granted, requests)).To(BeEmpty(), "what the role allows and nothing needs")
	}).Should(Succeed())
	for _, right := range granted {
		t.Logf("allowed and needed: %s", right)
	}
}
