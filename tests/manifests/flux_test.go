// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"github.com/fluxcd/pkg/apis/kustomize"
	"github.com/fluxcd/pkg/runtime/cel"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/flux-pulumi/pulumi-controller/tests/process"
)

// fluxKustomization has the fields of a Flux Kustomization that are checked here.
type fluxKustomization struct {
	Metadata struct{ Name string }
	Spec     struct {
		SourceRef          struct{ Kind, Name string }
		Path               string
		Prune, Wait        bool
		Components         []string
		DependsOn          []struct{ Name string }
		Images             []struct{ Name string }
		HealthCheckExprs   []kustomize.CustomHealthCheck
		TargetNamespace    string
		ServiceAccountName string
	}
}

// fluxKustomizations returns those in config/flux and in the documentation.
func fluxKustomizations(t *testing.T, all installations) map[string][]fluxKustomization {
	t.Helper()
	g := NewWithT(t)
	root, err := process.RepoRoot()
	g.Expect(err).NotTo(HaveOccurred())
	units, err := Find(root)
	g.Expect(err).NotTo(HaveOccurred())
	of := map[string][]*unstructured.Unstructured{"config/flux": all["config/flux"]}
	for _, unit := range units {
		of[unit.Name], err = unit.Objects()
		g.Expect(err).NotTo(HaveOccurred())
	}
	found := map[string][]fluxKustomization{}
	for place, objects := range of {
		for _, object := range objects {
			if object.GroupVersionKind().Group != "kustomize.toolkit.fluxcd.io" {
				continue
			}
			var one fluxKustomization
			text, err := yaml.Marshal(object)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(yaml.Unmarshal(text, &one)).To(Succeed(), place)
			found[place] = append(found[place], one)
		}
	}
	return found
}

// testFluxPaths builds the path of each Kustomization of this project's source. The artifact of a release has the
// contents of config, a git repository has config itself.
func testFluxPaths(t *testing.T, all installations) {
	root, err := process.RepoRoot()
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	places := 0
	for place, kustomizations := range fluxKustomizations(t, all) {
		for _, one := range kustomizations {
			if one.Spec.SourceRef.Name != "pulumi-controller" {
				continue
			}
			places++
			t.Run(place+" "+one.Metadata.Name, func(t *testing.T) {
				g := NewWithT(t)
				dir := filepath.Clean(one.Spec.Path)
				if one.Spec.SourceRef.Kind == "OCIRepository" {
					dir = filepath.Join("config", dir)
				}
				components := slices.Clone(one.Spec.Components)
				for i := range components {
					components[i] = filepath.Join(dir, components[i])
				}
				unit, err := BuildAsFlux(t.Context(), root, t.TempDir(), dir, components...)
				g.Expect(err).NotTo(HaveOccurred())
				objects, err := unit.Objects()
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(one.Spec.Wait).To(BeTrue(), "what depends on it waits for it")
				crds := strings.HasSuffix(one.Metadata.Name, "-crds")
				g.Expect(one.Spec.Prune).To(Equal(!crds), "with the CRDs all Stacks are gone")
				if crds {
					g.Expect(one.Spec.DependsOn).To(BeEmpty(), "the CRDs come first")
					expectCRDs(g, objects)
					return
				}
				g.Expect(one.Spec.DependsOn).To(ContainElement(HaveField("Name", "pulumi-controller-crds")))
				expectController(t, objects, one)
			})
		}
	}
	NewWithT(t).Expect(places).To(BeNumerically(">=", 4))
}

func expectCRDs(g *WithT, objects []*unstructured.Unstructured) {
	names := []string{}
	for _, object := range objects {
		names = append(names, object.GetKind()+" "+object.GetName())
	}
	g.Expect(names).To(ConsistOf("CustomResourceDefinition policysets.pulumi.com", "CustomResourceDefinition programs.pulumi.com",
		"CustomResourceDefinition stacks.pulumi.com"))
}

// expectController expects the Kustomization to apply a complete controller, each component to have its effect, and
// each replaced image to exist.
func expectController(t *testing.T, objects []*unstructured.Unstructured, one fluxKustomization) {
	t.Helper()
	g := NewWithT(t)
	applied := map[string]bool{}
	for _, object := range objects {
		applied[object.GetKind()+" "+object.GetName()] = true
	}
	g.Expect(applied).NotTo(HaveKey(HavePrefix("CustomResourceDefinition ")), "they would be pruned with it")
	for _, needed := range []string{"Deployment", "ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"} {
		g.Expect(applied).To(HaveKey(needed + " pulumi-controller"))
	}
	deployments := deploymentsIn(t, objects)
	for _, component := range one.Spec.Components {
		flags := map[string][]string{"../multi-tenancy": {"--default-service-account=default", "--runner=job"}, "../runner-jobs": {"--runner=job"}}[filepath.Clean(component)]
		g.Expect(flags).NotTo(BeEmpty(), "what is %s for?", component)
		for _, deployment := range deployments {
			g.Expect(deployment.Spec.Template.Spec.Containers[0].Args).To(ContainElements(flags), component)
		}
	}
	for _, image := range one.Spec.Images {
		g.Expect(deployments).To(ContainElement(HaveField("Spec.Template.Spec.Containers",
			ContainElement(HaveField("Image", HavePrefix(image.Name+":"))))), "it replaces none")
	}
}

