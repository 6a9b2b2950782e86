// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// A plan, or what a run has done: what is deleted or replaced first, each change with its values. The server has masked the
// secrets.

import {h} from "./dom.js";
import {plural} from "./format.js";

// What destroys something comes first.
const order = ["delete", "replace", "update", "import", "create", "retain", "same"];
const verbs = {delete: "Delete", replace: "Replace", update: "Update", import: "Import", create: "Create", retain: "Keep", same: "Options"};
const signs = {delete: "−", replace: "±", update: "~", import: "↓", create: "+", retain: "○", same: "="};
// So many are drawn at once; the rest when a person asks.
const page = 200;

// nameOf returns the name of a resource, the last part of its URN.
export function nameOf(urn) {
  return (urn || "").split("::").slice(3).join("::") || urn || "";
}

// What a run in flight does beside that, and what it is drawn as.
const parts = {"create-replacement": ["create", "Create new"], "delete-replaced": ["delete", "Delete old"], "import-replacement": ["import", "Import new"],
  "discard-replaced": ["retain", "Keep old"], refresh: ["same", "Refresh"], read: ["same", "Read"], "read-replacement": ["same", "Read new"]};

export function op(name) {
  const [as, text] = parts[name] || [verbs[name] ? name : "same", verbs[name] || name];
  return h("span", {class: `op op-${as}`}, `${parts[name] || verbs[name] ? signs[as] : "·"} ${text}`);
}

function value(raw) {
  if (raw === undefined) return "";
  return typeof raw === "string" ? raw : JSON.stringify(raw, null, 1);
}

// The mark of a value that the digest of the plan is of, and that is not shown as it is.
const notShown = "not shown in full";

// hides reports whether something that a step changes is not shown, which nobody would see while it is closed.
function hides(step) {
  return step.moreProperties > 0 || [...step.properties || [], ...step.options || []].some((one) => one.notShown);
}

function diffTable(label, properties, nameOfRow) {
  if (!properties || properties.length === 0) return null;
  return h("table", {class: "diff"}, h("thead", {}, h("tr", {}, h("th", {scope: "col"}, label), h("th", {scope: "col"}, "Before"), h("th", {scope: "col"}, "After"))),
    h("tbody", {}, properties.map((one) => h("tr", {}, h("th", {scope: "row"}, nameOfRow(one), one.replaces && h("span", {class: "tag hot"}, "forces replacement"), one.secret && h("span", {class: "tag"}, "secret"), one.notShown && h("span", {class: "tag hot"}, notShown)),
      h("td", {class: "old"}, value(one.old)), h("td", {class: "new"}, value(one.new))))));
}

function stepOf(step, open) {
  const title = [op(step.op), h("span", {class: "what"}, h("b", {}, nameOf(step.urn)), " ", h("span", {class: "sub"}, step.type),
    step.deleteFirst && h("span", {class: "tag hot"}, "deleted before it is created"), step.failed && h("span", {class: "tag hot"}, "failed"),
    hides(step) && h("span", {class: "tag hot"}, notShown), step.id && h("span", {class: "sub"}, ` ${step.id}`))];
  const tables = [diffTable("Property", step.properties, (p) => p.path), diffTable("Option", step.options, (p) => p.path)];
  if (!tables.some(Boolean) && !step.moreProperties) return h("div", {class: "change"}, h("div", {class: "row"}, title));
  return h("details", {class: "change", open, "data-key": `${step.op} ${step.urn}`}, h("summary", {}, title),
    h("div", {class: "change-body"}, tables, step.moreProperties > 0 && h("p", {class: "sub"}, `and ${plural(step.moreProperties, "more property", "more properties")}`)));
}

// What the server has counted, and how each is called before it is done and after it.
const counted = [["failed", "delete", "failed", "failed"], ["delete", "delete", "to delete", "deleted"], ["replace", "replace", "to replace", "replaced"],
  ["other", "other", "other", "other"], ["update", "update", "to update", "updated"], ["import", "import", "to import", "imported"], ["create", "create", "to create", "created"],
  ["retain", "retain", "to leave in place (retainOnDelete)", "left in place (retainOnDelete)"], ["options", "same", "with changed options", "with changed options"]];

