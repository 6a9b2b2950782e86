// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

const anything = "which may be anything"

// TestWhatAPlanDoesNotShowIsSaidWhereItIsApproved: beside the button, above the changes, at each value, and in the question.
func TestWhatAPlanDoesNotShowIsSaidWhereItIsApproved(t *testing.T) {
	s := world(t)
	answer := replacement()
	plan := answer["plan"].(object)
	plan["counts"] = object{"update": 2, "replace": 1, "create": 1, "delete": 7}
	plan["more"] = object{"delete": 7}
	plan["moreOutputs"], plan["morePolicies"] = 2, 3
	plan["warnings"] = []string{"Not listed: 7 resources. The digest is also of these, " + anything, `The digest is also of the values that are "not shown in full", ` + anything}
	plan["steps"].([]object)[1]["properties"].([]object)[1]["notShown"] = true
	plan["outputs"].([]object)[0]["notShown"] = true
	s.answer("stacks/platform/cluster/plan", answer)
	p := newTab(t, wide())
	p.open(s.url + "/#/stacks/platform/cluster/plan")
	p.reads(".actions .warning", "The plan does not show everything that you would approve.")
	p.reads(`[aria-label="Not shown"]`, "Not listed: 7 resources")
	p.sees("it is above the changes", `document.querySelector('[aria-label="Not shown"]').compareDocumentPosition(document.querySelector('[aria-label="Changes"]')) & Node.DOCUMENT_POSITION_FOLLOWING`)
	p.sees("the marks of a step, of its value and of an output", `[...document.querySelectorAll(".tag.hot")].filter((tag) => tag.textContent === "not shown in full").length === 3`)
	p.reads(".verdicts", "− 7 to delete")
	p.reads(".panel", "7 changes more than the plan has room for")
	p.reads(".panel", "2 outputs more than the plan has room for")
	p.reads(".panel", "3 violations more than the plan has room for")
	p.reads(".panel", "Whether a mandatory policy is violated is not known")
	p.picture("plan-not-shown")
	p.isAccessible("a plan that does not show everything")
	p.click("button", "Approve")
	p.reads("dialog .warning", anything)
	p.isAccessible("the question about it")
}

// TestAPlanThatListsNothingSaysWhatItIsOf: neither a step, nor an output, nor a policy is listed, only counted.
func TestAPlanThatListsNothingSaysWhatItIsOf(t *testing.T) {
	s := world(t)
	s.answer("stacks/platform/cluster/plan", object{"digest": digest, "plan": object{"counts": object{"delete": 7, "options": 1},
		"more": object{"delete": 7, "options": 1}, "morePolicies": 3, "moreOutputs": 2,
		"warnings": []string{"Not listed: 8 resources, 2 outputs, 3 violations of policies. The digest is also of these, " + anything}}})
	p := newTab(t, wide())
	p.open(s.url + "/#/stacks/platform/cluster/plan")
	p.reads(".verdicts", "− 7 to delete")
	p.reads(".verdicts", "= 1 with changed options")
	p.reads(".panel", "8 changes more than the plan has room for")
	p.reads(".panel", "2 outputs more than the plan has room for")
	p.reads(".panel", "3 violations more than the plan has room for")
	p.reads(`[aria-label="Not shown"]`, anything)
	p.isAccessible("a plan that lists nothing")
}

// TestWhatARunHasDoneIsCountedOnce: a step that has failed is not done.
func TestWhatARunHasDoneIsCountedOnce(t *testing.T) {
	s := world(t)
	urn := func(name string) string { return "urn:pulumi:production::cluster::lab::" + name }
	s.answer("stacks/platform/cluster/history/0190f2", object{"plan": object{"counts": object{"failed": 1, "import": 1, "retain": 1, "options": 1}, "steps": []object{
		{"op": "delete", "urn": urn("db"), "type": "lab", "failed": true}, {"op": "import", "urn": urn("i"), "type": "lab"}, {"op": "retain", "urn": urn("r"), "type": "lab"}, {"op": "same", "urn": urn("s"), "type": "lab"}}}})
	p := newTab(t, wide())
	p.open(s.url + "/#/stacks/platform/cluster/history")
	p.reads(".ended", "Succeeded")
	p.do(chromedp.Evaluate(`document.querySelector(".ended summary").click()`, nil))
	p.sees("the counts", `[...document.querySelectorAll(".ended .verdicts .op")].map((e) => e.textContent).join(", ") === "! 1 failed, ↓ 1 imported, ○ 1 left in place (retainOnDelete), = 1 with changed options"`)
	p.picture("history-failed")
}

