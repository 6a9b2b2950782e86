// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestReferencesThatNoConfigCouldSatisfyAreFaults(t *testing.T) {
	for reference, want := range map[string]string{
		"${pulumi.nope}":      "program.outputs.o: refers to ${pulumi.nope}, and there are ${pulumi.cwd}, ${pulumi.organization}, ${pulumi.project}, ${pulumi.rootDirectory}, ${pulumi.stack} only",
		"${pulumi.Stack}":     "refers to ${pulumi.Stack}",
		"x ${pulumi.stack.x}": "refers to ${pulumi.stack.x}",
		"${pulumi.stack.x}":   "refers to ${pulumi.stack.x}",
		"${pulumi[0]}":        "refers to ${pulumi[0]}",
		"${ t.value }":        `program.outputs.o: refers to " t": blanks in ${} are part of the name in Pulumi YAML, write ${t} without`,
		"x ${t } y":           `refers to "t ": blanks`,
		"${ pulumi.stack}":    `refers to " pulumi": blanks`,
	} {
		text := "variables: {t: {value: x}, \" u\": 1}\noutputs: {o: '" + reference + "', u: '${ u}', p: '${pulumi}${pulumi.rootDirectory}${pulumi.nope}'}"
		NewWithT(t).Expect(withoutLines(checked(t, text).Invalid)).To(ConsistOf(ContainSubstring(want)), reference)
	}
	NewWithT(t).Expect(checked(t, "outputs: {o: '${ a }${b}${ }'}").Undeclared).To(Equal([]string{`" "`, `" a "`, "b"}))
}
