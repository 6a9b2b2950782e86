// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"flag"
	"fmt"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	. "github.com/onsi/gomega"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/runlog"
	"github.com/flux-pulumi/pulumi-controller/tests/atonce"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
	"github.com/flux-pulumi/pulumi-controller/tests/sources"
)

func TestAProgramRunsAsAJob(t *testing.T) {
	u := newTeam(t)
	u.Expect(u.Client().Create(u.ctx, &corev1.LimitRange{
		ObjectMeta: metav1.ObjectMeta{Name: "memory", Namespace: u.namespace},
		Spec:       corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{{Type: corev1.LimitTypeContainer, Default: corev1.ResourceList{"memory": resource.MustParse("200Mi")}}}},
	})).To(Succeed())
	u.program("app", thing("one", "hold: create"))
	stack := u.stack("app", func(s *v1.Stack) {
		s.Spec.DestroyOnFinalize = true
		s.Spec.WriteOutputsToSecret = &v1.OutputsSecret{Name: "outputs"}
	})
	u.awaitJournal("create", "begin")
	u.Expect(u.Get(u.ctx, client.ObjectKeyFromObject(stack), stack)).To(Succeed())
	name := stack.Status.Run.Job
	u.Expect(name).To(Equal("pulumi-run-" + stack.Status.Run.ID))
	u.mayOnly(name)
	u.Expect(u.runningPod(stack).Spec.Containers[0].Resources.Requests).To(Equal(corev1.ResourceList{
		"cpu": resource.MustParse("100m"), "memory": resource.MustParse("200Mi"),
	}), "the namespace says how much memory, which is less than the default, and nothing of the CPU")
	var secret corev1.Secret
	u.Expect(u.Get(u.ctx, client.ObjectKey{Namespace: u.namespace, Name: name}, &secret)).To(Succeed())
	u.Expect(secret.Data).NotTo(HaveKey("run"), "what is to be done is secret, and is not kept")
	u.Expect(u.cloud.Release()).To(Succeed())

	u.awaitReady(stack, "one")
	u.Expect(string(stack.Status.Outputs["hidden"].Raw)).To(Equal(`"[secret]"`))
	u.Expect(u.Get(u.ctx, client.ObjectKey{Namespace: u.namespace, Name: "outputs"}, &secret)).To(Succeed())
	u.Expect(secret.Data).To(HaveKeyWithValue("hidden", []byte("one")))
	u.Expect(u.jobs()).To(HaveLen(1))
	u.keptLog(stack, "lab:index:Thing (a): create done")
	u.Eventually(func(g Gomega) {
		for _, list := range []client.ObjectList{&corev1.SecretList{}, &corev1.ServiceAccountList{}, &rbacv1.RoleList{}, &rbacv1.RoleBindingList{}} {
			g.Expect(u.List(u.ctx, list, client.InNamespace(u.namespace), client.HasLabels{"pulumi.com/run"})).To(Succeed())
			g.Expect(list).To(HaveField("Items", BeEmpty()), "nothing of the run is left but its Job, for its log")
		}
	}).Should(Succeed())

	u.Expect(u.Client().Delete(u.ctx, stack)).To(Succeed())
	u.Eventually(func() error { return u.Get(u.ctx, client.ObjectKeyFromObject(stack), stack) }).Should(MatchError(ContainSubstring("not found")))
	u.Expect(u.count("delete", "done")).To(Equal(1), "the destroy is a Job too")
}

// keptLog checks the log of the last run, which is there after its Job.
func (t *team) keptLog(stack *v1.Stack, line string) {
	t.test.Helper()
	status := stack.Status.RunLog
	t.Expect(status).To(HaveField("ConfigMap", stack.Name+"-log"))
	t.Expect(status.Run).To(Equal(stack.Status.LastUpdate.Name))
	var kept corev1.ConfigMap
	t.Expect(t.Get(t.ctx, client.ObjectKey{Namespace: t.namespace, Name: status.ConfigMap}, &kept)).To(Succeed())
	t.Expect(metav1.IsControlledBy(&kept, stack)).To(BeTrue())
	log, err := runlog.Decode(kept.BinaryData[runlog.Key])
	t.Expect(err).NotTo(HaveOccurred())
	t.Expect(log.Lines).To(ContainElement(HaveField("Text", line)))
}

// mayOnly asks the API server what the account of the run may do.
func (t *team) mayOnly(name string) {
	t.test.Helper()
	user := "system:serviceaccount:" + t.namespace + ":" + name
	for _, ask := range []struct {
		verb, resource, name, namespace string
		may                             bool
	}{
		{"get", "secrets", name, t.namespace, true}, {"patch", "secrets", name, t.namespace, true},
		{"update", "secrets", name, t.namespace, false}, {"delete", "secrets", name, t.namespace, false},
		{"list", "secrets", "", t.namespace, false}, {"get", "secrets", "another", t.namespace, false},
		{"get", "secrets", name, "default", false}, {"get", "pods", name, t.namespace, false}, {"create", "pods", "", t.namespace, false},
		{"create", "serviceaccounts/token", name, t.namespace, false},
	} {
		review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
			User: user, Groups: []string{"system:serviceaccounts", "system:authenticated"},
			ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: ask.namespace, Verb: ask.verb, Resource: ask.resource, Name: ask.name},
		}}
		t.Expect(t.Client().Create(t.ctx, review)).To(Succeed())
		t.Expect(review.Status.Allowed).To(Equal(ask.may), "%+v", ask)
	}
}

