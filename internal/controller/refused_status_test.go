// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/stackstatus"
)

// refusing makes the API server refuse each status that contains one of the texts.
func refusing(w *world, refusal error, texts ...string) {
	w.Client = interceptor.NewClient(w.Client.(client.WithWatch), interceptor.Funcs{
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
			text, err := p.Data(o)
			if err != nil {
				return err
			}
			for _, one := range texts {
				if strings.Contains(string(text), one) {
					return refusal
				}
			}
			return c.SubResource(sub).Patch(ctx, o, p, opts...)
		},
	})
}

var kind = schema.GroupKind{Group: "pulumi.com", Kind: "Stack"}

func TestAResultThatTheAPIServerRefusesIsAbsorbedWithLess(t *testing.T) {
	for name, tt := range map[string]struct {
		outcome run.Outcome
		refusal error
		texts   []string
		// message is that of the status, and creates is how many creations it names.
		message string
		creates int
	}{
		"an output": {run.Succeeded, apierrors.NewForbidden(schema.GroupResource{Resource: "stacks"}, "app", errors.New("denied by a policy")),
			[]string{"forged-output"}, "", 12},
		"a link": {run.Succeeded, apierrors.NewInvalid(kind, "app", nil), []string{"forged-link"}, "The API server rejected the full result of the run; details are omitted: ", 12},
		"a message": {run.Failed, apierrors.NewBadRequest("cannot be decoded"), []string{"forged-message"},
			"The API server rejected the full result of the run; details are omitted: failed to write the status: cannot be decoded", 12},
		"the quoted refusal too": {run.Failed, apierrors.NewBadRequest("forged-message"), []string{"forged-message"},
			"the log of the controller has them, and 2 more creations of unknown outcome", 10},
		"a backend":          {run.Failed, apierrors.NewInvalid(kind, "app", nil), []string{"file:///backend"}, "the log of the controller has them", 10},
		"a time":             {run.Failed, apierrors.NewInvalid(kind, "app", nil), []string{"2999-"}, "the log of the controller has them", 10},
		"too many creations": {run.Failed, apierrors.NewRequestEntityTooLargeError("limit is 3145728"), []string{"urn:11"}, "and 2 more creations", 10},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			w := newWorld(t, programAndStack()...)
			w.mustReconcile()
			id := w.stack().Status.Run.ID
			w.runner.end(id, tt.outcome, "")
			ended := w.runner.results[id]
			ended.Outputs = map[string]json.RawMessage{"a": json.RawMessage(`"forged-output"`)}
			ended.Project, ended.Backend = run.Project{Name: "app", Runtime: "yaml"}, "file:///backend"
			ended.Permalink, ended.Interrupted = "https://example.com/forged-link", tt.outcome == run.Failed
			if tt.outcome == run.Failed {
				ended.Message = "forged-message"
			}
			if slices.Contains(tt.texts, "2999-") {
				ended.StartedAt, ended.EndedAt = time.Date(2999, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2999, 1, 1, 1, 0, 0, 0, time.UTC)
			}
			for i := range 12 {
				ended.UnknownCreates = append(ended.UnknownCreates, fmt.Sprintf("urn:%02d", i))
			}
			refusing(w, tt.refusal, tt.texts...)
			w.mustReconcile()
			stack := w.stack()
			g.Expect(stack.Status.Run).To(BeNil(), "that it has ended is known")
			g.Expect(stack.Status.LastRun.ID).To(Equal(id))
			g.Expect(stack.Status.LastRun.Message).To(Equal(stack.Status.LastUpdate.Message))
			g.Expect(stack.Status.LastUpdate.Name).To(Equal(id))
			g.Expect(stack.Status.LastUpdate.Message).To(ContainSubstring(tt.message))
			g.Expect(stack.Status.UnknownCreates).To(HaveLen(tt.creates))
			g.Expect(stack.Status.Interrupted).To(HaveLen(map[run.Outcome]int{run.Failed: 1}[tt.outcome]))
			g.Expect(stack.Status.Outputs).To(BeEmpty())
			g.Expect(w.runner.results).To(BeEmpty(), "it is forgotten")
			g.Expect(stackstatus.NeverRan(stack)).To(BeFalse(), "there may be something to destroy")
			if tt.creates == 12 {
				g.Expect(stack.Status.ProjectInfo.Backend).To(Equal("file:///backend"), "no word, but where the stack is")
			}
			if tt.message != "" {
				g.Expect(w.events.lines).To(ContainElement(And(HavePrefix("Warning Failed The API server rejected the full result"), ContainSubstring(tt.message))))
			}
		})
	}
}

func TestAStatusThatIsAlwaysRefusedIsAnnounced(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, programAndStack()...)
	w.mustReconcile()
	id := w.stack().Status.Run.ID
	w.runner.end(id, run.Succeeded, "")
	api := w.Client
	refusing(w, apierrors.NewForbidden(schema.GroupResource{Resource: "stacks"}, "app", errors.New("denied by a policy")), "")
	_, err := w.reconcile()
	g.Expect(err).To(MatchError(ContainSubstring("denied by a policy")))
	g.Expect(w.stack().Status.Run).NotTo(BeNil())
	g.Expect(w.runner.results).To(HaveKey(id), "it is kept")
	g.Expect(w.events.lines).To(ContainElement(And(HavePrefix("Warning Failed The API server rejects the status"), ContainSubstring("denied by a policy"))))
	w.Client = api
	w.mustReconcile()
	g.Expect(conditions.GetReason(w.stack(), meta.ReadyCondition)).To(Equal(meta.ReconciliationSucceededReason))
}
