// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/ui/view"
)

// guardApprovals applies config/approvals to the namespace only.
func (w *world) guardApprovals() {
	w.t.Helper()
	g := NewWithT(w.t)
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "config", "approvals", "policy.yaml"))
	g.Expect(err).NotTo(HaveOccurred())
	first, second, found := strings.Cut(string(text), "\n---\n")
	g.Expect(found).To(BeTrue())
	policy, binding := &admissionv1.ValidatingAdmissionPolicy{}, &admissionv1.ValidatingAdmissionPolicyBinding{}
	g.Expect(yaml.UnmarshalStrict([]byte(first), policy)).To(Succeed())
	g.Expect(yaml.UnmarshalStrict([]byte(second), binding)).To(Succeed())
	policy.Name, binding.Name, binding.Spec.PolicyName = w.namespace, w.namespace, w.namespace
	policy.Spec.MatchConstraints.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: w.namespace}}
	for _, object := range []client.Object{policy, binding} {
		g.Expect(w.api.Create(w.t.Context(), object)).To(Succeed())
		w.t.Cleanup(func() { _ = w.api.Delete(context.Background(), object) })
	}
}

// TestThePageOffersAnApproverOnlyDecisions: a role can let them patch a Stack, but not which part of it.
func TestThePageOffersAnApproverOnlyDecisions(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, "ui-approver")
	w.apply("steered")
	w.propose(examplePlan("one"))
	w.allow("ui-approver", events, stacks, rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"configmaps"}})
	role := &rbacv1.Role{}
	g.Expect(w.api.Get(t.Context(), client.ObjectKey{Namespace: w.namespace, Name: "ui-approver"}, role)).To(Succeed())
	role.Rules = append(role.Rules, rbacv1.PolicyRule{APIGroups: []string{v1.GroupVersion.Group}, Resources: []string{"stacks"}, Verbs: []string{"patch", "approve"}})
	g.Expect(w.api.Update(t.Context(), role)).To(Succeed())
	b, before := w.open("--no-open", "--as", "ui-approver"), w.network().ResourceVersion
	may := func() view.May {
		var detail view.Detail
		b.get("network", &detail)
		return detail.May
	}
	g.Eventually(may, time.Minute, slowPolls).Should(Equal(view.May{Approve: true, Reject: true, Reconcile: true, Preview: true, Suspend: true}))
	w.guardApprovals()
	g.Eventually(may, time.Minute, slowPolls).Should(Equal(view.May{Approve: true, Reject: true}))
	g.Expect(w.network().ResourceVersion).To(Equal(before), "to ask is not to act")
	for _, action := range []string{"reconcile", "preview", "suspend"} {
		code, text := b.act("network/"+action, "{}")
		g.Expect(code).To(Equal(http.StatusForbidden), text)
		g.Expect(text).To(ContainSubstring("and change nothing else of it"), action)
	}
	w.status(func(s *v1.StackStatus) {
		s.Run = &v1.RunStatus{ID: "run-1", Operation: v1.OperationUpdate, Generation: 1, StartedAt: metav1.NewTime(now)}
	})
	g.Expect(may().Cancel).To(BeFalse())
	b = w.open("--no-open")
	g.Expect(may()).To(HaveField("Cancel", BeTrue()), "who may update Stacks")
}

func TestWhatAChangeThatIsNotStoredSays(t *testing.T) {
	stacks := schema.GroupResource{Group: v1.GroupVersion.Group, Resource: "stacks"}
	for name, tt := range map[string]struct {
		err        error
		may, fails bool
	}{
		"accepted":                          {nil, true, false},
		"forbidden":                         {apierrors.NewForbidden(stacks, "network", errors.New("ask alice")), false, false},
		"invalid":                           {apierrors.NewInvalid(schema.GroupKind{Kind: "Stack"}, "network", nil), false, false},
		"unauthorized":                      {apierrors.NewUnauthorized("the policy says no"), false, false},
		"a webhook that answers no dry run": {apierrors.NewBadRequest(`admission webhook "a.example.com" does not support dry run`), true, false},
		"another bad request":               {apierrors.NewBadRequest("what is this"), false, true},
		"a webhook that is away":            {apierrors.NewInternalError(errors.New("failed calling webhook")), false, true},
		"the API server is away":            {errors.New("connection refused"), false, true},
	} {
		t.Run(name, func(t *testing.T) {
			g, err := NewWithT(t), tt.err
			if err != nil {
				err = fmt.Errorf("changing Stack network: %w", err)
			}
			may, err := isAccepted(err)
			g.Expect(may).To(Equal(tt.may))
			g.Expect(err != nil).To(Equal(tt.fails))
		})
	}
}
