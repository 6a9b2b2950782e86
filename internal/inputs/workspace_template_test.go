// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package inputs

import (
	"testing"

	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

func TestAnEmptyTemplateCountsAsNone(t *testing.T) {
	for text, asks := range map[string]bool{
		``:                           false,
		`null`:                       false,
		` {} `:                       false,
		`{"spec":{}}`:                false,
		`{"spec":null}`:              false,
		`{"spec":{"image":null}}`:    false,
		`{"metadata":{"labels":{}}}`: false,
		`{"metadata":{"labels":{"a":"b"}},"spec":{}}`:                              false,
		`{"spec":{"podTemplate":{"spec":{}},"env":[],"resources":{}}}`:             false,
		`{"spec":{"image":"x"}}`:                                                   true,
		`{"spec":{"image":""}}`:                                                    true,
		`{"spec":{"podTemplate":{"metadata":{"labels":{"a":"b"}}}}}`:               true,
		`{"spec":{"podTemplate":{"spec":{"volumes":[{"emptyDir":{}}]}}}}`:          true,
		`{"spec":{"podTemplate":{"spec":{"automountServiceAccountToken":false}}}}`: true,
		`{"spec":{"podTemplate":{"spec":{"nodeSelector":null}}}}`:                  true,
		`{"image":"x"}`: true,
		`[1]`:           true,
		`3`:             true,
		`{`:             true,
	} {
		t.Run(text, func(t *testing.T) {
			spec := v1.StackSpec{WorkspaceTemplate: &apiextensionsv1.JSON{Raw: []byte(text)}}
			NewWithT(t).Expect(HasWorkspace(spec)).To(Equal(asks))
		})
	}
	NewWithT(t).Expect(HasWorkspace(v1.StackSpec{})).To(BeFalse())
}

func TestATemplateMayAskForALabelOfTheJob(t *testing.T) {
	for text, asks := range map[string]bool{
		`null`:                                   false,
		`{"spec":{"image":null}}`:                false,
		`{"metadata":{"labels":{}},"spec":null}`: false,
		`{"metadata":{"labels":null,"annotations":null}}`:    false,
		`{"metadata":{"name":"x","creationTimestamp":null}}`: false,
		`{"metadata":{"labels":{"a":"b"}}}`:                  true,
		`{"metadata":{"annotations":{"a":"b"}},"spec":{}}`:   true,
		`{"metadata":{"labels":{"a":""}}}`:                   true,
		`{"metadata":3}`:                                     true,
		`{"metadata":{"labels":{}},"spec":{"image":"x"}}`:    true,
	} {
		t.Run(text, func(t *testing.T) {
			spec := v1.StackSpec{WorkspaceTemplate: &apiextensionsv1.JSON{Raw: []byte(text)}}
			NewWithT(t).Expect(HasJob(spec)).To(Equal(asks))
		})
	}
	NewWithT(t).Expect(HasJob(v1.StackSpec{})).To(BeFalse())
}
