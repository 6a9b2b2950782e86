// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

func wide() look { return look{"wide-light", 1440, 900, "light"} }

// posts waits until the page has asked for exactly this.
func (s *standIn) posts(t *testing.T, want string) {
	t.Helper()
	NewWithT(t).Eventually(s.requests).WithTimeout(patience).Should(ContainElement(want))
}

// TestAPlanIsApprovedByItsDigest also leaves the question once, with which nothing is approved.
func TestAPlanIsApprovedByItsDigest(t *testing.T) {
	s := world(t)
	p := newTab(t, wide())
	p.open(s.url + "/#/stacks/platform/cluster/plan")
	p.click("button", "Approve")
	p.reads("dialog", digest)
	p.picture("dialog")
	p.isAccessible("the question")
	p.click("dialog button", "Close")
	p.sees("no question", `!document.querySelector("dialog")`)
	if asked := s.requests(); len(asked) > 0 {
		t.Fatalf("a question that was left has posted %q", asked)
	}
	p.click("button", "Approve")
	p.click("dialog button", "Approve")
	s.posts(t, `stacks/platform/cluster/approve {"digest":"`+digest+`"}`)
	p.reads("#toast", "done")
}

// TestWhatDestroysComesFirst reads the changes of a plan from the top.
func TestWhatDestroysComesFirst(t *testing.T) {
	s := world(t)
	p := newTab(t, wide())
	p.open(s.url + "/#/stacks/platform/cluster/plan")
	p.reads(".change", "m7i.xlarge")
	var operations []string
	p.do(chromedp.Evaluate(`[...document.querySelectorAll(".change .op")].map((e) => e.textContent)`, &operations))
	if got, want := strings.Join(operations, ", "), "± Replace, ~ Update, ~ Update, + Create"; got != want {
		t.Errorf("the changes are %s, want %s", got, want)
	}
}

func TestAPlanIsRejectedWithAReason(t *testing.T) {
	short.Skip(t)
	s := world(t)
	p := newTab(t, wide())
	p.open(s.url + "/#/stacks/platform/cluster/plan")
	p.click("button", "Reject")
	p.do(chromedp.SendKeys("#reason", "not on a Friday"))
	p.click("dialog button", "Reject")
	s.posts(t, `stacks/platform/cluster/reject {"digest":"`+digest+`","reason":"not on a Friday"}`)
}

// TestOnlyWhatIsAllowedIsOffered, and each of it does what its button says.
func TestOnlyWhatIsAllowedIsOffered(t *testing.T) {
	for _, one := range []struct{ action, button, confirm string }{
		{"reconcile", "Reconcile", ""}, {"preview", "Preview", ""}, {"suspend", "Suspend", "Suspend"},
		{"resume", "Resume", ""}, {"cancel", "Cancel the run", "Cancel the run"},
	} {
		t.Run(one.action, func(t *testing.T) {
			s := world(t)
			detail := cluster(platform()[1])
			detail["may"] = object{one.action: true}
			s.answer("stacks/platform/cluster", detail)
			p := newTab(t, wide())
			p.open(s.url + "/#/stacks/platform/cluster")
			p.reads(".actions", one.button)
			if got := p.text(`[aria-label="Actions"]`); got != one.button {
				t.Errorf("offered is %q, want only %q", got, one.button)
			}
			p.click("button", one.button)
			if one.confirm != "" {
				p.click("dialog button", one.confirm)
			}
			s.posts(t, "stacks/platform/cluster/"+one.action+" {}")
		})
	}
}

func TestARefusalIsShownInTheWordsOfTheServer(t *testing.T) {
	short.Skip(t)
	s := world(t)
	s.answer("POST stacks/platform/cluster/reconcile", object{"error": `stacks.pulumi.com "cluster" is forbidden: User "maria" cannot patch it`})
	p := newTab(t, wide())
	p.open(s.url + "/#/stacks/platform/cluster")
	p.click("button", "Reconcile")
	p.reads("#toast .wrong", `User "maria" cannot patch it`)
}

