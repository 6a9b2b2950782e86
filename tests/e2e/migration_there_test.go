// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/system"
)

// there is the section of the guide that leads from the operator to this controller.
const there = "Migrate"

// foresees expects the check to say, before anything has changed, what takeOver then sees.
func (m *migration) foresees() {
	m.test.Helper()
	cli, err := system.NewFluxCLI(m.test.TempDir(), m.ControlPlane.KubeconfigPath())
	m.Expect(err).NotTo(HaveOccurred())
	out, errs, exit, err := cli.Run(m.ctx, "pulumi", "check", "--migration", "-o", "json")
	m.Expect(err).NotTo(HaveOccurred())
	m.Expect(exit).To(BeZero(), errs)
	var report struct {
		Stacks    []struct{ Name, Outcome, Run string }
		Operators []struct{ Stop []string }
	}
	m.Expect(json.Unmarshal([]byte(out), &report)).To(Succeed())
	outcomes := map[string]string{}
	for _, stack := range report.Stacks {
		outcomes[stack.Name] = strings.TrimSpace(stack.Outcome + " " + stack.Run)
	}
	m.Expect(outcomes).To(Equal(map[string]string{"proven": "TakenOver", "failed": "Runs update", "set-aside": "TakenOver"}))
	m.Expect(report.Operators).To(HaveLen(1))
	m.Expect(report.Operators[0].Stop).To(Equal([]string{"kubectl -n pulumi-kubernetes-operator scale deployment controller-manager --replicas=0"}))
	m.keepsAll()
}

func (m *migration) stopOperator() {
	m.test.Helper()
	text := strings.Join(strings.Fields(m.guide.section(there)), " ")
	named := regexp.MustCompile("In v2's `install.yaml`, it is `([a-z-]+)` in the namespace `([a-z-]+)`").FindStringSubmatch(text)
	m.Expect(named).To(HaveLen(3))
	m.Expect(m.kubectl(m.guide.command(there, "kubectl get deployments -A"))).To(MatchRegexp(`(?m)^` + named[2] + ` +` + named[1] + ` `))
	filled := []string{"<name>", named[1], "<namespace>", named[2]}
	pods := m.guide.command(there, "kubectl -n <namespace> get pods", filled...)
	m.Eventually(func() string { return m.kubectl(pods) }).Should(ContainSubstring("\n" + named[1] + "-"))

	m.Expect(m.kubectl(m.guide.command(there, "kubectl get updates.auto.pulumi.com -A"))).To(MatchRegexp(
		`(?m)^` + m.namespace + ` +proven-18a9f0c2d3e +False +False +True\b`))
	m.showsWhatV1IsAt()
	m.kubectl(m.guide.command(there, "kubectl -n <namespace> scale ", filled...))
	m.Eventually(func() string { return m.kubectl(pods) }).Should(HavePrefix("No resources found"))
}

// showsWhatV1IsAt expects the command to tell a Stack of v1 that has an update in flight from the others.
func (m *migration) showsWhatV1IsAt() {
	m.test.Helper()
	look := m.guide.command(there, "kubectl get stacks -A -o custom-columns=")
	m.Expect(m.kubectl(look)).To(MatchRegexp(`(?m)^` + m.namespace + ` +failed +<none>$`))
	updating := m.failed.DeepCopy()
	m.Expect(m.Get(m.ctx, keyOf(updating), updating)).To(Succeed())
	before := updating.DeepCopy()
	conditions.MarkTrue(updating, meta.ReconcilingCondition, "StackProcessing", "stack is being processed")
	m.Expect(m.Status().Patch(m.ctx, updating, client.MergeFrom(before))).To(Succeed())
	m.Expect(m.kubectl(look)).To(MatchRegexp(`(?m)^` + m.namespace + ` +failed +StackProcessing$`))
	before.ResourceVersion = updating.ResourceVersion
	m.Expect(m.Status().Patch(m.ctx, before, client.MergeFrom(updating))).To(Succeed())
}

func (m *migration) replaceCRDs() {
	m.test.Helper()
	m.kubectl("kubectl apply --dry-run=server -k config/crd") // "works too"
	m.kubectl(m.guide.command(there, "kubectl apply --server-side --force-conflicts -k "))
	m.keepsAll()
	aside := m.guide.fenced(there, "sh")
	m.Expect(aside).To(HaveLen(1))
	m.Eventually(func() bool {
		m.kubectl(strings.NewReplacer("<namespace>", m.namespace, "<name>", m.setAside.Name).Replace(aside[0]))
		m.Expect(m.Get(m.ctx, keyOf(m.setAside), m.setAside)).To(Succeed())
		return m.setAside.Spec.Suspend
	}).Should(BeTrue(), "the CRD has the field")
}

