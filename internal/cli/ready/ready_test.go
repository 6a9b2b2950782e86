// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package ready

import (
	"cmp"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

const (
	isReady     = "{type: Ready, status: 'True', observedGeneration: 2, message: Applied revision}"
	isFailed    = "{type: Ready, status: 'False', observedGeneration: 2, reason: UpdateFailed, message: no such bucket}"
	isBlocked   = "{type: Ready, status: 'False', observedGeneration: 2, reason: DependencyNotReady, message: dependency b/c is not ready}"
	isUnknown   = "{type: Ready, status: Unknown, observedGeneration: 2, message: Running update}"
	isOld       = "{type: Ready, status: 'True', observedGeneration: 1, message: Applied revision}"
	progressing = "{type: Reconciling, status: 'True', reason: Progressing, message: Running update}"
	withRetry   = "{type: Reconciling, status: 'True', reason: ProgressingWithRetry, message: no such bucket}"
	stalled     = "{type: Stalled, status: 'True', reason: InvalidSpec, message: spec.dir leads out}"
)

func object(t *testing.T, status string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	text := "{apiVersion: pulumi.com/v1, kind: Stack, metadata: {name: a, namespace: b, generation: 2}, spec: {}, status: " + status + "}"
	json, err := yaml.YAMLToJSON([]byte(text))
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	NewWithT(t).Expect(u.UnmarshalJSON(json)).To(Succeed()) // decodes numbers as a client does
	u.SetGeneration(2)
	return u
}

func TestAfter(t *testing.T) {
	for name, tc := range map[string]struct {
		suspended    bool
		last, status string
		over         bool
		fault        string
	}{
		"not taken up yet": {status: "{lastHandledReconcileAt: old, observedGeneration: 2, conditions: [" + isReady + "]}"},
		"done":             {status: "{lastHandledReconcileAt: new, observedGeneration: 2, conditions: [" + isReady + "]}", over: true},
		"in flight": {
			status: "{lastHandledReconcileAt: new, observedGeneration: 2, run: {id: a}, conditions: [" + isUnknown + "," + progressing + "]}",
		},
		"taken up, and Ready is still that of before": {
			status: "{lastHandledReconcileAt: new, observedGeneration: 2, run: {id: a}, conditions: [" + isReady + "]}",
		},
		"what stands in the way of the run": {
			status: "{lastHandledReconcileAt: new, runPending: true, observedGeneration: 2, conditions: [" + isFailed + "," + withRetry + "]}",
			fault:  "no such bucket",
		},
		"a source that there has never been": {
			status: "{lastHandledReconcileAt: new, runPending: true, observedGeneration: -1, conditions: [" + isFailed + "," + withRetry + "]}",
			fault:  "no such bucket",
		},
		"a run that is yet to begin": {
			status: "{lastHandledReconcileAt: new, runPending: true, observedGeneration: 2, conditions: [" + isReady + "]}",
		},
		"a failure that is tried again is the answer": {
			status: "{lastHandledReconcileAt: new, observedGeneration: 2, conditions: [" + isFailed + "," + withRetry + "]}",
			fault:  "no such bucket",
		},
		"a run after a failure": {
			status: "{lastHandledReconcileAt: new, observedGeneration: 2, run: {id: a}, conditions: [" + isFailed + "," + progressing + "]}",
		},
		"stalled": {
			status: "{lastHandledReconcileAt: new, runPending: true, observedGeneration: 2, conditions: [" + isFailed + "," + stalled + "]}",
			fault:  "spec.dir leads out",
		},
		"no condition yet":                          {status: "{lastHandledReconcileAt: new, observedGeneration: 2}"},
		"what someone else has asked for before":    {status: "{lastHandledReconcileAt: other, observedGeneration: 2, conditions: [" + isReady + "]}"},
		"what someone else has asked for since":     {last: "other", status: "{lastHandledReconcileAt: other, observedGeneration: 2, conditions: [" + isReady + "]}", over: true},
		"what someone else has asked for, and open": {last: "other", status: "{lastHandledReconcileAt: old, observedGeneration: 2, conditions: [" + isReady + "]}"},
		"suspended meanwhile": {
			suspended: true, status: "{lastHandledReconcileAt: new, observedGeneration: 1, conditions: [" + isOld + "]}", fault: "resource is suspended",
		},
		"suspended, by a controller that answers nothing then": {
			suspended: true, status: "{lastHandledReconcileAt: old, observedGeneration: 1, conditions: [" + isOld + "]}", fault: "resource is suspended",
		},
		"suspended during the run": {
			suspended: true, status: "{lastHandledReconcileAt: old, observedGeneration: 1, run: {id: a}, conditions: [" + isUnknown + "]}",
		},
		"suspended after it has failed": {
			suspended: true, status: "{lastHandledReconcileAt: new, observedGeneration: 2, conditions: [" + isFailed + "," + withRetry + "]}", fault: "no such bucket",
		},
		"a spec that nobody has looked at": {
			status: "{lastHandledReconcileAt: new, observedGeneration: 1, conditions: [" + isReady + "]}",
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			of := object(t, tc.status)
			g.Expect(unstructured.SetNestedField(of.Object, tc.suspended, "spec", "suspend")).To(Succeed())
			of.SetAnnotations(map[string]string{"reconcile.fluxcd.io/requestedAt": cmp.Or(tc.last, "new")})
			over, err := After(of, "new")
			g.Expect(over).To(Equal(tc.over))
			if tc.fault == "" {
				g.Expect(err).NotTo(HaveOccurred())
			} else {
				g.Expect(err).To(MatchError(tc.fault))
			}
		})
	}
}

