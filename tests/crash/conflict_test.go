// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package crash

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/cloud"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// The Stack is edited as fast as the API server allows, for all of its life, so that
// whatever the controller has read is stale when it writes.
func TestConflictOnEveryWrite(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	ctx := t.Context()
	s := start(t)
	u := newSubject(t, s, "conflict")
	u.create(ctx, quick(4, "one"), nil)
	editing, stop := context.WithCancel(ctx)
	var edits atomic.Int64
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for n := 0; editing.Err() == nil; n++ {
			stack := &v1.Stack{ObjectMeta: u.meta()}
			patch := fmt.Sprintf(`{"metadata":{"annotations":{"edit":"%d"}}}`, n)
			if s.Patch(editing, stack, client.RawPatch("application/merge-patch+json", []byte(patch))) == nil {
				edits.Add(1)
			}
		}
	}()
	t.Cleanup(func() { stop(); <-ended })

	u.awaitCurrent(ctx)
	u.checkExact()
	u.edit(ctx, quick(4, "two"))
	u.awaitCurrent(ctx)
	u.checkExact()
	for _, one := range u.wanted {
		u.Expect(u.count(cloud.Update, cloud.Done, one.name)).To(Equal(1), "%s was updated once", one.name)
	}
	u.remove(ctx)
	stop()
	u.checkDestroyed()
	for _, one := range u.wanted {
		u.Expect(u.count(cloud.Delete, cloud.Done, one.name)).To(Equal(1), "%s was deleted once", one.name)
	}
	t.Logf("%d edits by someone else", edits.Load())
}