// TestWhoMayNotDecideSeesNoButtons, but why.
func TestWhoMayNotDecideSeesNoButtons(t *testing.T) {
	short.Skip(t)
	s := world(t)
	detail := cluster(platform()[1])
	detail["may"] = object{}
	s.answer("stacks/platform/cluster", detail)
	p := newTab(t, wide())
	p.open(s.url + "/#/stacks/platform/cluster/plan")
	p.reads("main", "You are not allowed to approve or reject it.")
	p.sees("no button", `![...document.querySelectorAll("main button")].some((b) => /Approve|Reject/.test(b.textContent))`)
}

// TestAChangeIsOnTheScreenWithinASecond of a Stack in the list and in the graph, and of a run step by step.
func TestAChangeIsOnTheScreenWithinASecond(t *testing.T) {
	s := world(t)
	rows := platform()
	p := newTab(t, wide())
	within := func(what, expression string) {
		t.Helper()
		started := time.Now()
		p.sees(what, expression)
		if took := time.Since(started); took > time.Second {
			t.Errorf("%s took %s", what, took)
		}
	}
	p.open(s.url + "/#/stacks")
	p.reads(`[data-stack="apps/shop"]`, "Ready")
	s.say("stacks", "stacks", object{"upserts": []object{row("apps", "shop", "failed", "x", "it broke", nil)}, "removed": []string{"data/warehouse"}})
	within("the Stack has failed", `/Failed[^]*it broke/.test(document.querySelector('[data-stack="apps/shop"]').innerText)`)
	within("the other is gone", `!document.querySelector('[data-stack="data/warehouse"]')`)

	p.open(s.url + "/#/stacks/data/postgres")
	p.reads(".steps", "replica")
	s.say("stacks/data/postgres", "detail", postgres(rows[4], 6))
	within("the next step", `document.querySelector(".steps").innerText.includes("backup-plan")`)
}

// longRun is a detail with a run that has done so many steps but the last.
func longRun(steps int) object {
	detail, list := postgres(platform()[4], 6), []object{}
	for i := range steps {
		state := "done"
		if i == steps-1 {
			state = "running"
		}
		list = append(list, object{"op": "create", "type": "lab:index:Thing", "name": fmt.Sprintf("step-%03d", i), "state": state})
	}
	detail["run"].(object)["steps"], detail["run"].(object)["done"] = list, steps-1
	return detail
}

// TestALongRunIsFollowed to its last step, with what a person has scrolled to and the focus staying where they are.
func TestALongRunIsFollowed(t *testing.T) {
	s := world(t)
	s.answer("stacks/data/postgres", longRun(60))
	p := newTab(t, wide())
	p.open(s.url + "/#/stacks/data/postgres")
	p.reads(".steps", "step-059")
	isSeen := func(step string) string {
		return `(() => { const list = document.querySelector(".steps"), step = [...list.children].find((e) => e.textContent.includes("` + step + `"));
			if (!step) return false;
			const [outer, inner] = [list.getBoundingClientRect(), step.getBoundingClientRect()];
			return inner.top >= outer.top - 1 && inner.bottom <= outer.bottom + 1; })()`
	}
	next := func(steps int) {
		t.Helper()
		run := longRun(steps)["run"].(object)
		s.say("stacks/data/postgres", "progress", object{"id": run["id"], "done": run["done"], "steps": run["steps"]})
		p.reads(".steps", fmt.Sprintf("step-%03d", steps-1))
	}
	p.sees("the step in progress", isSeen("step-059"))
	p.do(chromedp.Focus(".steps"))
	next(61)
	p.sees("the next step", isSeen("step-060"))
	p.sees("the focus in the list", `document.activeElement.matches("ol.steps")`)
	p.do(chromedp.Evaluate(`document.querySelector(".steps").scrollTop = 400`, nil))
	next(62)
	p.sees("the steps that a person looks at", `document.querySelector(".steps").scrollTop === 400`)
	s.say("stacks/data/postgres", "detail", longRun(63))
	p.reads(".steps", "step-062")
	p.sees("the same ones", `document.querySelector(".steps").scrollTop === 400 && document.activeElement.matches("ol.steps")`)
	p.do(chromedp.Evaluate(`document.querySelector(".steps").scrollTop = 1e6`, nil))
	next(64)
	p.sees("the last step again", isSeen("step-063"))
}

