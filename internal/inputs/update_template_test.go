// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package inputs_test

import (
	"testing"

	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/flux-pulumi/pulumi-controller/internal/inputs"
)

func TestTheTemplateOfUpdates(t *testing.T) {
	for template, want := range map[string]string{
		``:                                    "",
		`{}`:                                  "",
		`{"metadata":{"labels":{"a":"b"}}}`:   "",
		`{"spec":null}`:                       "",
		`{"spec":{"remove":true}}`:            "",
		`{"spec":{"remove":null}}`:            "",
		`{"spec":{"ttlAfterCompleted":"1h"}}`: "",
		`{"spec":{"refresh":true,"runProgram":false,"targetDependents":false}}`: "",
		`{"spec":{"target":["urn:a","urn:b"]}}`:                                 "",
		`{"spec":{"remove":false}}`:                                             ".spec.remove: cannot be",
		`{"spec":{"refresh":false}}`:                                            ".spec.refresh: contradicts spec.refresh: remove it and set spec.refresh",
		`{"spec":{"refresh":"yes"}}`:                                            ".spec.refresh: contradicts spec.refresh",
		`{"spec":{"runProgram":true}}`:                                          ".spec.runProgram: contradicts spec.runProgram",
		`{"spec":{"targetDependents":true}}`:                                    ".spec.targetDependents: contradicts spec.targetDependents",
		`{"spec":{"target":["urn:a"]}}`:                                         ".spec.target: contradicts spec.targets: remove it and set spec.targets",
		`{"spec":{"parallel":4}}`:                                               ".spec.parallel: cannot be set: remove it and set the variable PULUMI_PARALLEL",
		`{"spec":{"continueOnError":true}}`:                                     ".spec.continueOnError: cannot be set: remove it and set the variable PULUMI_CONTINUE_ON_ERROR",
		`{"spec":{"expectNoChanges":true}}`:                                     ".spec.expectNoChanges: cannot be set: remove it; use spec.preview",
		`{"spec":{"replace":["urn:a"]}}`:                                        ".spec.replace: cannot be set: remove it; to replace resources, suspend the Stack",
		`{"spec":{"message":"hello"}}`:                                          ".spec.message: cannot be set: remove it",
		`{"spec":{"type":"preview"}}`:                                           ".spec.type: cannot be set: remove it; for a preview, use spec.preview",
		`{"spec":{"stackName":"x"}}`:                                            ".spec.stackName: cannot be set",
		`{"spec":{"remove":true,"color":"red"}}`:                                ".spec.color: is unknown: remove it",
		`{"status":{}}`:                                                         ".status: is unknown: remove it",
		`{"spec":[]}`:                                                           ".spec: is not an object",
		`[]`:                                                                    ": is not an object",
	} {
		g := NewWithT(t)
		stack := stackOf(nil, nil, nil)
		stack.Spec.Refresh, stack.Spec.Targets = true, []string{"urn:b", "urn:a"}
		stack.Spec.UpdateTemplate = &apiextensionsv1.JSON{Raw: []byte(template)}
		err := inputs.Validate(stack)
		if want == "" {
			g.Expect(err).NotTo(HaveOccurred(), template)
			continue
		}
		g.Expect(err).To(MatchError(HavePrefix("spec.updateTemplate"+want)), template)
		g.Expect(kindOf(err)).To(Equal("invalid"), template)
	}
}
