// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"bytes"
	"os"
	"testing"

	. "github.com/onsi/gomega"
	"sigs.k8s.io/yaml"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

// TestStackOfTheCluster keeps the manifest for a test of the image on a cluster up to
// date: no test here applies it.
func TestStackOfTheCluster(t *testing.T) {
	g := NewWithT(t)
	data, err := os.ReadFile("testdata/stack.yaml")
	g.Expect(err).NotTo(HaveOccurred())
	documents := bytes.Split(data, []byte("\n---\n"))
	g.Expect(documents).To(HaveLen(2))
	var program v1.Program
	var stack v1.Stack
	g.Expect(yaml.UnmarshalStrict(documents[0], &program)).To(Succeed())
	g.Expect(yaml.UnmarshalStrict(documents[1], &stack)).To(Succeed())
	g.Expect(stack.Spec.ProgramRef.Name).To(Equal(program.Name))
}
