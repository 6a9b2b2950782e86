// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/cloud"
)

const (
	// twoStarts is longer than it takes to start and stop a controller.
	twoStarts = time.Minute
	// severalPods is longer than it takes to start several pods: the first must not end before something happens to
	// the last.
	severalPods = 30 * time.Second
)

// loseControllers kills the controller in the middle of runs, stops the next one, and has none while the runs end.
func (w *world) loseControllers() {
	names := []string{"inline", "fromgit"}
	updates, jobs := w.counts(names), map[string]int{}
	for _, name := range names {
		jobs[name] = len(w.jobs(name))
	}
	pod := w.pod()
	started := w.beginJobs(begins{w, "inline", "alone", twoStarts}, begins{w, "fromgit", "alone", twoStarts})
	w.kubectl("--namespace", fluxSystem, "delete", "pod", pod.Name, "--force", "--grace-period=0")
	w.awaitGone(pod)
	w.rolledOut(controller)
	pod = w.pod()
	w.kubectl("--namespace", fluxSystem, "scale", "deployment", controller, "--replicas=0")
	w.kubectl("--namespace", fluxSystem, "wait", "pod/"+pod.Name, "--for=delete", "--timeout="+patience.String())
	for _, name := range names {
		w.Expect(w.jobs(name)).To(ContainElement(HaveField("Status.Active", BeEquivalentTo(1))), "a controller does not wait for Jobs")
	}
	for i, name := range names {
		w.kubectl("--namespace", w.tenant, "wait", "job/"+started[i].run.Job, "--for=condition=Complete", "--timeout="+patience.String())
		w.Expect(w.stackNow(w, name).Status.Run).NotTo(BeNil(), "nobody was there to take in the result")
	}
	w.kubectl("--namespace", fluxSystem, "scale", "deployment", controller, "--replicas=1")
	w.rolledOut(controller)
	for _, name := range names {
		w.awaitValue(name, "alone")
		w.updatedOnce(name, updates[name])
		w.Expect(w.jobs(name)).To(HaveLen(jobs[name] + 1))
	}
}

// counts returns the number of updates that were started, by name.
func (w *world) counts(names []string) map[string]int {
	w.test.Helper()
	counts := map[string]int{}
	for _, name := range names {
		counts[name] = len(w.updates(name))
	}
	return counts
}

// losePods deletes a pod in the middle of its run, evicts one like a node drain, and kills a third, which can neither
// finish nor record anything.
func (w *world) losePods() {
	updates := w.counts([]string{"inline", "fromgit", "third"})
	started := w.beginJobs(begins{w, "inline", "lost", severalPods}, begins{w, "fromgit", "lost", severalPods}, begins{w, "third", "lost", severalPods})
	w.kubectl("--namespace", w.tenant, "delete", "pod", started[2].pod.Name, "--force", "--grace-period=0")
	w.kubectl("--namespace", w.tenant, "delete", "pod", started[0].pod.Name, "--wait=false")
	eviction := &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Namespace: w.tenant, Name: started[1].pod.Name}}
	w.Expect(w.SubResource("eviction").Create(w.ctx, &started[1].pod, eviction)).To(Succeed())

	w.awaitEvent("inline", v1.PodFailedReason, "the pod of the run was terminated: ", "Pulumi finished the operations in flight")
	w.awaitEvent("fromgit", v1.PodFailedReason, "was evicted, for example because its node is drained", "Pulumi finished the operations in flight")
	w.awaitEvent("third", v1.PodFailedReason, "pod")
	for _, name := range []string{"inline", "fromgit", "third"} {
		w.awaitValue(name, "lost")
	}
	w.updatedOnce("inline", updates["inline"])
	w.updatedOnce("fromgit", updates["fromgit"])
	w.lostOnce("third", updates["third"])
}

// lostOnce expects that an update was started, lost and repeated.
func (w *world) lostOnce(name string, before int) {
	w.test.Helper()
	updates := w.updates(name)
	w.Expect(updates).To(HaveLen(before+2), "the update was started, lost and repeated: %v", updates)
	w.Expect(updates[before].Phase).To(Equal(cloud.Begin))
	w.Expect(updates[before+1].Phase).To(Equal(cloud.Done))
	w.madeOnce(name)
}