func TestTakenUp(t *testing.T) {
	for name, tc := range map[string]struct {
		asked, preview, check, status string
		want                          bool
	}{
		"never looked at":               {status: "{observedGeneration: -1}"},
		"ready":                         {status: "{conditions: [" + isReady + "]}", want: true},
		"edited since":                  {status: "{conditions: [" + isOld + "]}"},
		"edited since, and at it":       {status: "{conditions: [" + isOld + "," + progressing + "]}", want: true},
		"edited since, during a run":    {status: "{run: {id: a}, conditions: [" + isOld + "]}", want: true},
		"asked, and answered":           {asked: "now", status: "{lastHandledReconcileAt: now, conditions: [" + isReady + "]}", want: true},
		"asked, and not looked at":      {asked: "now", status: "{lastHandledReconcileAt: before, conditions: [" + isReady + "]}"},
		"asked, and at it":              {asked: "now", status: "{conditions: [" + isFailed + "," + progressing + "]}", want: true},
		"asked, in the midst of a run":  {asked: "now", status: "{run: {id: a}, conditions: [" + isUnknown + "]}", want: true},
		"with conditions of its own":    {status: "{conditions: [{type: Available, status: 'False'}]}", want: true},
		"tried again without an end":    {asked: "now", status: "{conditions: [" + isFailed + "," + withRetry + "]}"},
		"tried again, and answered":     {asked: "now", status: "{lastHandledReconcileAt: now, conditions: [" + isFailed + "," + withRetry + "]}", want: true},
		"preview not looked at":         {preview: "now", status: "{preview: {request: before}, conditions: [" + isReady + "]}"},
		"preview that waits":            {preview: "now", status: "{preview: {request: now}, conditions: [" + isReady + "]}", want: true},
		"check not looked at":           {check: "now", status: "{drift: {lastHandledCheck: before}, conditions: [" + isReady + "]}"},
		"check in flight":               {check: "now", status: "{run: {id: a, checkRequest: now}, conditions: [" + isFailed + "," + withRetry + "]}", want: true},
		"check that has ended":          {check: "now", status: "{drift: {lastHandledCheck: now}, conditions: [" + isReady + "]}", want: true},
		"asked for the first time ever": {asked: "now", status: "{conditions: [" + isReady + "]}"},
	} {
		t.Run(name, func(t *testing.T) {
			of := object(t, tc.status)
			of.SetAnnotations(map[string]string{"reconcile.fluxcd.io/requestedAt": tc.asked, "pulumi.com/preview-requested-at": tc.preview, "pulumi.com/check-drift": tc.check})
			NewWithT(t).Expect(TakenUp(of)).To(Equal(tc.want))
		})
	}
}

func TestUnheard(t *testing.T) {
	for name, tc := range map[string]struct{ asked, first, last, want string }{
		"no run":                     {"now", "{}", "{}", ""},
		"the record of before":       {"now", "{run: {id: a, progress: {message: 1 created}}}", "{run: {id: a, progress: {message: 1 created}}}", "a"},
		"it is reported":             {"now", "{run: {id: a}}", "{run: {id: a, progress: {message: 1 created}}}", ""},
		"another run":                {"now", "{run: {id: a}}", "{run: {id: b}}", ""},
		"that has started meanwhile": {"now", "{}", "{run: {id: b}}", ""},
		"that is over":               {"now", "{run: {id: a}}", "{}", ""},
		"that answers the request": {
			"now", "{run: {id: a}}", "{lastHandledReconcileAt: now, run: {id: a}, conditions: [" + isUnknown + "]}", "",
		},
		"of a spec since": {"", "{run: {id: a}}", "{run: {id: a}, conditions: [" + isOld + "]}", "a"},
	} {
		t.Run(name, func(t *testing.T) {
			last := object(t, tc.last)
			last.SetAnnotations(map[string]string{"reconcile.fluxcd.io/requestedAt": tc.asked})
			NewWithT(t).Expect(Unheard(object(t, tc.first), last, 5*time.Minute)).To(Equal(tc.want))
		})
	}
}