// TestAnEndedConnectionIsSaid, and the page is live again once it is back.
func TestAnEndedConnectionIsSaid(t *testing.T) {
	s := world(t)
	p := newTab(t, wide())
	p.open(s.url + "/#/stacks")
	p.reads("#link", "Live")
	s.say("stacks", "status", object{"connected": false, "message": "the API server does not answer"})
	p.reads("#notice", "the API server does not answer")
	p.reads("#link", "Reconnecting")
	s.say("stacks", "status", object{"connected": true})
	p.reads("#link", "Live")
}

// TestWhatCannotBeReadNowStays on the screen, with a note that says so until it can be read.
func TestWhatCannotBeReadNowStays(t *testing.T) {
	s := world(t)
	p := newTab(t, wide())
	p.open(s.url + "/#/stacks/platform/cluster/plan")
	p.reads(".change", "m7i.xlarge")
	s.say("stacks/platform/cluster", "unread", object{"message": "the API server does not answer"})
	p.reads(`main [role="alert"]`, "the API server does not answer")
	p.sees("the plan and the tabs", `document.querySelector(".change").innerText.includes("m7i.xlarge") && document.querySelectorAll(".tabs a").length > 5`)
	p.isAccessible("a Stack that cannot be read now")
	s.say("stacks/platform/cluster", "detail", cluster(platform()[1]))
	p.sees("no note", `!document.querySelector('main [role="alert"]')`)

	plan := replacement()
	s.answer("stacks/platform/cluster/plan", object{"error": "the plan cannot be read"})
	detail := cluster(platform()[1])
	detail["may"] = object{"approve": true}
	s.say("stacks/platform/cluster", "detail", detail)
	p.reads(`main [role="alert"]`, "the plan cannot be read")
	p.sees("the plan as it was", `document.querySelector(".change").innerText.includes("m7i.xlarge")`)
	s.answer("stacks/platform/cluster/plan", plan)
	s.say("stacks", "status", object{"connected": false, "message": "away"})
	p.reads("#link", "Reconnecting")
	s.say("stacks", "status", object{"connected": true})
	p.sees("no note once it is back", `!document.querySelector('main [role="alert"]')`)
	s.answer("stacks/platform/cluster/drift", object{"error": "the drift cannot be read"})
	p.click(".tabs a", "Drift")
	p.reads(".panel", "the drift cannot be read")
	p.sees("nothing of the plan", `!document.querySelector(".change")`)
}

// TestASearchIsInTheAddress and so survives a reload.
func TestASearchIsInTheAddress(t *testing.T) {
	s := world(t)
	p := newTab(t, wide())
	p.open(s.url + "/#/stacks")
	p.reads("main", "10 Stacks")
	// The protocol of the browser would type the key into the field as well, which a keyboard does not.
	p.do(chromedp.Evaluate(`document.dispatchEvent(new KeyboardEvent("keydown", {key: "/"}))`, nil))
	p.sees("the focus in the search", `document.activeElement.id === "q"`)
	p.do(chromedp.KeyEvent("post"))
	p.reads("main", "1 of 10 Stacks")
	p.sees("the search in the address", `location.hash === "#/stacks?q=post"`)
	p.do(chromedp.Reload())
	p.reads("main", "1 of 10 Stacks")
	p.do(chromedp.Evaluate(`location.hash = "#/stacks?state=drifted"`, nil))
	p.reads(".stacks", "registry")
	p.reads("main", "1 of 10 Stacks")
	p.do(chromedp.Evaluate(`location.hash = "#/stacks?q=nothing-like-it"`, nil))
	p.click("button", "Show all Stacks")
	p.reads("main", "10 Stacks")
}

