// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/flux-pulumi/pulumi-controller/tests/process"
)

// TestExamplesSayWhatToSet looks for the fields that have another value for each reader. The values of the examples lead nowhere.
func TestExamplesSayWhatToSet(t *testing.T) {
	g := NewWithT(t)
	root, err := process.RepoRoot()
	g.Expect(err).NotTo(HaveOccurred())
	fields := 0
	for _, files := range []string{"*.yaml", "*/*.yaml"} {
		manifests, err := filepath.Glob(filepath.Join(root, "examples", "*", files))
		g.Expect(err).NotTo(HaveOccurred())
		for _, manifest := range manifests {
			text, err := os.ReadFile(manifest)
			g.Expect(err).NotTo(HaveOccurred())
			inside, err := filepath.Rel(filepath.Join(root, "examples"), manifest)
			g.Expect(err).NotTo(HaveOccurred())
			example, _, _ := strings.Cut(inside, string(filepath.Separator))
			page, err := os.ReadFile(filepath.Join(root, "examples", example, "README.md"))
			g.Expect(err).NotTo(HaveOccurred())
			for _, field := range regexp.MustCompile(`(?m)^  (url|backend): \S*example\S*$`).FindAllStringSubmatch(string(text), -1) {
				fields++
				g.Expect(string(page)).To(ContainSubstring("`"+field[1]+"`"), inside)
			}
		}
	}
	g.Expect(fields).To(BeNumerically(">=", 10))
}

// TestTheLayersAreSetUpAndTakenDown expects the commands of the README to enable what the programs use, and to name the objects of the
// manifests, from the top layer down: tests/e2e destroys the layers in this order.
func TestTheLayersAreSetUpAndTakenDown(t *testing.T) {
	g := NewWithT(t)
	root, err := process.RepoRoot()
	g.Expect(err).NotTo(HaveOccurred())
	read := func(file string) string {
		text, err := os.ReadFile(filepath.Join(root, "examples", "layers", file))
		g.Expect(err).NotTo(HaveOccurred())
		return string(text)
	}
	readme := strings.ReplaceAll(read("README.md"), "\\\n", "")
	enabled := regexp.MustCompile(`(?m)^gcloud services enable .*`).FindString(readme)
	service := map[string]string{"container": "container", "sql": "sqladmin", "serviceAccount": "iam", "projects": "cloudresourcemanager"}
	used := map[string]bool{}
	for _, found := range regexp.MustCompile(`type: gcp:(\w+):`).FindAllStringSubmatch(read("cluster/Pulumi.yaml")+read("app/app-infra.yaml"), -1) {
		used[found[1]] = true
		g.Expect(service).To(HaveKey(found[1]))
		g.Expect(enabled).To(ContainSubstring(" " + service[found[1]] + ".googleapis.com"))
	}
	g.Expect(used).To(HaveLen(len(service)))

	down := regexp.MustCompile("(?s)```sh\nflux suspend kustomization (\\S+) -n (\\S+)\nkubectl delete stack (\\S+) -n (\\S+)\n" +
		"pulumi destroy -C cluster\npulumi stack rm dev --force -C bootstrap\n```").FindStringSubmatch(readme)
	g.Expect(down).NotTo(BeNil())
	kustomization := namedIn(g, read("sync/wordpress.yaml"), "Kustomization", down[1])
	g.Expect(kustomization.GetNamespace()).To(Equal(down[2]))
	g.Expect(at(g, kustomization, "spec", "targetNamespace")).To(Equal(down[4]))
	namedIn(g, read("app/app-infra.yaml"), "Stack", down[3])
}

func namedIn(g *WithT, text, kind, name string) *unstructured.Unstructured {
	objects, err := Unit{Name: kind + " " + name, Text: text}.Objects()
	g.Expect(err).NotTo(HaveOccurred())
	for _, object := range objects {
		if object.GetKind() == kind && object.GetName() == name {
			return object
		}
	}
	g.Expect(objects).To(BeEmpty(), "none is the %s %s", kind, name)
	return nil
}

// TestExamplesCommitNoPackages expects git to ignore what npm installs, where an example is copied to a repository of its own.
func TestExamplesCommitNoPackages(t *testing.T) {
	g := NewWithT(t)
	root, err := process.RepoRoot()
	g.Expect(err).NotTo(HaveOccurred())
	for example, installed := range map[string]string{"layers": "bootstrap/node_modules", "bootstrap-flux-with-pulumi": "node_modules", "policies": "node_modules"} {
		dir := t.TempDir()
		g.Expect(filepath.Join(root, "examples", example, filepath.Dir(installed), "package.json")).To(BeAnExistingFile())
		text, err := os.ReadFile(filepath.Join(root, "examples", example, ".gitignore"))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(os.WriteFile(filepath.Join(dir, ".gitignore"), text, 0o644)).To(Succeed())
		for _, args := range [][]string{{"init", "--quiet"}, {"check-ignore", "--quiet", installed + "/"}} {
			said, err := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir}, args...)...).CombinedOutput()
			g.Expect(err).NotTo(HaveOccurred(), "%s: git %s\n%s", example, args, said)
		}
	}
}

// TestManifestsThatReadersTypeAlongUseProvidersThatTheyHave leaves only the quickstart, which make demo applies without a
// network, to the provider of the tests.
func TestManifestsThatReadersTypeAlongUseProvidersThatTheyHave(t *testing.T) {
	g := NewWithT(t)
	root, err := process.RepoRoot()
	g.Expect(err).NotTo(HaveOccurred())
	ofTests := regexp.MustCompile(`type: lab:|lab:directory`)
	checked := 0
	for _, dir := range []string{"examples", "docs"} {
		g.Expect(filepath.WalkDir(filepath.Join(root, dir), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || strings.Contains(path, filepath.Join("examples", "quickstart")) {
				return err
			}
			text, err := os.ReadFile(path)
			checked++
			g.Expect(string(text)).NotTo(MatchRegexp(ofTests.String()), path)
			return err
		})).To(Succeed())
	}
	g.Expect(checked).To(BeNumerically(">", 50))
}

// TestManifestsThatReadersTypeAlongHaveNoDeprecatedField looks for the fields of spec whose description says that they are.
func TestManifestsThatReadersTypeAlongHaveNoDeprecatedField(t *testing.T) {
	g := NewWithT(t)
	root, err := process.RepoRoot()
	g.Expect(err).NotTo(HaveOccurred())
	var deprecated []string
	for name, field := range readCRDs(t)["Stack"].Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties {
		if strings.Contains(field.Description, "is deprecated") {
			deprecated = append(deprecated, name)
		}
	}
	g.Expect(deprecated).To(ContainElements("accessTokenSecret", "secrets", "resyncFrequencySeconds"))
	units, err := Find(root)
	g.Expect(err).NotTo(HaveOccurred())
	stacks := 0
	for _, unit := range units {
		if !strings.HasPrefix(unit.Name, "examples") {
			continue
		}
		objects, err := unit.Objects()
		g.Expect(err).NotTo(HaveOccurred())
		for _, object := range objects {
			spec, _, _ := unstructured.NestedMap(object.Object, "spec")
			if object.GetKind() != "Stack" {
				continue
			}
			stacks++
			for _, name := range deprecated {
				g.Expect(spec).NotTo(HaveKey(name), unit.Name)
			}
		}
	}
	g.Expect(stacks).To(BeNumerically(">", 10))
}
