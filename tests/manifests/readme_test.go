// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

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

func at(g *WithT, object *unstructured.Unstructured, path ...string) any {
	value, found, err := unstructured.NestedFieldNoCopy(object.Object, path...)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(found).To(BeTrue(), strings.Join(path, "."))
	return value
}
