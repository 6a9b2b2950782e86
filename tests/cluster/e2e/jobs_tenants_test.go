// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/sources"
)

// attackers is the namespace of a team, and the name of the account that applies what it has in git.
const attackers = "attackers"

// stolen is a program that publishes the token of its pod. Cut at a letter, it is not recognized as a secret.
const stolen = `name: stolen
runtime: yaml
variables:
  token: {fn::readFile: ` + tokenFile + `}
outputs:
  value: done
  pieces: {fn::split: [e, "${token}"]}
`

// onTheNode asks for the directory of the node that has the tokens of all its pods.
const onTheNode = `  workspaceTemplate:
    spec:
      podTemplate:
        spec:
          volumes: [{name: node, hostPath: {path: /var/lib/kubelet/pods}}]
          containers: [{name: pulumi, securityContext: {privileged: true}, volumeMounts: [{name: node, mountPath: /node}]}]
`

// attackAsTenant has a team of examples/multi-tenancy try to get the tokens of others, with config/multi-tenancy.
func (w *world) attackAsTenant() {
	w.kubectl("apply", "--server-side", "--force-conflicts", "-k", "tests/cluster/e2e/testdata/tenants")
	w.rolledOut(controller)
	team := w.team(attackers)
	tenant, err := os.ReadFile(filepath.Join(w.root, "examples", "multi-tenancy", "tenant.yaml"))
	w.Expect(err).NotTo(HaveOccurred())
	team.apply(strings.ReplaceAll(string(tenant), "team-a", attackers))
	w.Expect(w.s3.MakeBackend(w.ctx, team.bucket)).To(Succeed())

	team.attackThroughPods()
	team.attackThroughTheTemplate()
	team.attackThroughTheProgram()
	w.kubectl("--namespace", attackers, "delete", "stacks", "--all", "--timeout="+patience.String())
	w.kubectl("delete", "namespace", attackers, "--wait=false")
}

// attackThroughPods uses the role edit, which lets the team create pods.
func (w *world) attackThroughPods() {
	w.test.Helper()
	as := w.asTeam()
	w.Expect(as.Create(w.ctx, podOfTeam(nil), client.DryRunAll)).To(Succeed(), "a restricted pod")
	for what, change := range map[string]func(*corev1.PodSpec){
		"a privileged container": func(pod *corev1.PodSpec) {
			yes := true
			pod.Containers[0].SecurityContext = &corev1.SecurityContext{Privileged: &yes}
		},
		"a directory of the node": func(pod *corev1.PodSpec) {
			pod.Volumes = []corev1.Volume{{Name: "node", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/"}}}}
		},
		"the processes of the node": func(pod *corev1.PodSpec) { pod.HostPID = true },
		"the network of the node":   func(pod *corev1.PodSpec) { pod.HostNetwork = true },
	} {
		err := as.Create(w.ctx, podOfTeam(change))
		w.Expect(apierrors.IsForbidden(err)).To(BeTrue(), "%s: %v", what, err)
		w.Expect(err).To(MatchError(ContainSubstring(`violates PodSecurity "restricted`)), what)
	}
	unlabel := client.RawPatch("application/merge-patch+json", []byte(`{"metadata": {"labels": {"pod-security.kubernetes.io/enforce": null}}}`))
	err := as.Patch(w.ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: attackers}}, unlabel)
	w.Expect(apierrors.IsForbidden(err)).To(BeTrue(), "removing the label: %v", err)
}

// asTeam returns a client with the rights of the account that applies what the team has in git.
func (w *world) asTeam() client.Client {
	w.test.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", w.kubeconfig)
	w.Expect(err).NotTo(HaveOccurred())
	config.Impersonate, config.QPS = rest.ImpersonationConfig{UserName: "system:serviceaccount:" + attackers + ":" + attackers}, -1
	found, err := client.New(config, client.Options{Scheme: w.Scheme()})
	w.Expect(err).NotTo(HaveOccurred())
	return found
}

// podOfTeam returns a pod that the level restricted admits, unless it is changed.
func podOfTeam(change func(*corev1.PodSpec)) *corev1.Pod {
	yes, no, user := true, false, int64(65534)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: attackers, Name: "attacker"}, Spec: corev1.PodSpec{
		SecurityContext: &corev1.PodSecurityContext{RunAsNonRoot: &yes, RunAsUser: &user,
			SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}},
		Containers: []corev1.Container{{Name: "attacker", Image: "unused", SecurityContext: &corev1.SecurityContext{
			AllowPrivilegeEscalation: &no, Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}}}}},
	}}
	if change != nil {
		change(&pod.Spec)
	}
	return pod
}