func TestUnheardAllowsForWhatAControllerNeedNotTell(t *testing.T) {
	for name, tc := range map[string]struct {
		annotations map[string]string
		run         string
		watched     time.Duration
		want        string
	}{
		"behind a run":                        {asks("now"), "{id: a}", 5 * time.Minute, "a"},
		"before its progress is due":          {asks("now"), "{id: a}", 30 * time.Second, ""},
		"behind a preview on request":         {asks("now"), "{id: a, previewRequest: b}", 5 * time.Minute, ""},
		"behind a run that is cancelled":      {asks("now"), "{id: a, cancel: Gently}", 5 * time.Minute, ""},
		"a cancel nobody notes":               {cancels("a"), "{id: a}", 30 * time.Second, "a"},
		"a cancel of a preview nobody notes":  {cancels("a"), "{id: a, previewRequest: b}", 30 * time.Second, "a"},
		"a cancel that is noted":              {cancels("a"), "{id: a, cancel: Gently}", 5 * time.Minute, ""},
		"a cancel of another run":             {cancels("b"), "{id: a}", 5 * time.Minute, ""},
		"a cancel at once nobody notes":       {cancelsNow("a"), "{id: a, cancel: Gently}", 30 * time.Second, "a"},
		"a cancel at once that is noted":      {cancelsNow("a"), "{id: a, cancel: Now}", 5 * time.Minute, ""},
		"a cancel at once before a noted one": {map[string]string{v1.CancelRunAnnotation: "a", v1.CancelRunNowAnnotation: "a"}, "{id: a, cancel: Now}", 5 * time.Minute, ""},
	} {
		t.Run(name, func(t *testing.T) {
			of := object(t, "{run: "+tc.run+", conditions: ["+isUnknown+"]}")
			of.SetAnnotations(tc.annotations)
			NewWithT(t).Expect(Unheard(of, of, tc.watched)).To(Equal(tc.want))
		})
	}
}

func asks(request string) map[string]string {
	return map[string]string{meta.ReconcileRequestAnnotation: request}
}

func cancels(id string) map[string]string { return map[string]string{v1.CancelRunAnnotation: id} }

func cancelsNow(id string) map[string]string { return map[string]string{v1.CancelRunNowAnnotation: id} }

func TestAtGeneration(t *testing.T) {
	for name, tc := range map[string]struct {
		status string
		over   bool
		fault  string
	}{
		"ready for the spec of before": {status: "{observedGeneration: 2, conditions: [" + isOld + "]}"},
		"ready":                        {status: "{observedGeneration: 2, conditions: [" + isReady + "]}", over: true},
		"failed":                       {status: "{observedGeneration: 2, conditions: [" + isFailed + "," + withRetry + "]}", fault: "no such bucket"},
		"never looked at":              {status: "{observedGeneration: -1}"},
		"waits for what it depends on": {status: "{observedGeneration: 2, conditions: [" + isBlocked + "," + withRetry + "]}"},
		"waits for its repository":     {status: "{observedGeneration: 2, conditions: [" + isFailed + "," + progressing + "]}"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			over, err := AtGeneration(object(t, tc.status))
			g.Expect(over).To(Equal(tc.over))
			if tc.fault == "" {
				g.Expect(err).NotTo(HaveOccurred())
			} else {
				g.Expect(err).To(MatchError(tc.fault))
			}
		})
	}
}

func TestADeletionIsWaitedForUntilItFails(t *testing.T) {
	for name, tc := range map[string]struct{ status, fault string }{
		"the destroy in flight": {status: "{lastHandledReconcileAt: new, observedGeneration: 2, run: {id: a}, conditions: [" + isUnknown + "," + progressing + "]}"},
		"about to be gone":      {status: "{lastHandledReconcileAt: new, observedGeneration: 2, conditions: [" + isUnknown + "," + progressing + "]}"},
		"ready before":          {status: "{lastHandledReconcileAt: new, observedGeneration: 2, conditions: [" + isReady + "]}"},
		"the destroy has failed": {
			status: "{lastHandledReconcileAt: new, observedGeneration: 2, conditions: [" + isFailed + "," + withRetry + "]}", fault: "no such bucket",
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			deleted := object(t, tc.status)
			deleted.SetDeletionTimestamp(&metav1.Time{Time: time.Unix(1, 0)})
			over, err := After(deleted, "new")
			g.Expect(over).To(BeFalse())
			if tc.fault == "" {
				g.Expect(err).NotTo(HaveOccurred())
			} else {
				g.Expect(err).To(MatchError(tc.fault))
			}
		})
	}
}
