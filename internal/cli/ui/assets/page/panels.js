// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// The parts of the view of a Stack that its status has.

import * as actions from "./actions.js";
import {h, svg} from "./dom.js";
import {lasted, plural, short, since} from "./format.js";
import * as plan from "./plan.js";
import {mark} from "./states.js";

// toneOf returns the shape of a condition: most are good if they are true, and some if they are not.
function toneOf(condition) {
  if (condition.state) return condition.state;
  const bad = ["Stalled", "Drifted", "Interrupted"].includes(condition.type);
  if (condition.status === "Unknown") return "unknown";
  if (condition.type === "Reconciling" && condition.status === "True") return "running";
  if (condition.type === "Drifted" && condition.status === "True") return "drifted";
  return (condition.status === "True") !== bad ? "ready" : "failed";
}

export function conditions(detail) {
  const list = detail.conditions || [];
  return h("section", {class: "card flush"}, h("h2", {}, "Conditions"),
    list.length === 0 ? h("p", {class: "list sub"}, "The controller has not reported any yet.") :
      h("ul", {class: "list"}, list.map((one) => h("li", {class: "condition"},
        h("div", {}, h("span", {class: "what"}, mark(toneOf(one)), `${one.type}: ${one.status}`), h("p", {class: "reason"}, one.reason), h("p", {class: "reason"}, since(one.since))),
        h("p", {class: "says long"}, one.message)))));
}

export function next(detail) {
  if (!detail.next) return null;
  return h("section", {class: "card"}, h("h2", {}, "What happens next"), h("p", {class: "says"}, detail.next));
}

export function checks(detail) {
  const list = detail.checks || [], values = detail.values || [], warnings = detail.warnings || [];
  if (list.length + values.length + warnings.length === 0) return null;
  return h("section", {class: "card flush"}, h("h2", {}, "Why"),
    warnings.length > 0 && h("ul", {class: "list"}, warnings.map((text) => h("li", {class: "warning"}, text))),
    list.length > 0 && h("details", {"data-key": "checks", class: "change"}, h("summary", {}, h("span", {class: "what"}, plural(list.length, "check")), ""),
      h("table", {class: "plain checks"}, h("thead", {}, h("tr", {}, ["Check", "Found", "Decision"].map((text) => h("th", {scope: "col"}, text)))),
        h("tbody", {}, list.map((one) => h("tr", {class: one.decides ? "decides" : ""}, h("td", {}, one.about), h("td", {}, one.found), h("td", {}, one.says)))))),
    values.length > 0 && h("details", {"data-key": "values", class: "change"}, h("summary", {}, h("span", {class: "what"}, plural(values.length, "input"))),
      h("table", {class: "plain"}, h("thead", {}, h("tr", {}, ["Kind", "Name", "Value", "From"].map((text) => h("th", {scope: "col"}, text)))),
        h("tbody", {}, values.map((one) => h("tr", {}, h("td", {}, one.kind), h("td", {}, one.name), h("td", {}, h("code", {}, one.value)), h("td", {class: "sub"}, one.from)))))));
}

const stepStates = {running: "running", done: "ready", failed: "failed"};

export function run(detail) {
  const one = detail.run;
  if (!one) return null;
  const steps = one.steps || [];
  return h("section", {class: "card flush", "aria-label": "The run in flight"},
    h("div", {class: "card-head"}, h("h2", {}, mark("running"), ` Running ${one.operation}`), h("span", {class: "sub"}, "started ", since(one.startedAt), one.revision && [" at ", short(one.revision)])),
    h("div", {class: "progress"}, h("p", {class: "says"}, one.message),
      one.unread && h("p", {class: "sub says"}, one.unread),
      one.total > 0 && steps.length > 0 && svg("svg", {class: "bar", viewBox: "0 0 100 4", preserveAspectRatio: "none", role: "img", "aria-label": `${one.done || 0} of ${one.total} done`}, svg("rect", {width: 100 * Math.min(1, (one.done || 0) / one.total), height: 4}))),
    steps.length > 0 && h("ol", {class: "steps", tabindex: "0", "data-key": "steps", "data-scroll": "end", "aria-label": "Steps"}, steps.map((step) => h("li", {class: "step"}, mark(stepStates[step.state] || "unknown"), plan.op(step.op),
      h("span", {}, h("span", {class: "name"}, step.name), " ", h("span", {class: "sub"}, step.type)), h("span", {class: "sub"}, step.state === "done" ? step.seconds > 0 && `${step.seconds} s` : step.state)))));
}

