// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package stackstatus

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

func TestTheCauseOfARun(t *testing.T) {
	attempted := func(failures int64) v1.StackStatus {
		return v1.StackStatus{LastAttemptedDigest: "sha256:a", Failures: failures}
	}
	deleted := &metav1.Time{Time: time.Unix(0, 0)}
	for name, tt := range map[string]struct {
		status  v1.StackStatus
		deleted *metav1.Time
		record  v1.RunStatus
		want    string
	}{
		"the first run":                         {v1.StackStatus{}, nil, v1.RunStatus{Operation: v1.OperationUpdate, Digest: "sha256:a"}, "change"},
		"other inputs":                          {attempted(0), nil, v1.RunStatus{Operation: v1.OperationUpdate, Digest: "sha256:b"}, "change"},
		"other inputs after a failure":          {attempted(2), nil, v1.RunStatus{Operation: v1.OperationUpdate, Digest: "sha256:b"}, "change"},
		"the same inputs":                       {attempted(0), nil, v1.RunStatus{Operation: v1.OperationUpdate, Digest: "sha256:a"}, "interval or request"},
		"the same inputs, after failing":        {attempted(1), nil, v1.RunStatus{Operation: v1.OperationUpdate, Digest: "sha256:a"}, "retry"},
		"without a digest, nothing is the same": {v1.StackStatus{Failures: 1}, nil, v1.RunStatus{Operation: v1.OperationUpdate}, "change"},
		"an approved plan":                      {attempted(1), nil, v1.RunStatus{Operation: v1.OperationUpdate, Digest: "sha256:a", Approved: "sha256:plan"}, "approval"},
		"a correction of drift":                 {attempted(0), nil, v1.RunStatus{Operation: v1.OperationUpdate, Digest: "sha256:a", Drift: "sha256:drift"}, "drift"},
		"an approved correction":                {attempted(0), nil, v1.RunStatus{Operation: v1.OperationUpdate, Drift: "sha256:drift", Approved: "sha256:plan"}, "drift"},
		"a deletion":                            {attempted(0), deleted, v1.RunStatus{Operation: v1.OperationDestroy, Digest: "sha256:a"}, "deletion of the Stack"},
		"an approved deletion":                  {attempted(0), deleted, v1.RunStatus{Operation: v1.OperationDestroy, Approved: "sha256:plan"}, "approval"},
		"a recovery":                            {attempted(1), nil, v1.RunStatus{Operation: v1.OperationRecover, Digest: "sha256:a"}, "interrupted run"},
		"a recovery before a deletion":          {attempted(1), deleted, v1.RunStatus{Operation: v1.OperationRecover}, "interrupted run"},
	} {
		t.Run(name, func(t *testing.T) {
			stack := &v1.Stack{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: tt.deleted}, Status: tt.status}
			NewWithT(t).Expect(cause(stack, &tt.record)).To(Equal(tt.want))
		})
	}
}