func TestASourceRunsAsAJob(t *testing.T) {
	u := newTeam(t)
	repo, err := u.git.NewRepo(u.ctx, u.namespace)
	u.Expect(err).NotTo(HaveOccurred())
	_, err = repo.Commit(u.ctx, sources.Files{"infra/Pulumi.yaml": "name: app\nruntime: yaml\n" + thing("one")}, "first")
	u.Expect(err).NotTo(HaveOccurred())
	u.Expect(u.Client().Create(u.ctx, &sourcev1.GitRepository{
		ObjectMeta: metav1.ObjectMeta{Name: "app", Namespace: u.namespace},
		Spec: sourcev1.GitRepositorySpec{URL: repo.URL(), Interval: metav1.Duration{Duration: time.Hour},
			Reference: &sourcev1.GitRepositoryRef{Branch: sources.Branch}},
	})).To(Succeed())
	stack := u.stack("app", func(s *v1.Stack) {
		s.Spec.ProgramRef = nil
		s.Spec.FluxSource = &v1.FluxSource{SourceRef: v1.SourceReference{APIVersion: sourcev1.GroupVersion.String(), Kind: "GitRepository", Name: "app"}, Dir: "infra"}
	})
	u.awaitReady(stack, "one")
	u.Expect(u.count("create", "done")).To(Equal(1))
}

func TestATemplateThatCannotBeStalls(t *testing.T) {
	short.Skip(t)
	u := newTeam(t)
	u.program("app", thing("one"))
	stack := u.stack("app", func(s *v1.Stack) { s.Spec.WorkspaceTemplate = u.pod(map[string]any{"git": map[string]any{}}) })
	u.awaitMessage(stack, v1.InvalidSpecReason, "spec.workspaceTemplate.spec.git is a source")
	edit(u, stack, func(s *v1.Stack) { s.Spec.WorkspaceTemplate = nil })
	u.awaitMessage(stack, v1.InvalidSpecReason, "is deleted with it")
	edit(u, stack, func(s *v1.Stack) { s.Spec.WorkspaceTemplate = u.pod(nil) })
	u.awaitReady(stack, "one")
	u.Expect(u.jobs()).To(HaveLen(1), "none was made for what cannot be")
}

func TestAPodThatIsNotValidStalls(t *testing.T) {
	short.Skip(t)
	u := newTeam(t)
	u.program("app", thing("one"))
	stack := u.stack("app", func(s *v1.Stack) {
		s.Spec.RetryInterval = &metav1.Duration{Duration: time.Hour}
		s.Spec.WorkspaceTemplate = u.podWith(nil, map[string]any{"dnsPolicy": "Anything"})
	})
	u.awaitMessage(stack, v1.InvalidSpecReason, "spec.workspaceTemplate, or what LimitRanges and webhooks add to it, results in an invalid pod: ", `spec.dnsPolicy: Unsupported value: "Anything"`)
	u.await(stack, func(g Gomega, s *v1.Stack) { g.Expect(conditions.IsStalled(s)).To(BeTrue()) })
	edit(u, stack, func(s *v1.Stack) { s.Spec.WorkspaceTemplate = u.pod(nil) })
	u.awaitReady(stack, "one")
	u.Expect(u.jobs()).To(HaveLen(1), "none was made for what cannot be")
}

var perTeam = flag.Int("stacks", 4, "how many Stacks each of two teams has in TestThereAreNotMoreJobsAtATimeThanThereMayBe")

func TestThereAreNotMoreJobsAtATimeThanThereMayBe(t *testing.T) {
	short.Skip(t)
	teams := []*team{newTeam(t), newTeam(t)}
	for _, u := range teams {
		for i := range *perTeam {
			name := fmt.Sprintf("app-%d", i)
			u.program(name, thing("one", "hold: create"))
			u.stack(name)
		}
	}
	u := teams[0]
	u.Eventually(func(g Gomega) {
		waiting := 0
		for _, u := range teams {
			for _, stack := range u.stacks(g) {
				if conditions.GetMessage(&stack, meta.ReadyCondition) == "Waiting for other runs to end" {
					waiting++
				}
			}
		}
		g.Expect(waiting).To(Equal(2**perTeam-concurrent), "those that wait say so")
		g.Expect(teams[0].count("create", "begin")+teams[1].count("create", "begin")).To(Equal(concurrent), "all others are held")
	}).Should(Succeed())
	for _, u := range teams {
		u.Expect(u.cloud.Release()).To(Succeed())
	}
	var all []corev1.Pod
	for _, u := range teams {
		pods := u.endedPods(*perTeam)
		u.Expect(atonce.Most(pods)).To(BeNumerically("<=", perNamespace), "--concurrent-runs-per-namespace")
		all = append(all, pods...)
	}
	u.Expect(atonce.Most(all)).To(Equal(concurrent), "--concurrent-runs: as many as there may be, and no more")
}

func (t *team) stacks(g Gomega) []v1.Stack {
	var list v1.StackList
	g.Expect(t.List(t.ctx, &list, client.InNamespace(t.namespace))).To(Succeed())
	return list.Items
}

// endedPods waits until all Stacks are Ready and that many pods have ended, and returns the pods.
func (t *team) endedPods(count int) []corev1.Pod {
	t.test.Helper()
	var list corev1.PodList
	t.Eventually(func(g Gomega) {
		g.Expect(t.stacks(g)).To(HaveEach(Satisfy(func(s v1.Stack) bool { return conditions.IsReady(&s) })))
		g.Expect(t.List(t.ctx, &list, client.InNamespace(t.namespace))).To(Succeed())
		g.Expect(list.Items).To(And(HaveLen(count), HaveEach(HaveField("Status.Phase", corev1.PodSucceeded))))
	}).WithTimeout(patience + time.Duration(count)*10*time.Second).Should(Succeed())
	return list.Items
}
