// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"net/netip"
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/flux-pulumi/pulumi-controller/tests/manifests"
)

// listeningPod is restricted, and listens on a port.
const listeningPod = `apiVersion: v1
kind: Pod
metadata: {name: NAME, namespace: NAMESPACE, labels: {LABELS}}
spec:
  automountServiceAccountToken: false
  terminationGracePeriodSeconds: 0
  securityContext: {runAsNonRoot: true, runAsUser: 65534, seccompProfile: {type: RuntimeDefault}}
  containers:
    - name: listener
      image: ghcr.io/flux-pulumi/pulumi-controller:latest
      imagePullPolicy: IfNotPresent
      command: [busybox, httpd, -f, -p, "` + listening + `"]
      securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
`

// metadataPod gives the node itself the address of a cloud's metadata service, which is outside of any pod.
const metadataPod = `apiVersion: v1
kind: Pod
metadata: {name: metadata, namespace: default}
spec:
  hostNetwork: true
  automountServiceAccountToken: false
  terminationGracePeriodSeconds: 0
  containers:
    - name: metadata
      image: ghcr.io/flux-pulumi/pulumi-controller:latest
      imagePullPolicy: IfNotPresent
      command: [/bin/sh, -c, "busybox ip address add ` + metadata + `/32 dev lo; exec busybox httpd -f -p ` + metadata + `:80 -h /tmp"]
      securityContext: {runAsUser: 0, capabilities: {add: [NET_ADMIN]}}
`

// startPod starts a pod that listens, and can call others.
func (w *world) startPod(namespace, name, labels string) caller {
	w.test.Helper()
	w.apply(strings.NewReplacer("NAMESPACE", namespace, "NAME", name, "LABELS", labels).Replace(listeningPod))
	w.kubectl("--namespace", namespace, "wait", "pod/"+name, "--for=condition=Ready", "--timeout="+patience.String())
	return caller{namespace, name, "listener"}
}

func (w *world) addressOf(pod caller) string {
	w.test.Helper()
	var found corev1.Pod
	w.Expect(w.Get(w.ctx, client.ObjectKey{Namespace: pod.namespace, Name: pod.pod}, &found)).To(Succeed())
	return found.Status.PodIP
}

// standInForMetadata makes our own node serve what a cloud's node has. A node of an existing cluster may have the
// real one.
func (w *world) standInForMetadata() {
	w.test.Helper()
	if w.node != nil {
		w.apply(metadataPod)
		w.kubectl("--namespace", "default", "wait", "pod/metadata", "--for=condition=Ready", "--timeout="+patience.String())
	}
}

// policyOfTenant is the NetworkPolicy of docs/runners.md, with the addresses of this cluster.
func (w *world) policyOfTenant() *networkingv1.NetworkPolicy {
	w.test.Helper()
	page, err := os.ReadFile(filepath.Join(w.root, "docs", "runners.md"))
	w.Expect(err).NotTo(HaveOccurred())
	var policy networkingv1.NetworkPolicy
	for _, block := range manifests.FencedBlocks("runners", string(page)) {
		if strings.Contains(block.Text, "kind: NetworkPolicy\n") {
			w.Expect(yaml.UnmarshalStrict([]byte(block.Text), &policy)).To(Succeed())
		}
	}
	w.Expect(policy.Spec.Egress).To(HaveLen(4), "DNS, source-controller, the API server, the outside")
	policy.Namespace = w.tenant
	dns, api, outside := &policy.Spec.Egress[0], &policy.Spec.Egress[2], &policy.Spec.Egress[3]

	address, port := w.apiServer()
	api.To[0].IPBlock.CIDR, api.Ports[0].Port = address+"/32", &port
	if w.node != nil {
		// Its networks are none of those that clusters have, and its DNS is no pod.
		outside.To[0].IPBlock.Except = append(outside.To[0].IPBlock.Except, w.node.PodsCIDR(), address+"/32")
		dns.To = []networkingv1.NetworkPolicyPeer{{IPBlock: &networkingv1.IPBlock{CIDR: address + "/32"}}}
	}
	// The backend may be beside the cluster: its own rule allows reaching it.
	host := netip.MustParseAddr(w.host)
	for _, except := range outside.To[0].IPBlock.Except {
		if netip.MustParsePrefix(except).Contains(host) {
			policy.Spec.Egress = append(policy.Spec.Egress, networkingv1.NetworkPolicyEgressRule{
				To: []networkingv1.NetworkPolicyPeer{{IPBlock: &networkingv1.IPBlock{CIDR: w.host + "/32"}}},
			})
			break
		}
	}
	return &policy
}

// apiServer returns the address of the API server, not of its Service.
func (w *world) apiServer() (string, intstr.IntOrString) {
	w.test.Helper()
	var slices discoveryv1.EndpointSliceList
	w.Expect(w.List(w.ctx, &slices, client.InNamespace("default"), client.MatchingLabels{discoveryv1.LabelServiceName: "kubernetes"})).To(Succeed())
	w.Expect(slices.Items).To(HaveLen(1))
	w.Expect(slices.Items[0].Endpoints).To(HaveLen(1), "one API server")
	return slices.Items[0].Endpoints[0].Addresses[0], intstr.FromInt32(*slices.Items[0].Ports[0].Port)
}
