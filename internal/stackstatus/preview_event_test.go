// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package stackstatus

import (
	"strconv"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/plan"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

func previewStack() *v1.Stack {
	return &v1.Stack{
		ObjectMeta: metav1.ObjectMeta{Namespace: "previews", Name: "network-pr-7", Annotations: map[string]string{"event.toolkit.fluxcd.io/change_request": "7"}},
		Spec: v1.StackSpec{
			Preview: true, Stack: "organization/network/prod",
			FluxSource: &v1.FluxSource{SourceRef: v1.SourceReference{Kind: "GitRepository", Name: "network-pr-7"}},
		},
	}
}

func creating(names ...string) *plan.Plan {
	made := &plan.Plan{State: "sha256:state"}
	for _, name := range names {
		made.Steps = append(made.Steps, plan.Step{Op: plan.OpCreate, URN: "urn:pulumi:prod::network::lab:index:Thing::" + name, Type: "lab:index:Thing"})
	}
	return made
}

// afterPreview absorbs a preview, and returns the reason of the event of its start, "" if it has none, and that of its end.
func afterPreview(stack *v1.Stack, id, revision string, result *run.Result) (string, Event) {
	record := v1.RunStatus{ID: id, Operation: v1.OperationPreview, Digest: "sha256:inputs", Revision: revision}
	RecordRun(stack, record)
	start, _ := PreviewStarted(stack, record)
	before := stack.DeepCopy()
	AbsorbResult(stack, result)
	if result.Plan != nil {
		stack.Status.Plan = &v1.PlanStatus{Digest: result.Plan.Digest(), Operation: v1.OperationUpdate, Run: id, State: v1.PlanPreviewed}
	}
	return start.Reason, PreviewEvent(before, stack, record, result)
}

func TestEachPreviewOfAPullRequestIsAnnounced(t *testing.T) {
	ends := func(outcome run.Outcome, made *plan.Plan) *run.Result {
		result := &run.Result{Outcome: outcome, Plan: made, StartedAt: started, EndedAt: started}
		if made != nil {
			result.Changes.Created = len(made.Steps)
		}
		return result
	}
	stack := previewStack()
	for _, push := range []struct {
		what, revision string
		result         *run.Result
		start, end     string
	}{
		{"a change", "main@sha1:1", ends(run.Succeeded, creating("a")), "Progressing", "Normal"},
		{"a resync", "main@sha1:1", ends(run.Succeeded, creating("a")), "", "Trace"},
		{"a resync of a state that has moved", "main@sha1:1", ends(run.Succeeded, creating("a", "b")), "", "Normal"},
		{"a commit with the same content", "main@sha1:2", ends(run.Succeeded, creating("a", "b")), "Progressing", "Normal"},
		{"nothing to change any more", "main@sha1:3", ends(run.Succeeded, creating()), "Progressing", "Normal"},
		{"a failure", "main@sha1:4", ends(run.Failed, nil), "Progressing", "Warning"},
		{"its repetition", "main@sha1:4", ends(run.Failed, nil), "", "Warning"},
		{"it works the next time", "main@sha1:4", ends(run.Succeeded, creating()), "", "Normal"},
		{"the pod of an earlier version", "main@sha1:5", ends(run.Succeeded, nil), "Progressing", "Normal"},
		{"its resync", "main@sha1:5", ends(run.Succeeded, nil), "", "Trace"},
	} {
		g := NewWithT(t)
		start, end := afterPreview(stack, push.what, push.revision, push.result)
		g.Expect(start).To(Equal(push.start), push.what)
		g.Expect(end.Type).To(Equal(push.end), push.what)
		g.Expect(TypeOf(stack, end)).To(Equal(push.end), push.what)
	}
	stack.Annotations = nil
	start, end := afterPreview(stack, "no pull request", "main@sha1:6", ends(run.Succeeded, creating()))
	NewWithT(t).Expect(start+end.Type).To(Equal("Trace"), "as any preview without changes")
	NewWithT(t).Expect(end.Comment).To(BeEmpty())
}

// TestTheCommentComesBackToThePreview after the reason is gone that it has shown instead.
func TestTheCommentComesBackToThePreview(t *testing.T) {
	ends := func() *run.Result {
		return &run.Result{Outcome: run.Succeeded, Plan: creating("a"), StartedAt: started, EndedAt: started}
	}
	g := NewWithT(t)
	stack := previewStack()
	_, _ = afterPreview(stack, "1", "main@sha1:1", ends())
	_, e := afterPreview(stack, "2", "main@sha1:1", ends())
	g.Expect(e.Type).To(Equal("Trace"))
	g.Expect(Observation(stack, started).CommentReplaced).To(BeFalse())

	ReplaceComment(stack, v1.InputsFailedReason)
	g.Expect(Observation(stack, started).CommentReplaced).To(BeTrue(), "a preview is due")
	_, e = afterPreview(stack, "3", "main@sha1:1", ends())
	g.Expect(e.Type).To(Equal("Normal"))
	g.Expect(e.Comment).To(ContainSubstring("1 to create"))
	g.Expect(Observation(stack, started).CommentReplaced).To(BeFalse())
	_, e = afterPreview(stack, "4", "main@sha1:1", ends())
	g.Expect(e.Type).To(Equal("Trace"), "once")

	stack.Annotations = nil
	ReplaceComment(stack, v1.InputsFailedReason)
	g.Expect(Observation(stack, started).CommentReplaced).To(BeFalse(), "there is no pull request")
	stack = previewStack()
	ReplaceComment(stack, v1.InputsFailedReason)
	g.Expect(Observation(stack, started).CommentReplaced).To(BeFalse(), "there is no result yet")
}

func TestAnotherReasonWhyAPlanCannotBeApprovedIsAnnounced(t *testing.T) {
	g := NewWithT(t)
	stack := previewStack()
	end := func(id, why string) Event {
		record := v1.RunStatus{ID: id, Operation: v1.OperationPreview, Digest: "sha256:inputs", Revision: "main@sha1:1", Incomparable: why}
		RecordRun(stack, record)
		before := stack.DeepCopy()
		result := &run.Result{Outcome: run.Succeeded, Plan: creating("a"), StartedAt: started, EndedAt: started}
		AbsorbResult(stack, result)
		return PreviewEvent(before, stack, record, result)
	}
	g.Expect(end("1", "there is no Stack").Type).To(Equal("Normal"))
	g.Expect(end("2", "there is no Stack").Type).To(Equal("Trace"))
	again := end("3", "it is being deleted")
	g.Expect(again.Type).To(Equal("Normal"))
	g.Expect(again.Comment).To(ContainSubstring("cannot be approved before the merge: `it is being deleted`"))
	g.Expect(end("4", "").Type).To(Equal("Normal"))
}

// TestTheEventOfAPullRequestIsItsComment, and has beside it only what forges need.
func TestTheEventOfAPullRequestIsItsComment(t *testing.T) {
	g := NewWithT(t)
	stack := previewStack()
	made := creating("a")
	made.Steps[0].Op = plan.OpDelete
	_, e := afterPreview(stack, "1", "main@sha1:1", &run.Result{
		Outcome: run.Succeeded, Plan: made, Changes: run.Changes{Deleted: 1}, StartedAt: started, EndedAt: started, Warnings: []string{"see @alice"},
	})
	g.Expect(e.Message).To(HavePrefix("Previewed revision main@sha1:1: 1 to delete"), "for the Kubernetes Event and the log")
	metadata := Metadata(stack, e)
	g.Expect(metadata["pulumi.com/comment"]).To(And(
		HavePrefix("**Deletes 1 resource: `lab:index:Thing a`**\n\n1 to delete\n\n```diff\n- lab:index:Thing a (delete)\n```\n\n"),
		ContainSubstring("\n    approved: "+made.Digest()+"\n"), HaveSuffix("Warning: `see @alice`\n\nRevision `main@sha1:1`"),
	))
	stack.Spec.PreviewOf = &v1.PreviewedStackReference{Name: "network", Namespace: "apps"}
	_, e = afterPreview(stack, "2", "main@sha1:2", &run.Result{Outcome: run.Succeeded, Plan: made, StartedAt: started, EndedAt: started})
	g.Expect(e.Comment).To(ContainSubstring("to Stack `network` in namespace `apps`:"))
	delete(metadata, "pulumi.com/comment")
	delete(metadata, "pulumi.com/token")
	g.Expect(metadata).To(Equal(map[string]string{"pulumi.com/revision": "main@sha1:1", "pulumi.com/stack": "organization/network/prod"}))
}

// TestACommentThatIsCutNamesTheStackOfThePreview: the Stack that it is approved at does not show the plan before the merge.
func TestACommentThatIsCutNamesTheStackOfThePreview(t *testing.T) {
	g := NewWithT(t)
	stack := previewStack()
	stack.Spec.PreviewOf = &v1.PreviewedStackReference{Name: "network", Namespace: "apps"}
	var names []string
	for n := range 1000 {
		names = append(names, strings.Repeat("x", 100)+strconv.Itoa(n))
	}
	_, e := afterPreview(stack, "1", "main@sha1:1", &run.Result{Outcome: run.Succeeded, Plan: creating(names...), StartedAt: started, EndedAt: started})
	g.Expect(len(e.Comment)).To(BeNumerically("<=", plan.MaxComment))
	g.Expect(e.Comment).To(ContainSubstring("See all of it with `flux pulumi diff stack network-pr-7 -n previews` before you approve it\n\n"))
	_, e = afterPreview(stack, "2", "main@sha1:2", &run.Result{Outcome: run.Succeeded, Plan: creating("a"), StartedAt: started, EndedAt: started})
	g.Expect(e.Comment).NotTo(ContainSubstring("flux pulumi diff"))
}

// TestALinkIsNoneOnAPullRequest: the program may have printed it.
func TestALinkIsNoneOnAPullRequest(t *testing.T) {
	g := NewWithT(t)
	stack := previewStack()
	made := Event{Type: "Normal", Comment: "No changes", Permalink: "https://app.pulumi.com/acme/network/prod/previews/1"}
	g.Expect(Metadata(stack, made)).To(HaveKeyWithValue("pulumi.com/permalink", "`"+made.Permalink+"`"))
	made.Permalink = ""
	g.Expect(Metadata(stack, made)).NotTo(HaveKey("pulumi.com/permalink"))
}

func TestAnyOtherEventOfAPullRequest(t *testing.T) {
	g := NewWithT(t)
	stack := previewStack()
	failed := Event{Type: "Warning", Reason: v1.PreviewFailedReason, Message: "Preview failed: error: ```\n@everyone see https://evil.example", Plan: "sha256:1", Changes: run.Changes{Created: 1}}
	g.Expect(Metadata(stack, failed)).To(And(Not(HaveKey("pulumi.com/plan")), Not(HaveKey("pulumi.com/created")),
		HaveKeyWithValue("pulumi.com/comment", "````diff\n! Preview failed: error: ```\n! @everyone see https://evil.example\n````")))
	g.Expect(TypeOf(stack, failed)).To(Equal("Warning"))

	passed := Event{Type: "Normal", Reason: v1.PoliciesPassedReason, Message: "No mandatory policy is violated any more"}
	g.Expect(TypeOf(stack, passed)).To(Equal("Trace"), "the comment shows the preview")

	status := Event{Type: "Normal", Reason: v1.PoliciesPassedReason, CommitStatus: true}
	g.Expect(TypeOf(stack, status)).To(Equal("Normal"))
	g.Expect(Metadata(stack, status)).NotTo(HaveKey("pulumi.com/comment"), "which providers of comments drop")

	large := Event{Type: "Warning", Message: strings.Repeat("`", 1<<20), Diff: strings.Repeat("x", maxDiff(stack))}
	g.Expect(len(Metadata(stack, large)["pulumi.com/comment"])).To(BeNumerically("<=", plan.MaxComment))

	stack.Spec.Preview = false
	g.Expect(TypeOf(stack, passed)).To(Equal("Normal"), "nothing else has the comment of another Stack")
	stack.Annotations = nil
	g.Expect(Metadata(stack, failed)).To(And(HaveKey("pulumi.com/plan"), HaveKey("pulumi.com/created"), Not(HaveKey("pulumi.com/comment"))))
}

// TestACheckLeavesThePreviewOnThePullRequest, which has one comment. The next push would not restore it either:
// the same violation is not announced again.
func TestACheckLeavesThePreviewOnThePullRequest(t *testing.T) {
	for name, test := range map[string]struct {
		record  *v1.RunStatus
		result  *run.Result
		eventOf func(before, stack *v1.Stack) (Event, bool)
	}{
		"violations of a PolicySet that only warns": {
			checkOf(run.CheckPolicies, "guard"), &run.Result{Outcome: run.PolicyViolation, Operation: run.CheckPolicies, Violations: violations(1, 1)}, PoliciesEvent,
		},
		"a check of policies that failed": {
			checkOf(run.CheckPolicies, "guard"), &run.Result{Outcome: run.Failed, Operation: run.CheckPolicies}, PoliciesEvent,
		},
		"a check for drift that failed": {
			&v1.RunStatus{ID: "1", Operation: run.CheckDrift}, &run.Result{Outcome: run.Failed, Operation: run.CheckDrift},
			func(before, stack *v1.Stack) (Event, bool) { return DriftEvent(before, stack, nil) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			stack := previewStack()
			stack.Status.Run = test.record
			before := stack.DeepCopy()
			AbsorbResult(stack, test.result)
			e, is := test.eventOf(before, stack)
			g.Expect(is).To(BeTrue())
			g.Expect(e.Type).To(Equal("Warning"), "in the log")
			g.Expect(TypeOf(stack, e)).To(Equal("Trace"))
			stack.Spec.Preview = false
			g.Expect(TypeOf(stack, e)).To(Equal("Warning"), "of any other Stack")
		})
	}
}

func TestOnlyThePreviewOfAPullRequestHasAPendingStatus(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*v1.Stack, *v1.RunStatus)
		want   bool
	}{
		"a preview":                {func(*v1.Stack, *v1.RunStatus) {}, true},
		"of no pull request":       {func(s *v1.Stack, _ *v1.RunStatus) { s.Annotations = nil }, false},
		"an update":                {func(_ *v1.Stack, r *v1.RunStatus) { r.Operation = v1.OperationUpdate }, false},
		"a proposal":               {func(_ *v1.Stack, r *v1.RunStatus) { r.Operation = v1.OperationPropose }, false},
		"on request":               {func(_ *v1.Stack, r *v1.RunStatus) { r.PreviewRequest = "now" }, false},
		"of a program, not commit": {func(s *v1.Stack, _ *v1.RunStatus) { s.Spec.ProgramRef = &v1.ProgramReference{Name: "a"} }, false},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			stack, record := previewStack(), v1.RunStatus{ID: "1", Operation: v1.OperationPreview, Revision: "main@sha1:1"}
			test.change(stack, &record)
			e, is := PreviewStarted(stack, record)
			g.Expect(is).To(Equal(test.want))
			if is {
				g.Expect(Metadata(stack, e)).To(And(HaveKeyWithValue("pulumi.com/commit_status", "update"), HaveKeyWithValue("pulumi.com/revision", "main@sha1:1")))
			}
		})
	}
}

