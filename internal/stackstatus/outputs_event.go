// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package stackstatus

import (
	"fmt"

	eventv1 "github.com/fluxcd/pkg/apis/event/v1beta1"
	"github.com/fluxcd/pkg/apis/meta"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// OutputsEvent returns the event for what became of the outputs after a run, false if there is
// none: that the update itself wrote them is no news.
func OutputsEvent(stack *v1.Stack, record *v1.RunStatus, before *v1.OutputsSecretStatus) (Event, bool) {
	recorded := stack.Status.OutputsSecret
	switch {
	case recorded == nil || equality.Semantic.DeepEqual(recorded, before):
		return Event{}, false
	case recorded.Failure != nil:
		return Event{Type: corev1.EventTypeWarning, Reason: v1.OutputsFailedReason, Message: recorded.Failure.Message,
			Revision: record.Revision, OriginRevision: record.OriginRevision}, true
	case !run.KindOfRecord(record).Reconciles && recorded.Digest != "":
		return Event{Type: eventv1.EventTypeTrace, Reason: meta.ReconciliationSucceededReason,
			Message:  fmt.Sprintf("Wrote the outputs to Secret %s/%s", stack.Namespace, recorded.Name),
			Revision: record.Revision, OriginRevision: record.OriginRevision}, true
	}
	return Event{}, false
}