// counts returns a line such as "1 to delete · 2 to create", of all changes, whether or not they are listed.
export function counts(plan, done) {
  const found = counted.filter(([name]) => (plan.counts || {})[name] > 0);
  if (found.length > 0) return h("p", {class: "verdicts"}, found.map(([name, as, before, after]) => h("span", {class: `op op-${as}`}, `${name === "failed" ? "!" : signs[as] || "?"} ${plan.counts[name]} ${done ? after : before}`)));
  if ((plan.outputs || []).length > 0 || plan.moreOutputs > 0) return h("p", {}, done ? "Only outputs were changed." : "Only outputs would change.");
  if (plan.incomplete) return h("p", {}, "It is not known which resources were changed.");
  return h("p", {}, done ? "Nothing was changed." : "Nothing would change.");
}

// warnings say what of a plan is not shown, always above its changes.
export function warnings(plan) {
  const list = plan.warnings || [];
  if (list.length === 0) return null;
  return h("section", {class: "card attention", "aria-label": "Not shown"}, list.map((text) => h("p", {class: "says"}, text + ".")));
}

function total(counts) {
  return Object.values(counts || {}).reduce((sum, count) => sum + (Number(count) || 0), 0);
}

// steps returns the changes of a plan.
export function steps(plan) {
  const sorted = [...plan.steps || []].sort((a, b) => order.indexOf(a.op) - order.indexOf(b.op) || a.urn.localeCompare(b.urn));
  const more = total(plan.more);
  if (sorted.length === 0 && more === 0) return null;
  // A few are shown with their values at once, and always those that destroy something.
  const open = (step) => sorted.length <= 12 || ["delete", "replace"].includes(step.op) && sorted.length <= 60;
  const card = h("section", {class: "card flush", "aria-label": "Changes"});
  const add = (from) => {
    card.append(...sorted.slice(from, from + page).map((step) => stepOf(step, open(step))));
    const left = sorted.length - from - page;
    if (left <= 0) return;
    const button = h("button", {type: "button", class: "quiet", onclick: () => {
      button.remove();
      add(from + page);
    }}, `Show ${Math.min(left, page)} of ${left} more`);
    card.append(button);
  };
  add(0);
  if (more > 0) card.append(h("p", {class: "change more sub"}, `${plural(more, "change")} more than the plan has room for`));
  return card;
}

export function outputs(plan) {
  if ((plan.outputs || []).length === 0 && !(plan.moreOutputs > 0)) return null;
  return h("section", {class: "card"}, h("h2", {}, "Outputs"), diffTable("Output", plan.outputs, (o) => o.name),
    plan.moreOutputs > 0 && h("p", {class: "sub"}, `${plural(plan.moreOutputs, "output")} more than the plan has room for`));
}

export function policies(plan) {
  const found = plan.policies || [];
  const blocking = found.filter((policy) => policy.level === "mandatory").length;
  const more = plan.morePolicies || 0;
  if (found.length + more === 0) return null;
  const verdict = blocking > 0 ? plural(blocking, "mandatory policy is", "mandatory policies are") + " violated" :
    more > 0 ? "Whether a mandatory policy is violated is not known" : "Only advice, nothing mandatory";
  return h("section", {class: "card flush" + (blocking || more ? " wrong" : "")}, h("div", {class: "card-head"}, h("h2", {}, "Policies"), h("span", {class: "sub"}, verdict)),
    h("ul", {class: "list"}, found.map((policy) => h("li", {}, h("span", {class: "name"}, h("b", {}, policy.name), h("span", {class: policy.level === "mandatory" ? "tag hot" : "tag"}, policy.level)),
      h("p", {class: "says long"}, policy.message), h("p", {class: "sub"}, [policy.pack + (policy.version ? `@${policy.version}` : ""), policy.urn && nameOf(policy.urn)].filter(Boolean).join(" · ")))),
      more > 0 && h("li", {class: "sub"}, `${plural(more, "violation")} more than the plan has room for`)));
}

// whole returns all parts of a plan.
export function whole(plan, done) {
  return [plan.destroy && h("p", {class: "card wrong"}, h("b", {}, done ? "The whole stack was destroyed." : "The whole stack would be destroyed.")),
    counts(plan, done), warnings(plan), policies(plan), steps(plan), outputs(plan),
    plan.unbound && h("p", {class: "sub"}, plan.unbound), plan.incomplete && h("p", {class: "sub"}, "The run may have done more than is shown.")];
}