// TestEverythingIsReachedByKeyboard: the way from the list to the question about a plan, without a mouse.
func TestEverythingIsReachedByKeyboard(t *testing.T) {
	s := world(t)
	p := newTab(t, wide())
	p.open(s.url + "/#/stacks")
	p.reads(".stacks", "cluster")
	p.tabTo("cluster")
	p.do(chromedp.KeyEvent(kb.Enter))
	p.reads("h1", "cluster")
	p.tabTo("Review the plan")
	p.do(chromedp.KeyEvent(kb.Enter))
	p.reads(".diff", "m7i.xlarge")
	p.tabTo("Approve")
	p.do(chromedp.KeyEvent(kb.Enter))
	p.reads("dialog", digest)
	p.do(chromedp.KeyEvent(kb.Escape))
	p.sees("the focus back at its button", `document.activeElement.textContent === "Approve"`)

	p.open(s.url + "/#/graph")
	p.reads(".graph", "postgres")
	p.tabTo("postgres data · Running")
	p.do(chromedp.KeyEvent(kb.Enter))
	p.reads("h1", "postgres")
}

// tabTo presses Tab until the focus is on the element whose text ends like this.
func (p *tab) tabTo(text string) {
	p.t.Helper()
	for range 80 {
		var on string
		p.do(chromedp.KeyEvent(kb.Tab), chromedp.Evaluate(`document.activeElement.textContent.trim()`, &on))
		if strings.HasSuffix(on, text) {
			return
		}
	}
	p.t.Fatalf("Tab does not reach %q", text)
}

// TestTextsOfOthersAreOnlyText: whatever a name, a message, a resource or a log is made of.
func TestTextsOfOthersAreOnlyText(t *testing.T) {
	const hostile = `<img src=x onerror="window.owned=1"><script>window.owned=1</script>" onfocus="window.owned=1" javascript:window.owned=1 ${window.owned=1}` + "\u202egnp.exe\x1b[31m\u200b\u00ad\U000e0041\u2028"
	huge := hostile + strings.Repeat("A", 1<<20)
	evil := row("ns", "name", "failed", hostile, huge, nil)
	evil["revision"], evil["reason"] = hostile, hostile
	s := newStandIn(t, []object{evil})
	detail := cluster(evil)
	for _, list := range []string{"conditions", "checks", "values", "history"} {
		for _, one := range detail[list].([]object) {
			for key, value := range one {
				if text, ok := value.(string); ok && !strings.HasSuffix(text, "Z") && key != "id" && key != "type" {
					one[key] = hostile
				}
			}
		}
	}
	detail["next"] = huge
	s.answer("stacks/ns/name", detail)
	plan := replacement()
	steps := plan["plan"].(object)["steps"].([]object)
	steps[0]["urn"], steps[0]["type"], steps[0]["op"] = hostile, hostile, hostile
	steps[1]["properties"].([]object)[0]["new"] = huge
	s.answer("stacks/ns/name/plan", plan)
	s.answer("stacks/ns/name/logs", object{"text": huge})
	s.answer("stacks/ns/name/resources", object{"tree": object{"resource": hostile, "resources": []object{{"resource": hostile, "id": hostile}}}})
	s.answer("graph", object{"width": 400, "height": 100, "edges": []object{}, "nodes": []object{{"id": hostile, "kind": hostile, "label": hostile, "state": hostile, "x": 0, "y": 0, "w": 200, "h": 50}}})
	p := newTab(t, wide())
	for _, view := range []string{"stacks", "graph", "stacks/ns/name", "stacks/ns/name/plan", "stacks/ns/name/logs", "stacks/ns/name/resources", "stacks/ns/name/history"} {
		p.open(s.url + "/#/" + view)
		p.sees("the text in "+view, `document.querySelector("main").textContent.includes("<img src=x onerror=")`)
		var found string
		p.do(chromedp.Evaluate(`String(window.owned) + " " + document.querySelectorAll("main img, main script, main [onerror], main [onfocus]").length + " " + /[\u202e\u001b\u200b\u00ad\u2028\u{e0041}]/u.test(document.body.textContent)`, &found))
		if found != "undefined 0 false" {
			t.Errorf("%s: a text has become more than text: %s", view, found)
		}
		p.sees("nothing wider than the window at "+view, `document.documentElement.scrollWidth <= innerWidth`)
	}
	p.picture("hostile")
}

