// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

// back is the section of the guide that leads from this controller to the operator.
const back = "Migrate back"

// ours sets each field of spec that the operator does not have.
func ours() map[string]string {
	return map[string]string{
		"interval": `"1h"`, "retryInterval": `"2m"`, "timeout": `"1h"`, "pendingCreates": `"Stop"`, "suspend": `true`,
		"dependsOn": `[{"name": "proven"}]`, "writeOutputsToSecret": `{"name": "outputs"}`,
	}
}

// droppedFields lists the fields of spec, without those inside of others, that the table says the operator does not have.
func (m *migration) droppedFields() (fields []string) {
	for _, row := range regexp.MustCompile("(?m)^ *\\| ((?:`\\w+`(?:, )?)+) \\|").FindAllStringSubmatch(m.guide.section(back), -1) {
		for _, field := range strings.Split(row[1], ", ") {
			fields = append(fields, strings.Trim(field, "`"))
		}
	}
	return fields
}

// goBack ends where one starts the operator.
func (m *migration) goBack() {
	m.test.Helper()
	m.Expect(m.droppedFields()).To(ConsistOf(slices.Collect(maps.Keys(ours()))))
	fields := strings.Builder{}
	for name, value := range ours() {
		fields.WriteString(`,"` + name + `":` + value)
	}
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{`+fields.String()[1:]+`}}`))
	m.Expect(client.WithFieldValidation(m.WithWatch, "Strict").Patch(m.ctx, m.setAside, patch)).To(Succeed())

	m.Expect(m.kubectl(m.guide.command(back, "kubectl get stacks "))).To(And(
		MatchRegexp(`(?m)^`+m.namespace+` +proven +<none> +<none>$`), Not(MatchRegexp(`(?m)^`+m.namespace+`.* [^<\s]+$`))))
	m.kubectl(m.guide.command(back, "kubectl -n flux-system scale "))
	m.Eventually(func() string { return m.kubectl("kubectl -n flux-system get pods") }).Should(HavePrefix("No resources found"))
	m.Expect(m.Controller.Stop()).To(Succeed())

	m.kubectl(m.guide.command(back, "kubectl apply --server-side --force-conflicts -f ", "<file>", m.crds))
	m.keepsAll()
	for _, stack := range []*v1.Stack{m.proven, m.failed, m.setAside} {
		m.Expect(m.Get(m.ctx, keyOf(stack), stack)).To(Succeed())
		m.Expect(stack.Status.LastUpdate.State).To(Equal(v1.UpdateSucceeded), stack.Name)
		m.Expect(stack.Status.LastUpdate.Type).To(Equal(v1.UpdateTypeUp), stack.Name)
	}
	m.Expect(m.things()).To(HaveLen(4))
}
