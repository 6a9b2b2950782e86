// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/flux-pulumi/pulumi-controller/tests/cloud"
)

// installDefault installs the controller as in docs/installation.md, and then only adds a volume for the cloud, which
// outlives the pods.
func (w *world) installDefault() {
	w.kubectl("apply", "--server-side", "--force-conflicts", "-k", "config/default")
	w.rolledOut(controller)
	// The API server has admitted these pods under the restricted standard: show that it enforces that.
	w.Expect(w.kubectl("get", "namespace", fluxSystem, "-o", `jsonpath={.metadata.labels.pod-security\.kubernetes\.io/enforce}`)).To(Equal("restricted"))
	_, err := w.tryKubectl("--namespace", fluxSystem, "run", "refused", "--image=unused", "--restart=Never")
	w.Expect(err).To(HaveOccurred(), "a pod that is not restricted")

	w.makeVolume(fluxSystem)
	w.kubectl("--namespace", fluxSystem, "patch", "deployment", controller, "--type=json", "--patch", `[
		{"op": "add", "path": "/spec/template/spec/volumes/-", "value": {"name": "cloud", "persistentVolumeClaim": {"claimName": "cloud"}}},
		{"op": "add", "path": "/spec/template/spec/containers/0/volumeMounts/-", "value": {"name": "cloud", "mountPath": "/cloud"}}]`)
	w.rolledOut(controller)
}

// makeVolume creates a claim named cloud, and a volume for it on our own node, which has no storage.
func (w *world) makeVolume(namespace string) {
	w.test.Helper()
	if w.node != nil {
		w.apply(`apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata:
  name: local
  annotations: {storageclass.kubernetes.io/is-default-class: "true"}
provisioner: kubernetes.io/no-provisioner
volumeBindingMode: WaitForFirstConsumer
`)
		w.localVolume("cloud-"+namespace, namespace, "cloud", w.cloudDir(namespace))
	}
	w.claim(namespace, "cloud")
}

func (w *world) claim(namespace, name string) {
	w.test.Helper()
	w.apply(`apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: ` + name + `, namespace: ` + namespace + `}
spec:
  accessModes: [ReadWriteOnce]
  resources: {requests: {storage: 1Gi}}
`)
}

// localVolume makes a directory of this machine the volume for a claim on our own node.
func (w *world) localVolume(name, namespace, claim, dir string) {
	w.test.Helper()
	w.Expect(os.Mkdir(dir, 0o755)).To(Succeed())
	w.apply(`apiVersion: v1
kind: PersistentVolume
metadata: {name: ` + name + `}
spec:
  storageClassName: local
  capacity: {storage: 10Gi}
  accessModes: [ReadWriteOnce]
  claimRef: {namespace: ` + namespace + `, name: ` + claim + `}
  local: {path: ` + dir + `}
  nodeAffinity:
    required: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/os, operator: In, values: [linux]}]}]}
`)
}

// cloudDir is the path of the volume on our own node.
func (w *world) cloudDir(namespace string) string {
	return filepath.Join(w.node.Dir(), "cloud-"+namespace)
}

// lookAtPod checks what a node makes of the manifest.
func (w *world) lookAtPod() {
	pod := w.pod()
	w.Expect(w.exec("busybox", "id", "-u")).To(Equal("65534\n"))
	w.Expect(w.exec("/bin/sh", "-c", "echo $GOMEMLIMIT")).To(Equal("2147483648\n"), "the memory limit of the container")
	_, err := w.tryExec("/bin/sh", "-c", "echo >/written")
	w.Expect(err).To(HaveOccurred(), "the root cannot be written")
	w.exec("/bin/sh", "-c", "echo >/tmp/written && echo >/data/written && busybox rm /tmp/written /data/written")
	_, err = w.tryExec("busybox", "ls", "/var/run/docker.sock")
	w.Expect(err).To(HaveOccurred())
	status := w.exec("busybox", "grep", "-E", "^(NoNewPrivs|Seccomp|CapEff):", "/proc/1/status")
	w.Expect(strings.Fields(status)).To(Equal([]string{"CapEff:", "0000000000000000", "NoNewPrivs:", "1", "Seccomp:", "2"}))

	served := func(port, path string) string {
		return w.kubectl("get", "--raw", "/api/v1/namespaces/"+fluxSystem+"/pods/"+pod.Name+":"+port+"/proxy"+path)
	}
	w.Expect(served("9440", "/healthz")).To(Equal("ok"))
	w.Expect(served("9440", "/readyz")).To(Equal("ok"))
	w.Expect(served("8080", "/metrics")).To(ContainSubstring("pulumi_runs_in_flight"))
	for _, container := range pod.Status.ContainerStatuses {
		w.Expect(container.RestartCount).To(BeZero())
	}
	var deployment appsv1.Deployment
	w.Expect(w.Get(w.ctx, client.ObjectKey{Namespace: fluxSystem, Name: controller}, &deployment)).To(Succeed())
	w.Expect(deployment.Status.AvailableReplicas).To(Equal(int32(1)))
	w.Expect(w.kubectl("--namespace", fluxSystem, "logs", pod.Name, "--tail=5")).To(ContainSubstring(`"level":"info"`))
}

// exec runs a command in the pod of the controller.
func (w *world) exec(command ...string) string {
	w.test.Helper()
	output, err := w.tryExec(command...)
	w.Expect(err).NotTo(HaveOccurred(), "%s: %s", strings.Join(command, " "), output)
	return output
}

func (w *world) tryExec(command ...string) (string, error) {
	w.test.Helper()
	return w.tryKubectl(append([]string{"--namespace", fluxSystem, "exec", w.pod().Name, "--"}, command...)...)
}

// cloud returns a copy of the current contents of the cloud.
func (w *world) cloud() *cloud.Cloud {
	w.test.Helper()
	if w.workspace != "" {
		return w.cloudOfTeam()
	}
	return w.unpack(w.exec("busybox", "tar", "-c", "-C", "/cloud", "."))
}

// unpack opens the cloud of a tar archive.
func (w *world) unpack(archive string) *cloud.Cloud {
	w.test.Helper()
	dir := w.test.TempDir()
	unpack := exec.CommandContext(w.ctx, "tar", "-x", "-C", dir)
	unpack.Stdin = strings.NewReader(archive)
	output, err := unpack.CombinedOutput()
	w.Expect(err).NotTo(HaveOccurred(), "%s", output)
	return cloud.Open(dir)
}
