// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"testing"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestRunsAsJobs goes through what may happen to a run as a Job, on a node that starts its pod, kills it, and is lost
// itself. Each step builds on those before.
func TestRunsAsJobs(t *testing.T) {
	w := newWorld(t).team("team-a")
	w.steps(
		step{"Flux is installed", (*world).installFlux},
		step{"config/default is installed with config/runner-jobs", (*world).installForJobs},
		step{"Stacks are ready, and their events arrive", (*world).bringUpAsJobs},
		step{"the pod of a run may write its result and nothing else", (*world).lookAtRights},
		step{"plugins are shared on a volume that runs may only read", (*world).sharePlugins},
		step{"runs continue without their controller", (*world).loseControllers},
		step{"pods that are deleted, evicted and killed in mid-run", (*world).losePods},
		step{"pods that cannot start, or live", (*world).starvePods},
		step{"Jobs that are suspended", (*world).holdJobs},
		step{"a node that does not answer", (*world).loseNode},
		step{"50 Stacks at once, and no more Jobs at a time than there may be", (*world).bringUpManyAsJobs},
		step{"Stacks are destroyed", (*world).destroyAll},
		step{"a tenant who attacks gets an account of its own namespace", (*world).attackAsTenant},
	)
}

// installForJobs installs what docs/runners.md says.
func (w *world) installForJobs() {
	w.kubectl("apply", "--server-side", "--force-conflicts", "-k", "tests/cluster/e2e/testdata/jobs")
	w.rolledOut(controller)
	var deployment appsv1.Deployment
	w.Expect(w.Get(w.ctx, client.ObjectKey{Namespace: fluxSystem, Name: controller}, &deployment)).To(Succeed())
	w.Expect(deployment.Spec.Template.Spec.Containers[0].Args).To(ContainElement("--runner=job"))
}

// bringUpAsJobs creates Stacks of each kind of source, as without Jobs, and a second team whose Stack names an
// account.
func (w *world) bringUpAsJobs() {
	w.bringUpTeam()
	_, err := w.tryKubectl("--namespace", w.tenant, "run", "refused", "--image=unused", "--restart=Never")
	w.Expect(err).To(HaveOccurred(), "a pod that is not restricted")
	other := w.otherTeam()
	other.bringUpTeam()
	other.apply("apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: deployer, namespace: " + other.tenant + "}\n")
	other.program("other")
	other.apply(other.stack("other", "  programRef: {name: other}\n  serviceAccountName: deployer", "one", "0s"))
	w.program("third")
	w.apply(w.stack("third", "  programRef: {name: third}", "one", "0s"))
	w.bringUpStacks()
	w.awaitValue("third", "one")
	other.awaitValue("other", "one")
	for _, name := range []string{"inline", "fromgit", "third"} {
		w.madeOnce(name)
		w.Expect(w.jobs(name)).To(HaveLen(1))
	}
	w.Eventually(func(g Gomega) {
		for _, list := range []client.ObjectList{&corev1.SecretList{}, &corev1.ServiceAccountList{}, &rbacv1.RoleList{}, &rbacv1.RoleBindingList{}} {
			g.Expect(w.List(w.ctx, list, client.InNamespace(w.tenant), client.HasLabels{"pulumi.com/run"})).To(Succeed())
			g.Expect(list).To(HaveField("Items", BeEmpty()), "nothing of a run is left but its Job")
		}
		g.Expect(w.jobs("inline")).To(HaveEach(HaveField("Status.Succeeded", BeEquivalentTo(1))))
	}).Should(Succeed())
	w.Expect(w.kubectl("--namespace", w.tenant, "logs", "job/"+w.jobs("inline")[0].Name)).To(ContainSubstring("the run has ended"))
}

func (w *world) otherTeam() *world { return w.team("team-b") }

// destroyAll deletes the Stacks of both teams: a destroy is a Job too.
func (w *world) destroyAll() {
	other := w.otherTeam()
	other.kubectl("--namespace", other.tenant, "delete", "stacks", "--all", "--wait=false")
	w.destroyStacks()
	other.destroyStacks()
}
