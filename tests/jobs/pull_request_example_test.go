// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/process"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
	"github.com/flux-pulumi/pulumi-controller/tests/sources"
)

// withoutResources is a program that needs no plugin, so that its pod needs no volume of the machine.
const withoutResources = "name: app\nruntime: yaml\noutputs:\n  value: "

// TestTheExampleOfPullRequestsIsPreviewedByJobs makes for some pull requests what examples/pull-requests has flux-operator
// make, in the namespace of the example: with its quota, its Pod Security Standard, its account and its template of pods.
func TestTheExampleOfPullRequestsIsPreviewedByJobs(t *testing.T) {
	short.Skip(t)
	apps, previews := newTeam(t), newTeam(t)
	objects := apps.bucket("example-pulumi-state")
	apps.repository("app", sources.Files{"network/Pulumi.yaml": withoutResources + "one\n"})
	app := apps.stack("app", func(s *v1.Stack) {
		s.Spec.ProgramRef, s.Spec.FluxSource = nil, &v1.FluxSource{Dir: "network", SourceRef: v1.SourceReference{
			APIVersion: "source.toolkit.fluxcd.io/v1", Kind: "GitRepository", Name: "app"}}
		s.Spec.Backend = objects.url
		for name, value := range objects.env {
			s.Spec.EnvRefs[name] = literal(value)
		}
		s.Spec.Approval = &v1.Approval{Require: v1.ApprovalNever, PreviewNamespaces: []string{previews.namespace}}
	})
	apps.awaitReady(app, "one")
	state, err := sources.ReadDir(objects.dir)
	apps.Expect(err).NotTo(HaveOccurred())

	previews.appliesNamespaceOfExample()
	previews.Expect(previews.tries(nil)).To(MatchError(ContainSubstring("must specify limits.cpu")), "the quota")
	previews.Expect(previews.tries(func(pod *corev1.PodSpec) { pod.HostNetwork = true })).To(MatchError(ContainSubstring("violates PodSecurity \"restricted:latest\"")))

	stacks := []*v1.Stack{}
	for number := 1; number <= perNamespace+1; number++ {
		name := fmt.Sprintf("network-pr-%d", number)
		previews.repository(name, sources.Files{"network/Pulumi.yaml": fmt.Sprintf("%spr%d\n", withoutResources, number)})
		stacks = append(stacks, previews.previewOfExample(number, app))
	}
	for _, stack := range stacks {
		previews.await(stack, func(g Gomega, s *v1.Stack) {
			g.Expect(s.Status.Plan).To(And(Not(BeNil()), HaveField("State", v1.PlanPreviewed), HaveField("Message", BeEmpty())), "%v", s.Status.Conditions)
			g.Expect(s.Status.History.Latest().Metadata).To(HaveKeyWithValue("revision", ContainSubstring("sha1:")))
		})
	}
	previews.isAdmittedAsInExample()
	apps.Expect(sources.ReadDir(objects.dir)).To(Equal(state), "nothing is written to the state, and no lock")
}

// bucket is a bucket for states in a server of its own, as files in a directory, with what reaches it.
type bucket struct {
	dir, url string
	env      map[string]string
}

func (t *team) bucket(name string) bucket {
	t.test.Helper()
	dir := t.test.TempDir()
	server, err := sources.NewS3Server(t.ctx, dir)
	t.Expect(err).NotTo(HaveOccurred())
	t.test.Cleanup(func() { t.Expect(server.Close()).To(Succeed()) })
	t.Expect(server.MakeBackend(t.ctx, name)).To(Succeed())
	return bucket{
		dir: filepath.Join(dir, "objects"), url: fmt.Sprintf("s3://%s?endpoint=http://%s&region=%s&s3ForcePathStyle=true", name, server.Endpoint(), server.Region()),
		env: map[string]string{"AWS_ACCESS_KEY_ID": server.Credentials()["accesskey"], "AWS_SECRET_ACCESS_KEY": server.Credentials()["secretkey"]},
	}
}

// ofExample are the objects of a manifest of the example with a namespace.
func (t *team) ofExample(file string, replace ...string) []*unstructured.Unstructured {
	t.test.Helper()
	root, err := process.RepoRoot()
	t.Expect(err).NotTo(HaveOccurred())
	text, err := os.ReadFile(filepath.Join(root, "examples", "pull-requests", file))
	t.Expect(err).NotTo(HaveOccurred())
	decoder := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader([]byte(strings.NewReplacer(replace...).Replace(string(text)))), 1<<10)
	var all []*unstructured.Unstructured
	for {
		object := &unstructured.Unstructured{}
		if err := decoder.Decode(object); errors.Is(err, io.EOF) {
			return all
		} else {
			t.Expect(err).NotTo(HaveOccurred())
		}
		all = append(all, object)
	}
}