// TestARejectedPlanDoesNotWait, and who has rejected it is said.
func TestARejectedPlanDoesNotWait(t *testing.T) {
	s := world(t)
	detail := cluster(platform()[1])
	proposal := detail["proposal"].(object)
	proposal["rejected"], proposal["message"] = true, "1 to replace, 2 to update\nrejected by maria: not on a Friday"
	proposal["mayNot"], detail["may"] = "It is not known whether you may approve or reject it: the webhook does not answer", object{}
	s.answer("stacks/platform/cluster", detail)
	p := newTab(t, wide())
	p.open(s.url + "/#/stacks/platform/cluster")
	p.reads(".card h2", "A plan was rejected")
	p.reads(".panel", "rejected by maria: not on a Friday")
	p.open(s.url + "/#/stacks/platform/cluster/plan")
	p.reads(".panel", "It is not known whether you may approve or reject it: the webhook does not answer")
	p.sees("nothing that says more", `!document.body.innerText.includes("You are not allowed to approve")`)
}

// TestTheHistorySaysHowARunHasEnded: a proposal has not failed, and how long a run took is said if it is known.
func TestTheHistorySaysHowARunHasEnded(t *testing.T) {
	s := world(t)
	detail := cluster(platform()[1])
	detail["history"] = []object{
		{"id": "2", "operation": "propose", "state": "Proposed", "startedAt": before(2*time.Hour + 80*time.Second), "endedAt": before(2 * time.Hour)},
		{"id": "1", "operation": "update", "state": "Interrupted", "endedAt": before(3 * time.Hour)}}
	s.answer("stacks/platform/cluster", detail)
	p := newTab(t, wide())
	p.open(s.url + "/#/stacks/platform/cluster/history")
	p.reads(".ended", "took 1 min 20 s")
	p.sees("the marks", `[...document.querySelectorAll(".ended summary .mark")].map((mark) => mark.getAttribute("class")).join() === "mark is-waiting,mark is-failed"`)
	p.sees("no time that is not known", `document.querySelector(".panel").innerText.match(/took/g).length === 1`)
	p.picture("history-proposed")
}

// TestAPreviewIsShownOnceItIsDone: the button leads to where its result appears.
func TestAPreviewIsShownOnceItIsDone(t *testing.T) {
	s := world(t)
	p := newTab(t, wide())
	tab := `[aria-label="Parts of cluster"]`
	p.open(s.url + "/#/stacks/platform/cluster")
	p.reads(tab, "History")
	p.sees("no tab before a preview is requested", `![...document.querySelectorAll('`+tab+` a')].some((a) => a.textContent === "Preview")`)
	p.click("button", "Preview")
	s.posts(t, "stacks/platform/cluster/preview {}")
	p.reads(".panel", "The preview is asked for")
	s.answer("stacks/platform/cluster/preview", object{"message": "An update would change this: 1 to replace", "endedAt": before(time.Minute), "revision": "main@sha1:5b0c2f7d", "plan": replacement()["plan"]})
	done := cluster(platform()[1])
	done["preview"] = object{"request": "1", "answered": "1", "run": "0190fa", "endedAt": before(time.Minute)}
	s.say("stacks/platform/cluster", "detail", done)
	p.reads(".panel", "An update would change this: 1 to replace")
	p.reads(".panel .diff", "m7i.xlarge")
	p.sees("nothing to approve", `![...document.querySelectorAll("main button")].some((b) => /Approve|Reject/.test(b.textContent))`)
	p.picture("preview")
	p.isAccessible("a preview")
	p.open(s.url + "/#/stacks/platform/cluster/history")
	p.reads(tab, "History")
	s.say("stacks/platform/cluster", "detail", done)
	p.reads(tab, "Preview")
}

// TestAPlanThatIsOnlyPreviewedHasATab, although there is nothing to decide on here.
func TestAPlanThatIsOnlyPreviewedHasATab(t *testing.T) {
	s := world(t)
	detail := cluster(platform()[1])
	delete(detail, "proposal")
	s.answer("stacks/platform/cluster", detail)
	p := newTab(t, wide())
	tab := `[aria-label="Parts of cluster"]`
	p.open(s.url + "/#/stacks/platform/cluster")
	p.reads(tab, "History")
	p.sees("no tab without a plan", `![...document.querySelectorAll('`+tab+` a')].some((a) => a.textContent === "Plan")`)
	detail["hasPlan"] = true
	s.say("stacks/platform/cluster", "detail", detail)
	p.click("a", "Plan")
	p.reads(".panel .diff", "m7i.xlarge")
}
