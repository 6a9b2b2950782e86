// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"context"
	"encoding/json"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/flux-pulumi/pulumi-controller/tests/controlplane"
	"github.com/flux-pulumi/pulumi-controller/tests/process"
)

// api is a real API server with the CRDs of this project, of Flux's controllers and of flux-operator.
type api struct {
	// strict rejects unknown fields, as kubectl does.
	strict client.Client
	// lenient drops them, as most other clients do.
	lenient   client.Client
	discovery *discovery.DiscoveryClient
	// kubeconfig is the file for kubectl.
	kubeconfig string
}

// TestManifestsOnAnAPIServer starts one API server for all tests that need one.
func TestManifestsOnAnAPIServer(t *testing.T) {
	t.Parallel()
	server := startAPI(t)
	t.Run("alerts and receivers may name Stacks and Programs", func(t *testing.T) { testNotificationKinds(t, server) })
	t.Run("the controller is installed", func(t *testing.T) { testInstallation(t, server) })
	t.Run("a controller that is installed gets a volume", func(t *testing.T) { testVolumeForAController(t, server) })
	t.Run("every manifest that is shown is created", func(t *testing.T) { testShownManifests(t, server) })
	t.Run("so is every part of a spec", func(t *testing.T) { testShownFragments(t, server) })
	t.Run("a manifest with a fault is refused and the fault is named", func(t *testing.T) { testRefused(t, server) })
	t.Run("a PolicySet says what it means", func(t *testing.T) { testPolicySets(t, server) })
	t.Run("a manifest of a user is accepted", func(t *testing.T) { testAccepted(t, server) })
	t.Run("what is null is there to be seen", func(t *testing.T) { testNulls(t, server) })
	t.Run("a Stack of the first version of the API is one of today's", func(t *testing.T) { testFirstVersion(t, server) })
	t.Run("an update keeps to the rules", func(t *testing.T) { testUpdates(t, server) })
	t.Run("who may approve", func(t *testing.T) { testApprovals(t, server) })
	t.Run("kubectl shows what Flux users look for", func(t *testing.T) { testTables(t, server) })
	t.Run("a new Stack has not been observed", func(t *testing.T) { testStatusDefault(t, server) })
}

func startAPI(t *testing.T) *api {
	t.Helper()
	g := NewWithT(t)
	crds, err := controlplane.ProjectCRDs()
	g.Expect(err).NotTo(HaveOccurred())
	kustomizations, err := process.FindBin(filepath.Join("crds", "kustomize-controller"))
	g.Expect(err).NotTo(HaveOccurred())
	resourceSets, err := process.FindBin(filepath.Join("crds", "flux-operator"))
	g.Expect(err).NotTo(HaveOccurred())
	others, err := process.FindBin(filepath.Join("crds", "types"))
	g.Expect(err).NotTo(HaveOccurred())
	crds = append(crds, built(t, controlplane.Flux29), kustomizations, resourceSets, others)
	plane, err := controlplane.Start(context.WithoutCancel(t.Context()), controlplane.Options{Dir: t.TempDir(), CRDPaths: crds})
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { g.Expect(plane.Stop()).To(Succeed()) })
	lenient, err := client.New(plane.RESTConfig(), client.Options{})
	g.Expect(err).NotTo(HaveOccurred())
	looker, err := discovery.NewDiscoveryClientForConfig(plane.RESTConfig())
	g.Expect(err).NotTo(HaveOccurred())
	return &api{
		strict:     client.WithFieldValidation(lenient, metav1.FieldValidationStrict),
		lenient:    client.WithFieldValidation(lenient, metav1.FieldValidationIgnore),
		discovery:  looker,
		kubeconfig: plane.KubeconfigPath(),
	}
}

// namespace creates a new namespace.
func (a *api) namespace(t *testing.T) string {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "manifests-"}}
	NewWithT(t).Expect(a.strict.Create(t.Context(), namespace)).To(Succeed())
	return namespace.Name
}

// namespaced reports whether objects of the kind live in a namespace.
func (a *api) namespaced(t *testing.T, object *unstructured.Unstructured) bool {
	t.Helper()
	namespaced, err := a.strict.IsObjectNamespaced(object)
	NewWithT(t).Expect(err).NotTo(HaveOccurred(), "is %s served?", object.GroupVersionKind())
	return namespaced
}

// servedVersion returns the version of the object's kind that the cluster prefers.
func (a *api) servedVersion(t *testing.T, object *unstructured.Unstructured) string {
	t.Helper()
	gvk := object.GroupVersionKind()
	mapping, err := a.strict.RESTMapper().RESTMapping(gvk.GroupKind(), gvk.Version)
	if meta.IsNoMatchError(err) {
		mapping, err = a.strict.RESTMapper().RESTMapping(gvk.GroupKind())
	}
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return mapping.GroupVersionKind.GroupVersion().String()
}

// stack returns a Stack with this spec, in YAML.
func stack(t *testing.T, spec string) *unstructured.Unstructured {
	t.Helper()
	return object(t, "Stack", "spec", spec)
}

// program returns a Program with this text.
func program(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	return object(t, "Program", "program", text)
}

func object(t *testing.T, kind, field, text string) *unstructured.Unstructured {
	t.Helper()
	raw, err := yaml.YAMLToJSONStrict([]byte(text))
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	made, err := json.Marshal(map[string]any{
		"apiVersion": "pulumi.com/v1",
		"kind":       kind,
		"metadata":   map[string]any{"generateName": "test-"},
		field:        json.RawMessage(raw),
	})
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	object := &unstructured.Unstructured{}
	NewWithT(t).Expect(object.UnmarshalJSON(made)).To(Succeed())
	return object
}
