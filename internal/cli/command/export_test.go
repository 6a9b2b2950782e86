// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

func TestOneTimeRequestsAreNotExported(t *testing.T) {
	object := &unstructured.Unstructured{Object: map[string]any{}}
	object.SetAnnotations(map[string]string{
		"team": "a", "reconcile.fluxcd.io/requestedAt": "now", "reconcile.fluxcd.io/forceAt": "now",
		v1.CancelRunAnnotation: "run", v1.CancelRunNowAnnotation: "run", v1.ReleaseRunAnnotation: "run", v1.PreviewRequestAnnotation: "now",
		v1.PreviewProgramAnnotation: "one@sha256:x", v1.ReconcileRequestAnnotation: "now",
	})
	NewWithT(t).Expect(exported(object)["metadata"]).To(HaveKeyWithValue("annotations", map[string]string{"team": "a"}))
}