// testInstallationShown compares what users copy with the directory.
func testInstallationShown(t *testing.T, all installations) {
	g := NewWithT(t)
	guide := filepath.Join("docs", "guides", "flux-bootstrap.md")
	g.Expect(controllersShown(t, guide, "OCIRepository")).To(ConsistOf(all["config/flux"]), "a release")
	branch := controllersShown(t, guide, "GitRepository")
	g.Expect(branch).To(HaveLen(len(all["config/flux"])))
	// Otherwise the next commit of the branch would change the manifests without the image.
	g.Expect(at(g, branch[0], "spec", "ref")).To(Equal(map[string]any{"branch": "main", "commit": "<the commit of the image>"}))
}

// testFluxLockdown expects the guide to multi-tenancy to tell which Kustomizations Flux's own lockdown leaves without
// rights: each of the guides to bootstrap and to secrets. The one that it shows has an account.
func testFluxLockdown(t *testing.T, all installations) {
	g := NewWithT(t)
	page := strings.Join(strings.Fields(textOf(t, filepath.Join("guides", "multi-tenancy.md"))), " ")
	_, patches, found := strings.Cut(page, "Flux's own lockdown patches ")
	g.Expect(found).To(BeTrue())
	patches, _, _ = strings.Cut(patches, " ## ")
	g.Expect(patches).To(ContainSubstring("`--no-remote-bases`"))
	named, shown := 0, 0
	for place, kustomizations := range fluxKustomizations(t, all) {
		for _, one := range kustomizations {
			switch {
			case strings.HasPrefix(place, filepath.Join("docs", "guides", "flux-bootstrap.md:")), strings.HasPrefix(place, filepath.Join("docs", "guides", "secrets.md:")):
				named++
				g.Expect(patches).To(ContainSubstring("`" + one.Metadata.Name + "`"))
			case strings.HasPrefix(place, filepath.Join("docs", "guides", "multi-tenancy.md:")) && one.Spec.SourceRef.Name == "pulumi-controller":
				shown++
				g.Expect(one.Spec.ServiceAccountName).To(Equal("kustomize-controller"), place)
			}
		}
	}
	g.Expect(named).To(BeNumerically(">=", 6))
	g.Expect(shown).To(Equal(1))
}

// controllersShown returns the first block of the page with a source of this kind for the controller.
func controllersShown(t *testing.T, page, kind string) []*unstructured.Unstructured {
	t.Helper()
	g := NewWithT(t)
	root, err := process.RepoRoot()
	g.Expect(err).NotTo(HaveOccurred())
	units, err := Find(root)
	g.Expect(err).NotTo(HaveOccurred())
	for _, unit := range units {
		objects, err := unit.Objects()
		g.Expect(err).NotTo(HaveOccurred())
		if strings.HasPrefix(unit.Name, page+":") && slices.ContainsFunc(objects, func(object *unstructured.Unstructured) bool {
			return object.GetKind() == kind && object.GetName() == "pulumi-controller"
		}) {
			return objects
		}
	}
	return nil
}

// testHealthChecks checks each health check expression shown for Stacks against the meaning of their conditions.
func testHealthChecks(t *testing.T, all installations) {
	shown := 0
	for place, kustomizations := range fluxKustomizations(t, all) {
		for _, one := range kustomizations {
			for _, check := range one.Spec.HealthCheckExprs {
				shown++
				t.Run(place, func(t *testing.T) { testHealth(t, check) })
			}
		}
	}
	NewWithT(t).Expect(shown).To(BeNumerically(">=", 1))
}

func testHealth(t *testing.T, check kustomize.CustomHealthCheck) {
	g := NewWithT(t)
	g.Expect(check.APIVersion + " " + check.Kind).To(Equal("pulumi.com/v1 Stack"))
	evaluator, err := cel.NewStatusEvaluator(&check.HealthCheckExpressions)
	g.Expect(err).NotTo(HaveOccurred())
	for _, test := range []struct {
		name, status string
		want         status.Status
	}{
		{"new", "{observedGeneration: -1}", status.InProgressStatus},
		{"in its first run", "{observedGeneration: -1, conditions: [{type: Ready, status: Unknown, observedGeneration: 3}, {type: Reconciling, status: 'True', observedGeneration: 3}]}", status.InProgressStatus},
		{"edited since it was ready", "{observedGeneration: 2, conditions: [{type: Ready, status: 'True', observedGeneration: 2}]}", status.InProgressStatus},
		{"ready", "{observedGeneration: 3, conditions: [{type: Ready, status: 'True', observedGeneration: 3}]}", status.CurrentStatus},
		{"running for a new revision", "{observedGeneration: 3, conditions: [{type: Ready, status: Unknown, observedGeneration: 3}, {type: Reconciling, status: 'True', observedGeneration: 3}]}", status.InProgressStatus},
		{"failed, and tried again", "{observedGeneration: 3, conditions: [{type: Ready, status: 'False', observedGeneration: 3}, {type: Reconciling, status: 'True', observedGeneration: 3}]}", status.InProgressStatus},
		{"stalled", "{observedGeneration: 3, conditions: [{type: Ready, status: 'False', observedGeneration: 3}, {type: Stalled, status: 'True', observedGeneration: 3}]}", status.FailedStatus},
	} {
		object := &unstructured.Unstructured{}
		g.Expect(yaml.Unmarshal([]byte("{metadata: {name: app, generation: 3}, status: "+test.status+"}"), &object.Object)).To(Succeed())
		for _, path := range [][]string{{"metadata", "generation"}, {"status", "observedGeneration"}} {
			value, _, err := unstructured.NestedFieldNoCopy(object.Object, path...)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(unstructured.SetNestedField(object.Object, int64(value.(float64)), path...)).To(Succeed())
		}
		got, err := evaluator.Evaluate(t.Context(), object)
		g.Expect(err).NotTo(HaveOccurred(), test.name)
		g.Expect(got.Status).To(Equal(test.want), test.name)
	}
}
