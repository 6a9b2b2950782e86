// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/inventory"
)

func TestAPreviewSaysWhereItsResultIs(t *testing.T) {
	const configMap = "the ConfigMap preview-lost/network-preview "
	w := newWorld(t, "preview-lost")
	w.apply("steered")
	s := &session{Environment: w.env}
	preview := v1.PreviewStatus{Request: "mine", State: v1.UpdateSucceeded, EndedAt: &metav1.Time{Time: now}, ConfigMap: "network-preview", Digest: inventory.Digest([]byte("mine"))}
	for _, test := range []struct {
		name, request string
		kept          bool
		want          string
	}{
		{"gone", "mine", false, configMap + "is gone, and with it the result of the preview: try again"},
		{"gone with a later preview", "another", false, "another preview of the Stack was requested and replaced this one: try again"},
		{"changed", "mine", true, configMap + "was changed by something other than the controller: delete it and try again"},
		{"of a later preview", "another", true, "another preview of the Stack was requested and replaced this one: try again"},
	} {
		t.Run(test.name, func(t *testing.T) {
			g := NewWithT(t)
			if of := *w; test.kept {
				of.t = t
				of.keep("network-preview", inventory.PlanKey, []byte("another's"))
			}
			w.status(func(status *v1.StackStatus) {
				status.Preview = preview.DeepCopy()
				status.Preview.Request = test.request
			})
			stack := w.network()
			stack.Status.Preview = &preview
			g.Expect(s.showPreview(t.Context(), w.api, stack, "")).To(MatchError(test.want))
		})
	}
}
