// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"testing"

	. "github.com/onsi/gomega"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/inputs"
)

const fileAsText = `{"4dabf18193072939515e22adb298388d":"c44067f5952c0a294b673a41bacd8c17","path":"/etc/passwd"}`

// A program from a source can read any file, and may have a reason to pass on such a
// value.
func TestConfigOfASourceIsNotChecked(t *testing.T) {
	stack := &v1.Stack{}
	stack.Spec.Secrets = map[string]string{"file": fileAsText}
	resolved := &inputs.Inputs{Secrets: stack.Spec.Secrets}
	NewWithT(t).Expect(checkProgramConfig(stack, resolved)).To(Succeed())
	stack.Spec.ProgramRef = &v1.ProgramReference{Name: "app"}
	NewWithT(t).Expect(checkProgramConfig(stack, resolved)).NotTo(Succeed())
}
