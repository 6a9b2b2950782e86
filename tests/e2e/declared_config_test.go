// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// declaring is a Program that declares texts, and a value for its provider.
const declaring = `
config:
  lab:directory: %s
  suffix: {type: string}
  account: {type: String}
  zero: {type: string}
  version: {type: string}
  rate: {type: string}
  flag: {type: string}
  quoted: {type: string}
  port: {type: Number}
  pin: {type: string}
resources:
  a: {type: lab:Thing, properties: {name: a, value: "${account}", secretValue: "${pin}"}}
outputs:
  suffix: sg-${suffix}
  arn: arn:aws:iam::${account}:role/x
  zero: ${zero}
  version: ${version}
  tag: v${version}
  rate: rate=${rate}
  flag: ${flag}
  quoted: arn:aws:iam::${quoted}:role/x
  port: :${port}
  json: {"fn::toJSON": {account: "${account}", version: "${version}"}}
`

func TestConfigReachesAProgramAndItsProviderAsDeclared(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	u.apply(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "digits"}, StringData: map[string]string{"pin": "4711471147"}})
	program := u.program(fmt.Sprintf(declaring, "{default: "+u.place+"}"))
	u.apply(program)
	stack := u.stack(fromProgram, func(s *v1.Stack) {
		s.Spec.Config = map[string]apiextensionsv1.JSON{"port": {Raw: []byte("1234567")}}
		for key, text := range map[string]string{"suffix": "1048576", "account": "123456789012", "zero": "012345678912", "version": "1.30",
			"rate": "0.01", "flag": "false", "quoted": `"123456789012"`} {
			s.Spec.Config[key] = jsonText(text)
		}
		s.Spec.SecretsRef = map[string]v1.ResourceRef{"pin": secretKey("digits", "pin")}
	})
	u.apply(stack)
	const fault = `program.config["lab:directory"].default: does not reach the provider: use value instead of default`
	u.awaitFailure(stack, v1.ProgramInvalidReason, "Program "+u.namespace+"/app is not valid: "+fault)
	u.Expect(u.Get(u.ctx, keyOf(program), program)).To(Succeed())
	u.Expect(conditions.IsFalse(program, meta.ReadyCondition)).To(BeTrue())
	u.Expect(conditions.GetMessage(program, meta.ReadyCondition)).To(Equal(fault))
	u.Expect(u.pulumiCalls()).To(BeEmpty())

	edit(u, program, func(p *v1.Program) { u.setProgram(p, fmt.Sprintf(declaring, "{type: string, value: "+u.place+"}")) })
	u.awaitReady(stack, programEdited(program))
	u.Expect(u.things()).To(Equal(map[string]string{"a": "123456789012"}), "the provider has the directory")
	for name, want := range map[string]string{
		"suffix": "sg-1048576", "arn": "arn:aws:iam::123456789012:role/x", "zero": "012345678912", "version": "1.30", "tag": "v1.30",
		"rate": "rate=0.01", "flag": "false", "quoted": "arn:aws:iam::123456789012:role/x", "port": ":1.234567e+06",
		"json": `{"account":"123456789012","version":"1.30"}`,
	} {
		var text string
		u.Expect(json.Unmarshal(stack.Status.Outputs[name].Raw, &text)).To(Succeed(), name)
		u.Expect(text).To(Equal(want), name)
	}
}