// starvePods has a pod with too little memory for an update, one with too little disk, which the kubelet evicts, and one with a
// missing image.
func (w *world) starvePods() {
	names := []string{"inline", "fromgit", "third"}
	updates := w.counts(names)
	// Nothing listens there, so a pull fails at once.
	const nowhere = "127.0.0.1:1/pulumi:1"
	w.patchStack("third", `{"workspaceTemplate": {"spec": {"resources": {"limits": {"ephemeral-storage": "16Mi"}}}}}`)
	w.setValue("third", "starved", time.Minute)
	w.patchStack("inline", `{"config": {"value": "starved", "delay": "1m", "ballast": "2048Mi"}, "workspaceTemplate": {"spec": {"resources": {"limits": {"memory": "1Gi"}}}}}`)
	w.patchStack("fromgit", `{"workspaceTemplate": {"spec": {"image": "`+nowhere+`"}}}`)
	began := time.Now()
	w.awaitEvent("fromgit", v1.PodFailedReason, nowhere, "ImagePullBackOff")
	w.test.Logf("that the image cannot be pulled is reported after %s", time.Since(began).Round(100*time.Millisecond))
	w.Expect(w.stackNow(w, "fromgit").Status.Interrupted).To(BeEmpty(), "nothing was started")
	w.awaitEvent("inline", v1.PodFailedReason, "OOMKilled", "spec.workspaceTemplate.spec.resources.limits.memory")
	w.awaitEvent("third", v1.PodFailedReason, "was evicted from node", "ephemeral")
	w.test.Logf("that the pod was evicted is reported after %s", time.Since(began).Round(100*time.Millisecond))

	// In one patch, as each change begins a run.
	for _, name := range names {
		w.patchStack(name, `{"config": {"value": "fed", "delay": "0s", "ballast": "0Mi"}, "workspaceTemplate": {"spec": {"image": null, "resources": null}}}`)
	}
	for _, name := range names {
		w.awaitValue(name, "fed")
		w.madeOnce(name)
	}
	w.updatedOnce("fromgit", updates["fromgit"])
	starved := w.updates("inline")[updates["inline"]:]
	w.Expect(len(starved)).To(BeNumerically(">", 1))
	w.Expect(starved[:len(starved)-1]).To(HaveEach(HaveField("Phase", cloud.Begin)), "the kernel killed each in the middle")
	w.Expect(starved[len(starved)-1].Phase).To(Equal(cloud.Done))
}

// loseNode loses the kubelet in the middle of two runs, and the processes of one. The other continues and writes its
// result. Only a person can know that the processes are gone for good.
func (w *world) loseNode() {
	w.needsNode()
	updates := w.counts([]string{"inline", "third"})
	w.patchStack("third", `{"workspaceTemplate": {"spec": {"podTemplate": {"spec": {"tolerations": [
		{"key": "node.kubernetes.io/unreachable", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 1},
		{"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 1}]}}}}}`)
	started := w.beginJobs(begins{w, "inline", "gone", severalPods}, begins{w, "third", "gone", severalPods})
	w.Expect(w.node.KillKubelet(w.ctx)).To(Succeed())
	lost := started[1]
	w.killContainer("--secret=" + lost.run.Job)
	w.awaitValue("inline", "gone")
	w.updatedOnce("inline", updates["inline"])
	// Kubernetes taints a lost node itself, but stops doing so once none of its nodes is ready.
	w.kubectl("wait", "nodes", "--all", "--for=condition=Ready=Unknown", "--timeout=3m")
	w.kubectl("taint", "nodes", lost.pod.Spec.NodeName, "node.kubernetes.io/unreachable:NoExecute", "--overwrite")
	w.Eventually(func(g Gomega) {
		stack := w.stackNow(g, "third")
		g.Expect(stack.Status.Run).NotTo(BeNil(), "nothing is started before it is known what became of the last")
		g.Expect(stack.Status.Run.ID).To(Equal(lost.run.ID))
		g.Expect(conditions.GetMessage(stack, meta.ReadyCondition)).To(ContainSubstring("has not confirmed that it has ended: if the node is gone for good, delete its Node object"))
	}).Should(Succeed())

	// The object of the pod stays, whatever is done to it, for as long as that of its node does: a Job keeps it.
	w.kubectl("delete", "node", lost.pod.Spec.NodeName)
	w.awaitGone(lost.pod)
	// The controller was on that node as well, and its token is not valid for longer than its pod is there: if it could not
	// tell this any more, the next one does.
	w.Expect(w.node.StartKubelet(w.ctx)).To(Succeed())
	w.awaitNode()
	w.awaitEvent("third", v1.PodFailedReason, lost.run.Job)
	w.awaitValue("third", "gone")
	w.lostOnce("third", updates["third"])
	w.updatedOnce("inline", updates["inline"])
}

// needsNode skips what only works on our own node.
func (w *world) needsNode() {
	w.test.Helper()
	if w.node == nil {
		w.test.Skip("the kubelet of a cluster that was there before is not ours to stop")
	}
}

func (w *world) awaitNode() {
	w.test.Helper()
	w.Eventually(func() error {
		_, err := w.tryKubectl("wait", "nodes", "--all", "--for=condition=Ready", "--timeout=1s") // none is an error
		return err
	}).Should(Succeed())
	for _, deployment := range []string{controller, "source-controller", "notification-controller"} {
		w.rolledOut(deployment)
	}
}

// killContainer kills the processes of a container on our node, found by an argument that only they have. The first
// takes the others with it.
func (w *world) killContainer(argument string) {
	w.test.Helper()
	commands, err := filepath.Glob("/proc/[0-9]*/cmdline")
	w.Expect(err).NotTo(HaveOccurred())
	killed := 0
	for _, path := range commands {
		command, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(command, append([]byte(argument), 0)) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		w.Expect(err).NotTo(HaveOccurred())
		_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended with another one
		killed++
	}
	w.Expect(killed).To(BeNumerically(">", 0), "processes with %s", argument)
}