// TestAFailureThatComesBackIsNoDuplicate: notification-controller drops an event with the token, revision and text of one
// within five minutes, and the comment would show what came between the two.
func TestAFailureThatComesBackIsNoDuplicate(t *testing.T) {
	g := NewWithT(t)
	stack, writes := previewStack(), 0
	type shown struct{ text, key string }
	var comment shown
	seen := map[string]bool{}
	announces := func(e Event) {
		writes++
		stack.ResourceVersion = strconv.Itoa(writes)
		metadata := Metadata(stack, e)
		is := shown{metadata["pulumi.com/comment"], metadata["pulumi.com/revision"] + metadata["pulumi.com/comment"] + metadata["pulumi.com/token"]}
		if !seen[is.key] {
			seen[is.key], comment = true, is
		}
		g.Expect(comment.text).To(Equal(is.text), "the comment shows what is the case")
	}
	fails := func(revision, message string) {
		_, e := afterPreview(stack, strconv.Itoa(writes), revision, &run.Result{Outcome: run.Failed, Message: message + " of " + revision, StartedAt: started, EndedAt: started})
		announces(e)
	}
	reports := func(message string) {
		ReplaceComment(stack, v1.InputsFailedReason)
		announces(Event{Type: "Warning", Reason: v1.InputsFailedReason, Message: message, Revision: "main@sha1:1"})
	}
	fails("main@sha1:1", "no type")
	for range 2 {
		count := len(seen)
		fails("main@sha1:1", "no type")
		g.Expect(seen).To(HaveLen(count), "a retry is one")
	}
	for range 3 {
		reports("no Secret")
		reports("no key in the Secret")
		fails("main@sha1:1", "no type")
		fails("main@sha1:1", "no network")
		fails("main@sha1:2", "no type")
		fails("main@sha1:1", "no type")
	}
	_, e := afterPreview(stack, "works", "main@sha1:1", &run.Result{Outcome: run.Succeeded, Plan: creating("a"), StartedAt: started, EndedAt: started})
	announces(e)
	fails("main@sha1:1", "no type")
	reports("no Secret")
}