// attackThroughTheTemplate has the controller make such a pod.
func (w *world) attackThroughTheTemplate() {
	w.test.Helper()
	w.applyAsTeam("node", onTheNode)
	w.Eventually(func(g Gomega) {
		stack := w.stackNow(g, "node")
		g.Expect(conditions.GetReason(stack, meta.StalledCondition)).To(Equal(v1.InvalidSpecReason))
		g.Expect(conditions.GetMessage(stack, meta.StalledCondition)).To(And(ContainSubstring("hostPath"), ContainSubstring("privileged")))
	}).Should(Succeed())
	w.Expect(w.jobs("node")).To(BeEmpty())
}

// attackThroughTheProgram reads the token of the pod that the program runs in, and uses it.
func (w *world) attackThroughTheProgram() {
	w.test.Helper()
	w.applyAsTeam("token", "")
	w.awaitValue("token", "done")
	w.Expect(w.jobs("token")).To(HaveLen(1), "it ran in a pod of its own")
	var pieces []string
	w.Expect(json.Unmarshal(w.stackNow(w, "token").Status.Outputs["pieces"].Raw, &pieces)).To(Succeed())
	as := w.with(strings.TrimSpace(strings.Join(pieces, "e")))

	review := &authenticationv1.SelfSubjectReview{}
	w.Expect(as.Create(w.ctx, review)).To(Succeed(), "the token is valid")
	w.Expect(review.Status.UserInfo.Username).To(Equal("system:serviceaccount:" + attackers + ":default"))
	admin := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: fluxSystem, Name: "kustomize-controller"}}
	w.Expect(w.Get(w.ctx, client.ObjectKeyFromObject(admin), &corev1.ServiceAccount{})).To(Succeed(), "it is there")
	for what, try := range map[string]error{
		"become cluster-admin":      as.SubResource("token").Create(w.ctx, admin, &authenticationv1.TokenRequest{}),
		"list all Secrets":          as.List(w.ctx, &corev1.SecretList{}),
		"list the Secrets of Flux":  as.List(w.ctx, &corev1.SecretList{}, client.InNamespace(fluxSystem)),
		"list Secrets of the team":  as.List(w.ctx, &corev1.SecretList{}, client.InNamespace(attackers)),
		"create a pod":              as.Create(w.ctx, podOfTeam(nil)),
		"create a Stack":            as.Create(w.ctx, &v1.Stack{ObjectMeta: metav1.ObjectMeta{Namespace: attackers, Name: "another"}}),
		"list Stacks of all others": as.List(w.ctx, &v1.StackList{}),
	} {
		w.Expect(apierrors.IsForbidden(try)).To(BeTrue(), "%s: %v", what, try)
	}
}

// applyAsTeam applies a Stack with that program as kustomize-controller would for the team. A Program could not read a
// file outside of its workspace, but a program from git can.
func (w *world) applyAsTeam(name, workspace string) {
	w.test.Helper()
	repo, err := w.git.NewRepo(w.ctx, attackers+"-"+name)
	w.Expect(err).NotTo(HaveOccurred())
	_, err = repo.Commit(w.ctx, sources.Files{"Pulumi.yaml": stolen}, "first")
	w.Expect(err).NotTo(HaveOccurred())
	w.apply(`apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: ` + name + `, namespace: ` + attackers + `}
spec: {interval: 1h, url: "` + repo.URL() + `", ref: {branch: ` + sources.Branch + `}}
`)
	command := w.command(filepath.Join(w.root, "bin", "kubectl"), "apply", "--server-side", "--as=system:serviceaccount:"+attackers+":"+attackers, "-f", "-")
	command.Stdin = strings.NewReader(`apiVersion: pulumi.com/v1
kind: Stack
metadata: {name: ` + name + `, namespace: ` + attackers + `}
spec:
  stack: dev
  backend: ` + w.backend() + `
  fluxSource: {sourceRef: {kind: GitRepository, name: ` + name + `}}
` + workspace + `  envRefs:
` + w.variables())
	output, err := command.CombinedOutput()
	w.Expect(err).NotTo(HaveOccurred(), "%s", output)
}