// install does what docs/installation.md says, with the configuration of this repository, and runs what that has installed.
func (m *migration) install() {
	m.test.Helper()
	m.Expect(m.guide.section(there)).To(ContainSubstring("4. [Install the controller](../installation.md)"))
	dir := filepath.Join(m.dir, "kustomization")
	m.Expect(os.Mkdir(dir, 0o755)).To(Succeed())
	config, err := filepath.Rel(dir, filepath.Join(m.root, "config", "default"))
	m.Expect(err).NotTo(HaveOccurred())
	files, commands := m.installation.fenced("With kubectl", "yaml"), m.installation.fenced("With kubectl", "sh")
	m.Expect(files).To(HaveLen(1))
	m.Expect(commands).To(HaveLen(1))
	const ours = "github.com/flux-pulumi/pulumi-controller//config/default?ref=main"
	m.Expect(files[0]).To(ContainSubstring(ours))
	m.Expect(os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte(strings.Replace(files[0], ours, config, 1)), 0o644)).To(Succeed())
	rolledOut := make(chan string, 1)
	go func() {
		output, err := m.shell(dir, commands[0])
		rolledOut <- fmt.Sprintf("%s%v", output, err)
	}()
	m.Eventually(func(g Gomega) {
		m.startPods(g)
		g.Expect(rolledOut).To(Receive(HaveSuffix("successfully rolled out\n<nil>")))
	}).Should(Succeed())
	m.runInstalled()
}

// startPods has the pods of the controller ready, as a kubelet would.
func (m *migration) startPods(g Gomega) {
	var pods corev1.PodList
	g.Expect(m.List(m.ctx, &pods, client.InNamespace(fluxSystem))).To(Succeed())
	for i := range pods.Items {
		pod := &pods.Items[i]
		pod.Status.Phase = corev1.PodRunning
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		g.Expect(m.Status().Update(m.ctx, pod)).To(Succeed())
	}
}

// runInstalled runs the controller with the account that was installed.
func (m *migration) runInstalled() {
	m.test.Helper()
	dir, account := filepath.Join(m.dir, "installed"), filepath.Join(m.dir, "account")
	m.Expect(os.Mkdir(dir, 0o755)).To(Succeed())
	m.Expect(m.ControlPlane.WriteAccountKubeconfig(m.ctx, account, fluxSystem, system.Account)).To(Succeed())
	installed, err := newWorld(m.ctx, dir, system.Options{WithoutSources: true, ControlPlane: m.ControlPlane, Kubeconfig: account, WritePaths: []string{m.place}})
	m.Expect(err).NotTo(HaveOccurred())
	m.world = installed
	m.test.Cleanup(func() { m.Expect(installed.Stop()).To(Succeed()) })
	m.test.Cleanup(func() {
		var stacks v1.StackList
		if m.test.Failed() && m.List(m.ctx, &stacks) == nil {
			m.explain(m.ctx, stacks)
		}
	})
}

// takeOver looks at the Stacks until they are Ready: one without a run, one after a run that creates what is missing, and
// the one that was set aside when it is resumed.
func (m *migration) takeOver() {
	m.test.Helper()
	look := m.guide.command(there, "kubectl get stacks -A -o wide")
	const applied = ` +\S+ +True +Applied revision: 1@sha256:\w+`
	m.Eventually(func() string { return m.kubectl(look) }).Should(And(
		MatchRegexp(`(?m)^`+m.namespace+` +proven`+applied+` \(by the Pulumi operator; taken over without a run, because nothing has changed since\) `),
		MatchRegexp(`(?m)^`+m.namespace+` +failed`+applied+` +1@sha256:`)))
	m.Expect(m.verbs()).To(Equal([]string{"stack export", "up"}), "the failed one alone runs, once")
	m.Expect(m.pulumiCalls()).To(HaveEach(ContainSubstring("failed")))

	edit(m.tenant, m.setAside, func(s *v1.Stack) { s.Spec.Suspend = false })
	m.Eventually(func() string { return m.kubectl(look) }).Should(MatchRegexp(`(?m)^` + m.namespace + ` +set-aside` + applied + ` +1@sha256:`))
	m.Expect(m.verbs()).To(Equal([]string{"stack export", "up", "stack export", "up"}))
	m.Expect(m.things()).To(Equal(map[string]string{"a": "one", "b": "one", "c": "one", "d": "one"}), "none is there twice")
	for _, name := range []string{"a", "b", "c", "d"} {
		m.Expect(m.cloud.Created(name)).To(Equal(1), name)
	}
}

// cleanUp types the block that removes what the operator has left, and expects the rest to stay.
func (m *migration) cleanUp() {
	m.test.Helper()
	m.kubectl(m.guide.command(there, "kubectl delete workspaces.auto.pulumi.com -A --all\n"))
	m.Expect(m.kubectl("kubectl get crd -o name | grep pulumi.com")).To(Equal(
		"customresourcedefinition.apiextensions.k8s.io/policysets.pulumi.com\ncustomresourcedefinition.apiextensions.k8s.io/programs.pulumi.com\ncustomresourcedefinition.apiextensions.k8s.io/stacks.pulumi.com\n"))
	m.Eventually(func() string { return m.kubectl("kubectl -n " + m.namespace + " get statefulsets,services,secrets") }).Should(
		HavePrefix("No resources found"), "the StatefulSet, the Service and the outputs go with their owners")
	m.keepsAll()
}