// appliesNamespaceOfExample makes the namespace of the team that of the previews.
func (t *team) appliesNamespaceOfExample() {
	t.test.Helper()
	kinds := map[string]int{}
	for _, object := range t.ofExample("namespaces.yaml") {
		switch {
		case object.GetKind() == "Namespace" && object.GetName() == "previews":
			edit(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: t.namespace}}, func(n *corev1.Namespace) { n.Labels = object.GetLabels() })
		case object.GetNamespace() == "previews":
			object.SetNamespace(t.namespace)
			object.SetAnnotations(nil) // the store of the test has keys, which a role excludes
			t.Expect(t.Client().Create(t.ctx, object)).To(Succeed())
		default:
			continue
		}
		kinds[object.GetKind()]++
	}
	t.Expect(kinds).To(And(HaveKey("Namespace"), HaveKey("ResourceQuota"), HaveKey("NetworkPolicy"), HaveKey("ServiceAccount")))
	t.Eventually(func(g Gomega) { // it counts nothing before
		g.Expect(t.quotaOfExample(g).Status.Hard).NotTo(BeEmpty())
	}).Should(Succeed())
}

func (t *team) quotaOfExample(g Gomega) *corev1.ResourceQuota {
	quota := &corev1.ResourceQuota{}
	g.Expect(t.Get(t.ctx, client.ObjectKey{Namespace: t.namespace, Name: "previews"}, quota)).To(Succeed())
	return quota
}

// tries asks whether a pod like those that attackers would like to have is accepted.
func (t *team) tries(change func(*corev1.PodSpec)) error {
	t.test.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: t.namespace, Name: "tried"},
		Spec: corev1.PodSpec{
			SecurityContext: &corev1.PodSecurityContext{RunAsNonRoot: ptr.To(true), SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}},
			Containers: []corev1.Container{{Name: "a", Image: "a", SecurityContext: &corev1.SecurityContext{
				AllowPrivilegeEscalation: ptr.To(false), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
			}}},
		},
	}
	if change != nil {
		change(&pod.Spec)
		pod.Spec.Containers[0].Resources.Limits = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1"), corev1.ResourceMemory: resource.MustParse("1Gi")}
	}
	return t.Client().Create(t.ctx, pod, client.DryRunAll)
}

// previewOfExample creates the Stack that the template of the example has for a pull request, at the backend of the Stack.
func (t *team) previewOfExample(number int, of *v1.Stack) *v1.Stack {
	t.test.Helper()
	sets := t.ofExample("resourceset.yaml", "<< inputs.id >>", fmt.Sprint(number), "<< inputs.id | quote >>", fmt.Sprintf("%q", fmt.Sprint(number)), "<< inputs.sha >>", "unused")
	t.Expect(sets).To(HaveLen(1))
	resources, _, err := unstructured.NestedSlice(sets[0].Object, "spec", "resources")
	t.Expect(err).NotTo(HaveOccurred())
	for _, made := range resources {
		object, isObject := made.(map[string]any)
		if !isObject || object["kind"] != v1.StackKind {
			continue
		}
		stack := &v1.Stack{}
		t.Expect(runtime.DefaultUnstructuredConverter.FromUnstructured(object, stack)).To(Succeed())
		stack.Namespace = t.namespace
		stack.Spec.PreviewOf = &v1.PreviewedStackReference{Name: of.Name, Namespace: of.Namespace}
		stack.Spec.Stack, stack.Spec.Backend, stack.Spec.EnvRefs = of.Spec.Stack, of.Spec.Backend, of.Spec.EnvRefs
		t.Expect(t.Client().Create(t.ctx, stack)).To(Succeed())
		return stack
	}
	t.test.Fatal("the template has no Stack")
	return nil
}

// isAdmittedAsInExample looks at the pods of the previews, and at what the quota has counted.
func (t *team) isAdmittedAsInExample() {
	t.test.Helper()
	var pods corev1.PodList
	t.Expect(t.List(t.ctx, &pods, client.InNamespace(t.namespace))).To(Succeed())
	t.Expect(pods.Items).NotTo(BeEmpty())
	for _, pod := range pods.Items {
		t.Expect(pod.Spec.Containers).To(HaveLen(1))
		t.Expect(pod.Spec.Containers[0].Resources.Limits).To(And(
			HaveKeyWithValue(corev1.ResourceCPU, resource.MustParse("1")), HaveKeyWithValue(corev1.ResourceMemory, resource.MustParse("1Gi"))))
		t.Expect(pod.Spec.Volumes).NotTo(ContainElement(HaveField("HostPath", Not(BeNil()))))
	}
	for operation := range t.operations() {
		t.Expect(operation).To(Equal("preview"))
	}
	t.Eventually(func(g Gomega) {
		used := t.quotaOfExample(g).Status.Used[corev1.ResourcePods]
		g.Expect(used.Value()).To(BeZero(), "pods that have ended do not count")
	}).Should(Succeed())
}
