// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"slices"
	"strings"
	"time"

	. "github.com/onsi/gomega"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/cloud"
)

// teamPod mounts the cloud of the team. All else is as the controller makes it.
const teamPod = `  workspaceTemplate:
    spec:
      podTemplate:
        spec:
          volumes: [{name: cloud, persistentVolumeClaim: {claimName: cloud}}]
          containers: [{name: pulumi, volumeMounts: [{name: cloud, mountPath: /cloud}]}]
`

// cloudPod mounts the cloud of a team on an existing cluster, to read its files.
const cloudPod = `apiVersion: v1
kind: Pod
metadata: {name: cloud, namespace: NAMESPACE}
spec:
  automountServiceAccountToken: false
  securityContext: {runAsNonRoot: true, runAsUser: 65534, fsGroup: 65534, seccompProfile: {type: RuntimeDefault}}
  containers:
    - name: cloud
      image: ghcr.io/flux-pulumi/pulumi-controller:latest
      imagePullPolicy: IfNotPresent
      command: [busybox, sleep, "86400"]
      securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
      volumeMounts: [{name: cloud, mountPath: /cloud}]
  volumes: [{name: cloud, persistentVolumeClaim: {claimName: cloud}}]
`

// team returns the same world for a tenant whose runs are Jobs, with a namespace that admits only restricted pods, a
// bucket, and a cloud on a volume.
func (w *world) team(name string) *world {
	t := *w
	t.tenant, t.bucket, t.workspace = name, "state-"+name, teamPod
	return &t
}

// bringUpTeam creates the objects of the team.
func (w *world) bringUpTeam() {
	w.test.Helper()
	w.apply(`apiVersion: v1
kind: Namespace
metadata: {name: ` + w.tenant + `, labels: {pod-security.kubernetes.io/enforce: restricted}}
`)
	w.Expect(w.s3.MakeBackend(w.ctx, w.bucket)).To(Succeed())
	w.makeVolume(w.tenant)
	if w.node == nil {
		w.apply(strings.ReplaceAll(cloudPod, "NAMESPACE", w.tenant))
		w.kubectl("--namespace", w.tenant, "wait", "pod/cloud", "--for=condition=Ready", "--timeout="+patience.String())
	}
}

// cloudOfTeam works even while our own node has no kubelet.
func (w *world) cloudOfTeam() *cloud.Cloud {
	w.test.Helper()
	if w.node != nil {
		return cloud.Open(w.cloudDir(w.tenant))
	}
	return w.unpack(w.kubectl("--namespace", w.tenant, "exec", "cloud", "--", "busybox", "tar", "-c", "-C", "/cloud", "."))
}

// patchStack merges a patch into the spec of a Stack.
func (w *world) patchStack(name, spec string) {
	w.test.Helper()
	w.kubectl("--namespace", w.tenant, "patch", "stack", name, "--type=merge", "--patch", `{"spec": `+spec+`}`)
}

// inFlight is a run and its pod.
type inFlight struct {
	run *v1.RunStatus
	pod corev1.Pod
}

// begins is an update to start.
type begins struct {
	of          *world
	name, value string
	// takes is how long the cloud takes.
	takes time.Duration
}

// beginJobs starts updates, and returns once the cloud has started all of them.
func (w *world) beginJobs(all ...begins) (found []inFlight) {
	w.test.Helper()
	done := make([]int, len(all))
	for i, b := range all {
		done[i] = len(b.of.updates(b.name))
		b.of.setValue(b.name, b.value, b.takes)
	}
	w.Eventually(func(g Gomega) {
		for i, b := range all {
			g.Expect(b.of.updates(b.name)).To(HaveLen(done[i]+1), b.name)
		}
	}).Should(Succeed())
	for _, b := range all {
		found = append(found, b.of.jobInFlight(b.name))
	}
	return found
}

func (w *world) jobInFlight(name string) (found inFlight) {
	w.test.Helper()
	w.Eventually(func(g Gomega) {
		found.run = w.stackNow(g, name).Status.Run
		g.Expect(found.run).NotTo(BeNil())
		var pods corev1.PodList
		g.Expect(w.List(w.ctx, &pods, client.InNamespace(w.tenant), client.MatchingLabels{"pulumi.com/run": found.run.ID})).To(Succeed())
		g.Expect(pods.Items).To(HaveLen(1))
		found.pod = pods.Items[0]
	}).Should(Succeed())
	w.Expect(found.run.Job).To(Equal("pulumi-run-" + found.run.ID))
	return found
}

// jobs returns the Jobs of a Stack, including those that have ended.
func (w *world) jobs(name string) []batchv1.Job {
	w.test.Helper()
	var list batchv1.JobList
	w.Expect(w.List(w.ctx, &list, client.InNamespace(w.tenant), client.MatchingLabels{"pulumi.com/stack": name})).To(Succeed())
	return list.Items
}

// updatedOnce expects exactly one more complete update than before, and nothing created twice.
func (w *world) updatedOnce(name string, before int) {
	w.test.Helper()
	updates := w.updates(name)
	w.Expect(updates).To(HaveLen(before+1), "the update is made once: %v", updates)
	w.Expect(updates[before].Phase).To(Equal(cloud.Done))
	w.madeOnce(name)
}

// awaitEvent waits for an event of the Stack with these texts.
func (w *world) awaitEvent(name, reason string, parts ...string) {
	w.test.Helper()
	w.Eventually(func(g Gomega) {
		var list corev1.EventList
		g.Expect(w.List(w.ctx, &list, client.InNamespace(w.tenant))).To(Succeed())
		var reported []string
		for _, event := range list.Items {
			if event.InvolvedObject.Kind == v1.StackKind && event.InvolvedObject.Name == name && event.Reason == reason {
				reported = append(reported, event.Message)
			}
		}
		saysAll := func(text string) bool {
			return !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(text, part) })
		}
		g.Expect(reported).To(ContainElement(Satisfy(saysAll)), "events %s of %s say %q", reason, name, parts)
	}).Should(Succeed())
}
