// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	programs "github.com/flux-pulumi/pulumi-controller/internal/program"
	"github.com/flux-pulumi/pulumi-controller/tests/process"
)

// TestTheFirstStackOfTheREADME expects the commands to name the Secret, the Stack and the output of the manifests.
// Other tests check that the API server accepts these and that the Program is valid.
func TestTheFirstStackOfTheREADME(t *testing.T) {
	g := NewWithT(t)
	root, err := process.RepoRoot()
	g.Expect(err).NotTo(HaveOccurred())
	text, err := os.ReadFile(filepath.Join(root, "README.md"))
	g.Expect(err).NotTo(HaveOccurred())
	_, section, found := strings.Cut(string(text), "\n## A first Stack\n")
	g.Expect(found).To(BeTrue())
	typed := func(command string) []string {
		found := regexp.MustCompile(`(?m)^` + command + `$`).FindStringSubmatch(section)
		g.Expect(found).NotTo(BeNil(), "no line is %s", command)
		return found[1:]
	}
	secret := typed(`kubectl create secret generic (\S+) --from-literal=(\S+)="\$(\w+)"`)
	g.Expect(section).To(ContainSubstring("This is `" + typed(`kubectl apply -f (\S+)`)[0] + "`:"))
	name := typed(`kubectl wait stack/(\S+) --for=condition=Ready --timeout=\S+`)[0]
	output := typed(`kubectl get stack ` + name + ` -o jsonpath='\{\.status\.outputs\.(\w+)\}'`)[0]

	objects, err := FencedBlocks("README.md", section)[0].Objects()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(objects).To(HaveLen(2))
	program, stack := objects[0], objects[1]
	g.Expect(stack.GetName()).To(Equal(name))
	g.Expect(at(g, stack, "spec", "programRef", "name")).To(Equal(program.GetName()))
	g.Expect(at(g, program, "program", "outputs")).To(HaveKey(output))
	g.Expect(at(g, stack, "spec", "envRefs", secret[2], "secret")).To(Equal(map[string]any{"name": secret[0], "key": secret[1]}))
}

// TestRevisionsInTheREADME expects those of the Program of the page, and of that which make demo applies: a reader sees the same.
func TestRevisionsInTheREADME(t *testing.T) {
	g := NewWithT(t)
	root, err := process.RepoRoot()
	g.Expect(err).NotTo(HaveOccurred())
	page, err := os.ReadFile(filepath.Join(root, "README.md"))
	g.Expect(err).NotTo(HaveOccurred())
	quickstart, err := os.ReadFile(filepath.Join(root, "examples", "quickstart", "program.yaml"))
	g.Expect(err).NotTo(HaveOccurred())
	digests := map[string]string{}
	units := append(FencedBlocks("README.md", string(page)), Unit{Name: "quickstart", Text: string(quickstart)})
	for _, unit := range units {
		objects, err := unit.Objects()
		g.Expect(err).NotTo(HaveOccurred())
		for _, object := range objects {
			if object.GetKind() != v1.ProgramKind {
				continue
			}
			raw, err := json.Marshal(object.Object["program"])
			g.Expect(err).NotTo(HaveOccurred())
			read, _, err := programs.Read(raw)
			g.Expect(err).NotTo(HaveOccurred())
			digests[object.GetName()] = read.Digest
		}
	}
	g.Expect(digests).To(And(HaveLen(2), HaveKey("pet"), HaveKey("greeting")))
	shown := regexp.MustCompile(`1@(sha256:[0-9a-f]{8,})`).FindAllStringSubmatch(string(page), -1)
	g.Expect(shown).To(HaveLen(5))
	for i, found := range shown {
		name := "greeting"
		if i >= 2 {
			name = "pet"
		}
		g.Expect(digests[name]).To(HavePrefix(found[1]), name)
	}
}

func at(g *WithT, object *unstructured.Unstructured, path ...string) any {
	value, found, err := unstructured.NestedFieldNoCopy(object.Object, path...)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(found).To(BeTrue(), strings.Join(path, "."))
	return value
}
