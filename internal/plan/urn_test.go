// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"testing"

	. "github.com/onsi/gomega"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/urn"
)

func TestTheNameAndTypeOfAResource(t *testing.T) {
	for text, want := range map[string]string{
		"urn:pulumi:dev::site::aws:s3/bucket:Bucket::assets":                     "assets",
		"urn:pulumi:dev::site::my:Component$aws:s3/bucket:Bucket::web::logs::eu": "web::logs::eu",
		"urn:pulumi:dev::site::lab:index:Thing::":                                "",
	} {
		NewWithT(t).Expect(ResourceName(text)).To(Equal(want), text)
		NewWithT(t).Expect(urn.URN(text).Name()).To(Equal(want), "of Pulumi, for "+text)
	}
	for text, want := range map[string]string{
		"urn:pulumi:dev::site::aws:s3/bucket:Bucket::assets":                     "aws:s3/bucket:Bucket",
		"urn:pulumi:dev::site::my:Component$aws:s3/bucket:Bucket::web::logs::eu": "aws:s3/bucket:Bucket",
	} {
		NewWithT(t).Expect(ResourceType(text)).To(Equal(want), text)
		NewWithT(t).Expect(urn.URN(text).Type()).To(BeEquivalentTo(want), "of Pulumi, for "+text)
	}
	for _, text := range []string{"urn:pulumi:***::assets", "***", ""} {
		NewWithT(t).Expect(ResourceType(text)).To(BeEmpty(), text)
	}
	for text, want := range map[string]string{"urn:pulumi:***::assets": "assets", "***": "***", "": ""} {
		NewWithT(t).Expect(ResourceName(text)).To(Equal(want), text)
	}
}