export function proposal(detail, href) {
  const one = detail.proposal;
  if (!one) return null;
  const what = one.destroy ? " A destroy " : " A plan ";
  return h("section", {class: one.rejected ? "card" : "card attention"}, h("div", {class: "card-head"}, h("h2", {}, mark(one.rejected ? "suspended" : "waiting"), what, one.rejected ? "was rejected" : "waits for approval"), h("a", {class: "button", href, "data-key": "review"}, "Review the plan")),
    h("p", {class: "says"}, one.message), h("p", {class: "sub"}, "proposed ", since(one.proposedAt), one.revision && [" at ", short(one.revision)]));
}

// decision is what the person may do about a plan. Nobody approves here what the page could not show.
export function decision(detail, digest, shown) {
  const may = detail.may || {};
  if (!digest || !detail.proposal || detail.proposal.digest !== digest) return null;
  const reject = may.reject && h("button", {type: "button", class: "danger", "data-key": "reject", onclick: () => actions.reject(detail.stack, digest, reject)}, "Reject");
  const approve = may.approve && shown && h("button", {type: "button", class: "primary", "data-key": "approve", onclick: () => actions.approve(detail.stack, digest, shown.warnings, approve)}, "Approve");
  if (!may.reject && !may.approve) return h("p", {class: "sub"}, detail.proposal.mayNot || "You are not allowed to approve or reject it.");
  return h("div", {class: "actions"}, may.approve && !shown && h("p", {class: "sub"}, "A plan that is not shown cannot be approved here."),
    approve && (shown.warnings || []).length > 0 && h("p", {class: "warning"}, "The plan does not show everything that you would approve."), reject, approve);
}

export function facts(detail) {
  const list = detail.spec || [];
  if (list.length === 0) return null;
  return h("section", {class: "card"}, h("h2", {}, "Stack"), h("dl", {class: "facts"}, list.map(({name, value}) => [h("dt", {}, name), h("dd", {}, value)])));
}

export function outputs(detail) {
  const {items = [], message, secret} = detail.outputs || {};
  return [message && h("p", {class: "sub"}, message),
    items.length > 0 && h("section", {class: "card flush"}, h("table", {class: "plain"}, h("thead", {}, h("tr", {}, h("th", {scope: "col"}, "Output"), h("th", {scope: "col"}, "Value"))),
      h("tbody", {}, items.map((one) => h("tr", {}, h("th", {scope: "row"}, one.name), h("td", {}, one.secret ? h("span", {class: "tag"}, "secret") : h("code", {}, one.value))))))),
    items.length === 0 && !message && h("p", {class: "empty"}, "The program has no outputs."),
    secret && h("p", {class: "sub"}, "They are in the Secret ", h("code", {}, secret), ".")];
}

const results = {succeeded: "ready", proposed: "waiting", failed: "failed", interrupted: "failed", cancelled: "suspended"};

function changesOf(one) {
  return [["created", "+"], ["updated", "~"], ["replaced", "±"], ["deleted", "−"]].filter(([name]) => one[name] > 0).map(([name, sign]) => `${sign}${one[name]} ${name}`).join(", ");
}

// took says how long a run took, if it is known.
function took(one) {
  const text = one.startedAt && one.endedAt ? lasted(one.startedAt, one.endedAt) : "";
  return text && ` · took ${text}`;
}

// history lists the runs; more is called with one that is opened, and returns what it changed.
export function history(detail, more) {
  const list = detail.history || [];
  if (list.length === 0) return h("p", {class: "empty"}, "No run has ended yet.");
  return h("section", {class: "card flush", "aria-label": "History"}, list.map((one) => {
    const body = h("div", {class: "change-body"}, h("p", {class: "says"}, one.message), h("p", {class: "sub"}, "run ", h("code", {}, one.id), one.approvedBy && `, approved by ${one.approvedBy}`));
    const place = h("div");
    body.append(place);
    const details = h("details", {class: "change ended", "data-key": "run-" + one.id}, h("summary", {}, h("span", {}, mark(results[(one.state || "").toLowerCase()] || "unknown"), " ", h("b", {}, one.state)),
      h("span", {class: "what"}, one.operation, one.revision && " at ", short(one.revision), " ", h("span", {class: "sub"}, changesOf(one) || "nothing changed", " · ", since(one.endedAt || one.startedAt), took(one), one.approvedBy && ` · approved by ${one.approvedBy}`))), body);
    details.addEventListener("toggle", () => {
      if (details.open && !place.hasChildNodes()) more(one, place);
    });
    return details;
  }));
}