// TestTheThemeIsChosenAndKept in the browser, and so after a reload.
func TestTheThemeIsChosenAndKept(t *testing.T) {
	short.Skip(t)
	s := world(t)
	p := newTab(t, wide())
	p.open(s.url + "/#/stacks")
	p.click("button", "Theme: system")
	p.click("button", "Theme: light")
	p.reads("#theme", "Theme: dark")
	dark := `getComputedStyle(document.documentElement).backgroundColor === "rgb(15, 18, 21)"`
	p.sees("dark", dark)
	p.do(chromedp.Reload())
	p.sees("dark after a reload", dark)
}

// TestThreeHundredStacksAreDrawn in the graph, and the graph moves with the keys.
func TestThreeHundredStacksAreDrawn(t *testing.T) {
	short.Skip(t)
	rows := many(300)
	for i, r := range rows {
		if i >= 30 {
			on := rows[(i*7)%30+(i/30-1)*30]
			r["dependsOn"] = []string{fmt.Sprintf("%s/%s", on["namespace"], on["name"])}
		}
	}
	s := newStandIn(t, rows)
	s.answer("graph", grid(rows))
	p := newTab(t, wide())
	p.open(s.url + "/#/graph")
	p.reads("main", "300 nodes")
	p.sees("300 nodes", `document.querySelectorAll(".node").length === 300`)
	p.picture("graph-300")
	var before, after string
	at := `document.querySelector(".graph > g").getAttribute("transform")`
	p.do(chromedp.Focus(".graph"), chromedp.Evaluate(at, &before), chromedp.KeyEvent("+"), chromedp.KeyEvent(kb.ArrowRight), chromedp.Evaluate(at, &after))
	if before == after {
		t.Errorf("the graph has not moved from %s", before)
	}
}

// TestAnEarlierRunShowsWhatItChanged and its log, once a person opens it.
func TestAnEarlierRunShowsWhatItChanged(t *testing.T) {
	s := world(t)
	p := newTab(t, wide())
	p.open(s.url + "/#/stacks/platform/cluster/history")
	p.reads(".ended", "approved by maria@example.com")
	p.sees("no diff before it is opened", `!document.querySelector(".ended .diff")`)
	p.do(chromedp.Evaluate(`document.querySelector(".ended summary").click()`, nil))
	p.reads(".ended .change-body", "~ 2 updated")
	p.reads(".ended .logs", "Resources: 2 updated")
	p.picture("history-open")
	p.isAccessible("an earlier run")
}

// TestResourcesAreATreeAndAGraph of the same resources.
func TestResourcesAreATreeAndAGraph(t *testing.T) {
	short.Skip(t)
	s := world(t)
	p := newTab(t, wide())
	p.open(s.url + "/#/stacks/platform/cluster/resources")
	p.reads(".tree", "protected")
	p.click("button", "Graph")
	p.reads(".panel .graph", "workers")
	p.picture("resources-graph")
	p.isAccessible("the graph of resources")
	p.click("button", "Tree")
	p.reads(".tree", "workers")
}

// TestTheGraphFollowsTheStates without being drawn again.
func TestTheGraphFollowsTheStates(t *testing.T) {
	s := world(t)
	p := newTab(t, wide())
	p.open(s.url + "/#/graph")
	p.reads(".graph", "data · Running")
	p.do(chromedp.Evaluate(`document.querySelector(".graph").dataset.same = "yes"`, nil))
	s.say("stacks", "stacks", object{"upserts": []object{row("data", "postgres", "failed", "GitRepository/platform/infrastructure", "it broke", []string{"platform/network", "platform/cluster"})}})
	p.sees("the failed Stack, in the same graph", `document.querySelector('.graph[data-same] [data-id="Stack/data/postgres"]').classList.contains("is-failed")`)
	p.reads(".graph", "data · Failed")
}

