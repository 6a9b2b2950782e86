// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/util/version"
)

func TestSupportedKubernetesVersions(t *testing.T) {
	for found, want := range map[string]bool{
		"v1.32.9": false, "v1.32.9-eks-1234567": false,
		"v1.33.0": true, "v1.33.0-eks-1234567": true, "v1.33.0-gke.100": true, "v1.36.2+k3s1": true,
	} {
		NewWithT(t).Expect(isSupported(version.MustParseSemantic(found))).To(Equal(want), found)
	}
}
