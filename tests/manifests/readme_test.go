// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/process"
)

// TestTheREADMEStartsAsTheGuideDoes expects the guide to have each command of the README, in the same order, and both to
// name files of this repository and what is in them. tests/e2e runs the example, where no cluster of kind can be.
func TestTheREADMEStartsAsTheGuideDoes(t *testing.T) {
	g := NewWithT(t)
	root, err := process.RepoRoot()
	g.Expect(err).NotTo(HaveOccurred())
	commands := func(page string) []string {
		text, err := os.ReadFile(filepath.Join(root, page))
		g.Expect(err).NotTo(HaveOccurred())
		var all []string
		for _, found := range regexp.MustCompile("(?ms)^```sh\n(.*?)^```$").FindAllStringSubmatch(string(text), -1) {
			joined := regexp.MustCompile(`\\\n *`).ReplaceAllString(found[1], "")
			all = append(all, strings.Split(strings.TrimSpace(joined), "\n")...)
		}
		return all
	}
	guide, readme := commands("docs/guides/kind.md"), commands("README.md")
	g.Expect(readme).To(ContainElement("make image"))
	next := 0
	for _, command := range readme {
		found := slices.Index(guide[next:], command)
		g.Expect(found).To(BeNumerically(">=", 0), "the guide has no %q after %q", command, guide[:next])
		next += found + 1
	}
	g.Expect(namesOf(guide)).NotTo(BeEmpty())
	g.Expect(namesOf(guide)).To(HaveEach(BeElementOf(objectsIn(g, root, "examples/kind/s3.yaml", "examples/kind/hello.yaml"))))
}

// namesOf returns the objects that commands name, as namespace kind/name. Those of the controller and what a program has made
// are in no manifest of the example.
func namesOf(commands []string) (names []string) {
	for _, command := range commands {
		found := regexp.MustCompile(`^kubectl -n (\S+) (?:wait|rollout status|patch|delete|get) (stack|program|deployment)[/ ]([a-z0-9]+)\b`).FindStringSubmatch(command)
		if found != nil && found[1] != "flux-system" {
			names = append(names, found[1]+" "+found[2]+"/"+found[3])
		}
	}
	return names
}

func objectsIn(g *WithT, root string, files ...string) (names []string) {
	for _, file := range files {
		text, err := os.ReadFile(filepath.Join(root, file))
		g.Expect(err).NotTo(HaveOccurred())
		objects, err := Unit{Name: file, Text: string(text)}.Objects()
		g.Expect(err).NotTo(HaveOccurred())
		for _, object := range objects {
			names = append(names, object.GetNamespace()+" "+strings.ToLower(object.GetKind())+"/"+object.GetName())
		}
	}
	return names
}

// TestTheEditOfTheGuideChangesTheProgram looks for what a reader patches, where it is now.
func TestTheEditOfTheGuideChangesTheProgram(t *testing.T) {
	g := NewWithT(t)
	root, err := process.RepoRoot()
	g.Expect(err).NotTo(HaveOccurred())
	page, err := os.ReadFile(filepath.Join(root, "docs", "guides", "kind.md"))
	g.Expect(err).NotTo(HaveOccurred())
	patch := regexp.MustCompile(`kubectl -n hello patch program hello --type=merge -p '(.*)'`).FindSubmatch(page)
	g.Expect(patch).NotTo(BeNil())
	var changed any
	g.Expect(json.Unmarshal(patch[1], &changed)).To(Succeed())
	var path []string
	for next, nested := changed.(map[string]any); nested; next, nested = changed.(map[string]any) {
		g.Expect(next).To(HaveLen(1))
		for key, value := range next {
			path, changed = append(path, key), value
		}
	}
	text, err := os.ReadFile(filepath.Join(root, "examples", "kind", "hello.yaml"))
	g.Expect(err).NotTo(HaveOccurred())
	objects, err := Unit{Name: "hello.yaml", Text: string(text)}.Objects()
	g.Expect(err).NotTo(HaveOccurred())
	program := slices.IndexFunc(objects, func(object *unstructured.Unstructured) bool { return object.GetKind() == v1.ProgramKind })
	g.Expect(at(g, objects[program], path...)).NotTo(BeEquivalentTo(changed))
}

func at(g *WithT, object *unstructured.Unstructured, path ...string) any {
	value, found, err := unstructured.NestedFieldNoCopy(object.Object, path...)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(found).To(BeTrue(), strings.Join(path, "."))
	return value
}
