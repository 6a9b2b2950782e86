// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"encoding/json"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/localprogram"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// TestALocalProgramIsPreviewedInAPod passes the program to the pod along with the run.
func TestALocalProgramIsPreviewedInAPod(t *testing.T) {
	short.Skip(t)
	u := newTeam(t)
	u.program("app", thing("one"))
	stack := u.stack("app")
	u.awaitReady(stack, "one")

	var program map[string]any
	u.Expect(yaml.Unmarshal([]byte(thing("two")), &program)).To(Succeed())
	text, err := json.Marshal(program)
	u.Expect(err).NotTo(HaveOccurred())
	u.Expect(u.Client().Create(u.ctx, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: u.namespace, Name: "local"}, BinaryData: map[string][]byte{localprogram.ProgramKey: text},
	})).To(Succeed())
	edit(u, stack, func(s *v1.Stack) {
		s.Annotations = map[string]string{
			v1.PreviewRequestAnnotation: "one", v1.PreviewProgramAnnotation: localprogram.NewReference("local", text).String(),
		}
	})
	u.Eventually(func(g Gomega) {
		g.Expect(u.Get(u.ctx, client.ObjectKeyFromObject(stack), stack)).To(Succeed())
		g.Expect(stack.Status.Preview).To(And(HaveField("EndedAt", Not(BeNil())), HaveField("State", v1.UpdateSucceeded)))
	}).Should(Succeed())
	u.Expect(stack.Status.Preview.Updated).To(BeEquivalentTo(1))
	u.Expect(u.jobs()).To(HaveLen(2))
	u.Expect(u.count("update", "done")).To(BeZero(), "nothing was changed")
}
