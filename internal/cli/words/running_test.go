// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package words

import (
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

func TestARunInFlightContinuesAndSomethingFollowsIt(t *testing.T) {
	deleting := func(s *v1.Stack) { s.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)} }
	const usual = " After it, the Stack is reconciled every 10m0s, and when its source, its spec or an input changes."
	for name, tt := range map[string]struct {
		operation v1.Operation
		change    func(s *v1.Stack)
		want      string
	}{
		"an update":                {v1.OperationUpdate, func(*v1.Stack) {}, "The update continues." + usual},
		"a check":                  {v1.OperationCheckDrift, func(*v1.Stack) {}, "The check for drift continues." + usual},
		"of a later version":       {"dance", func(*v1.Stack) {}, "The update continues." + usual},
		"a preview on request":     {v1.OperationPreview, func(s *v1.Stack) { s.Status.Run.PreviewRequest = "1" }, "The preview continues." + usual},
		"a proposal":               {v1.OperationPropose, func(*v1.Stack) {}, "The proposal continues. After it, the changes that need an approval wait for one."},
		"a recovery":               {v1.OperationRecover, func(*v1.Stack) {}, "The recovery continues. After it, the controller runs what is due."},
		"suspended":                {v1.OperationUpdate, func(s *v1.Stack) { s.Spec.Suspend = true }, "The update continues. After it, nothing runs until the Stack is resumed."},
		"the spec has changed":     {v1.OperationUpdate, func(s *v1.Stack) { s.Generation = 4 }, "The update continues. After it, the controller reconciles the spec, which has changed since."},
		"a reconcile is requested": {v1.OperationUpdate, func(s *v1.Stack) { s.Annotations[meta.ReconcileRequestAnnotation] = "2" }, "The update continues. After it, the controller reconciles the Stack again, as was requested."},
		"it answers the request": {v1.OperationUpdate, func(s *v1.Stack) {
			s.Annotations[meta.ReconcileRequestAnnotation], s.Status.Run.ReconcileRequest = "2", "2"
		}, "The update continues." + usual},
		"cancelled":                 {v1.OperationUpdate, func(s *v1.Stack) { s.Status.Run.Cancel = v1.CancelGently }, "The update is being cancelled: its operations in flight end, and no others start. It starts again only with a new revision, an edit or a reconcile request."},
		"cancelled now":             {v1.OperationCheckDrift, func(s *v1.Stack) { s.Status.Run.Cancel = v1.CancelNow }, "The check for drift is being cancelled, without waiting for its operations in flight." + usual},
		"a destroy of a deleted":    {v1.OperationDestroy, deleting, "The destroy continues. Once it has succeeded, the Stack is gone."},
		"a proposal of the destroy": {v1.OperationProposeDestroy, deleting, "The proposal of the destroy continues. After it, the destroy waits for an approval."},
		"deleted meanwhile":         {v1.OperationUpdate, func(s *v1.Stack) { deleting(s); s.Spec.DestroyOnFinalize = true }, "The update continues. After it, the stack is destroyed, as the Stack is being deleted."},
		"deleted, and kept":         {v1.OperationUpdate, deleting, "The update continues. After it, the Stack is gone, and its resources stay."},
	} {
		stack := &v1.Stack{ObjectMeta: metav1.ObjectMeta{Generation: 3, Annotations: map[string]string{}}}
		stack.Status.Run = &v1.RunStatus{ID: "1", Operation: tt.operation, Generation: 3}
		tt.change(stack)
		NewWithT(t).Expect(Continues(stack)).To(Equal(tt.want), name)
	}
}
