// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"encoding/json"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

func TestAnAPIServerKeepsTheNullsOfOutputs(t *testing.T) {
	t.Parallel()
	const outputs = `{"object": {"a": null, "b": [null, {"c": null}]}, "other": 1}`
	c := sharedCluster(t)
	u := c.tenant(t)
	u.createStack("a", func(s *v1.Stack) { s.Spec.Suspend = true })
	r := &StackReconciler{Client: c.Client, Now: time.Now}
	show := func(stack *v1.Stack) error {
		return r.patchStatus(u.ctx, stack, func() {
			u.Expect(json.Unmarshal([]byte(outputs), &stack.Status.Outputs)).To(Succeed())
		})
	}
	u.Eventually(func() error { return show(u.stack("a")) }).Should(Succeed(), "once the controller has written its part")
	shown, err := json.Marshal(u.stack("a").Status.Outputs)
	u.Expect(err).NotTo(HaveOccurred())
	u.Expect(shown).To(MatchJSON(outputs))

	stale := u.stack("a")
	stale.Status.Outputs = map[string]apiextensionsv1.JSON{}
	u.edit("a", func(s *v1.Stack) { s.Labels = map[string]string{"a": "b"} })
	err = show(stale)
	u.Expect(apierrors.IsConflict(err)).To(BeTrue(), "%v", err)
}
