// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/flux-pulumi/pulumi-controller/tests/process"
)

// TestTheNetworkPolicySelectsThePodsOfRuns asks the API server which pods the policy selects, as nothing enforces one
// here: it admits pods with the labels that it names, and no others of that namespace.
func TestTheNetworkPolicySelectsThePodsOfRuns(t *testing.T) {
	u := newTeam(t)
	u.program("app", thing("one", "hold: create"))
	stack := u.stack("app")
	u.awaitJournal("create", "begin")
	run := u.runningPod(stack)
	u.Expect(client.IgnoreAlreadyExists(u.Client().Create(u.ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: u.namespace, Name: "default"}}))).To(Succeed())
	var others []*corev1.Pod
	for _, app := range []string{"source-controller", "source-watcher", "notification-controller"} {
		other := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: u.namespace, Name: app, Labels: map[string]string{"app": app}},
			Spec:       corev1.PodSpec{NodeName: "nowhere", Containers: []corev1.Container{{Name: "a", Image: "b"}}},
		}
		u.Expect(u.Client().Create(u.ctx, other)).To(Succeed())
		others = append(others, other)
	}

	// The system installs only what its processes need of the configuration, so no policy.
	root, err := process.RepoRoot()
	u.Expect(err).NotTo(HaveOccurred())
	text, err := os.ReadFile(filepath.Join(root, "config", "runner-jobs", "rights", "network_policy.yaml"))
	u.Expect(err).NotTo(HaveOccurred())
	var policy networkingv1.NetworkPolicy
	u.Expect(yaml.UnmarshalStrict(text, &policy)).To(Succeed())
	u.Expect(u.Client().Create(u.ctx, &policy, client.DryRunAll)).To(Succeed())
	u.Expect(policy.Spec.Ingress).To(HaveLen(1))
	u.Expect(policy.Spec.Ingress[0].From).To(HaveLen(1))
	from := policy.Spec.Ingress[0].From[0]
	u.Expect(u.selected(&corev1.NamespaceList{}, from.NamespaceSelector)).To(ContainElement(u.namespace))
	u.Expect(u.selected(&corev1.PodList{}, from.PodSelector, client.InNamespace(u.namespace))).To(ConsistOf(run.Name))
	u.Expect(policy.Spec.Ingress[0].Ports).To(ConsistOf(HaveField("Port", HaveValue(Equal(intstr.FromString("http"))))))
	u.Expect(u.selected(&corev1.PodList{}, &policy.Spec.PodSelector, client.InNamespace(u.namespace))).To(ConsistOf("source-controller", "source-watcher"),
		"what it lets them reach has the labels of what serves artifacts in Flux")
	for _, other := range others {
		u.Expect(u.Client().Delete(u.ctx, other, client.GracePeriodSeconds(0))).To(Succeed())
	}
	u.Expect(u.cloud.Release()).To(Succeed())
	u.awaitReady(stack, "one")
}

// selected lists the names of the objects that the selector matches.
func (t *team) selected(list client.ObjectList, of *metav1.LabelSelector, in ...client.ListOption) []string {
	t.test.Helper()
	selector, err := metav1.LabelSelectorAsSelector(of)
	t.Expect(err).NotTo(HaveOccurred())
	t.Expect(t.List(t.ctx, list, append(in, client.MatchingLabelsSelector{Selector: selector})...)).To(Succeed())
	var names []string
	switch found := list.(type) {
	case *corev1.PodList:
		for _, one := range found.Items {
			names = append(names, one.Name)
		}
	case *corev1.NamespaceList:
		for _, one := range found.Items {
			names = append(names, one.Name)
		}
	}
	return names
}