// TestThePlanThatIsNotShownIsNotApproved: what could not be read may be rejected, which changes nothing.
func TestThePlanThatIsNotShownIsNotApproved(t *testing.T) {
	s := world(t)
	s.answer("stacks/platform/cluster/plan", object{"digest": digest, "message": "the ConfigMap platform/cluster-plan is gone: run flux pulumi reconcile stack cluster"})
	p := newTab(t, wide())
	p.open(s.url + "/#/stacks/platform/cluster/plan")
	p.reads("main", "cluster-plan is gone")
	p.reads("main", "A plan that is not shown cannot be approved here.")
	p.sees("only Reject", `[...document.querySelectorAll("main button")].filter((b) => /^(Approve|Reject)$/.test(b.textContent)).map((b) => b.textContent).join() === "Reject"`)
}

// TestATabThatNobodySeesHasNoStream: a browser has six connections to the command, and each view of a Stack takes two. Otherwise
// nothing could be done in the fourth tab.
func TestATabThatNobodySeesHasNoStream(t *testing.T) {
	s := world(t)
	p := newTab(t, wide())
	p.open(s.url + "/#/stacks/platform/cluster")
	p.reads("h1", "cluster")
	NewWithT(t).Eventually(s.open).WithTimeout(patience).Should(Equal(2))
	turn := func(hidden string) {
		p.do(chromedp.Evaluate(`Object.defineProperty(document, "hidden", {value: `+hidden+`, configurable: true}); document.dispatchEvent(new Event("visibilitychange"))`, nil))
	}
	turn("true")
	NewWithT(t).Eventually(s.open).WithTimeout(patience).Should(BeZero())
	changed := cluster(platform()[1])
	changed["next"] = "Something else happens next."
	s.answer("stacks/platform/cluster", changed)
	turn("false")
	p.reads("main", "Something else happens next.")
	NewWithT(t).Eventually(s.open).WithTimeout(patience).Should(Equal(2))
	p.open(s.url + "/#/stacks")
	NewWithT(t).Eventually(s.open).WithTimeout(patience).Should(Equal(1))
	turn("true")
	NewWithT(t).Eventually(s.open).WithTimeout(patience).Should(BeZero())
}

// TestTheHistoryOfADeletedStackIsShown, with what a run has changed, and no action.
func TestTheHistoryOfADeletedStackIsShown(t *testing.T) {
	s := world(t)
	p := newTab(t, wide())
	p.open(s.url + "/#/stacks/platform/cluster")
	p.reads(".actions", "Reconcile")
	s.say("stacks/platform/cluster", "gone", object{"message": "Stack platform/cluster does not exist any more: these are the runs that were retained", "history": cluster(platform()[1])["history"]})
	p.reads(`[role="alert"]`, "does not exist any more")
	p.sees("no action and no other part", `document.querySelectorAll(".actions button, .tabs a").length === 0`)
	p.do(chromedp.Evaluate(`document.querySelector(".ended summary").click()`, nil))
	p.reads(".ended .logs", "Resources: 2 updated")
	p.isAccessible("what is left of a Stack")
}

// TestAnAddressLeadsToNothingElse: . and .. are steps for a browser, whatever their place.
func TestAnAddressLeadsToNothingElse(t *testing.T) {
	short.Skip(t)
	s := world(t)
	p := newTab(t, wide())
	for _, address := range []string{"stacks/../stacks", "stacks/platform/..", "stacks/platform/.", "stacks/%2e%2e/x", "stacks//x", "stacks/platform/a%2Fb", "elsewhere"} {
		p.open(s.url + "/#/" + address)
		p.reads("h1", "There is no such view")
	}
}

// TestAMissingStackIsSaid in the words of the server.
func TestAMissingStackIsSaid(t *testing.T) {
	short.Skip(t)
	s := world(t)
	p := newTab(t, wide())
	p.open(s.url + "/#/stacks/apps/gone")
	p.reads(`[role="alert"]`, "stacks/apps/gone is not there")
}
