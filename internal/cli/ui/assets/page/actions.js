// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// What a person does to a Stack, with their own rights. The server says what the API server allows; anything that changes what
// runs is asked for first.

import {post, stackPath} from "./api.js";
import {h, put} from "./dom.js";

let fading;

// say shows a message for a while, and an error until the next one.
export function say(message, wrong) {
  const toast = document.getElementById("toast");
  clearTimeout(fading);
  put(toast, h("p", {class: wrong ? "wrong" : ""}, message));
  fading = setTimeout(() => put(toast), wrong ? 20000 : 6000);
}

// act does one action, and reports whether it was done.
export async function act(stack, action, body, button) {
  if (button) button.disabled = true;
  try {
    const done = await post(stackPath(stack.namespace, stack.name, action), body);
    say(done.message || "Done");
    return true;
  } catch (error) {
    say(error.message, true);
    return false;
  } finally {
    if (button) button.disabled = false;
  }
}

// ask shows a question, and resolves to what its form has, or to null if the person leaves it.
export function ask({title, text, content, confirm, danger, fields = []}) {
  const last = document.activeElement;
  return new Promise((resolve) => {
    const form = h("form", {method: "dialog"},
      h("h2", {id: "question"}, title), text && h("p", {}, text), content, fields,
      h("div", {class: "actions"}, h("button", {type: "button", onclick: () => dialog.close("")}, "Close"),
        h("button", {value: "yes", class: danger ? "danger-fill" : "primary"}, confirm)));
    const dialog = h("dialog", {"aria-labelledby": "question"}, form);
    dialog.addEventListener("close", () => {
      dialog.remove();
      if (last && last.isConnected) last.focus();
      resolve(dialog.returnValue === "yes" ? Object.fromEntries(new FormData(form)) : null);
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}

function digestOf(digest) {
  return h("p", {class: "digest"}, h("span", {class: "sub"}, "Digest"), h("code", {}, digest));
}

// approve asks with what the plan does not show, if there is something.
export async function approve(stack, digest, warnings, button) {
  const content = [digestOf(digest), (warnings || []).map((text) => h("p", {class: "warning"}, text + "."))];
  const sure = await ask({title: `Approve this plan of ${stack.name}?`, content, confirm: "Approve",
    text: "The Stack applies exactly this plan. If it proposes another one in the meantime, nothing is approved."});
  return sure && act(stack, "approve", {digest}, button);
}

export async function reject(stack, digest, button) {
  const reason = h("div", {}, h("label", {for: "reason"}, "Reason"), h("input", {id: "reason", name: "reason", required: true, maxlength: 500, autocomplete: "off"}));
  const answer = await ask({title: `Reject this plan of ${stack.name}?`, content: digestOf(digest), fields: [reason], confirm: "Reject", danger: true,
    text: "The Stack does not apply it, and its status says who has rejected it and why."});
  return answer && act(stack, "reject", {digest, reason: answer.reason}, button);
}

const simple = [
  {action: "reconcile", text: "Reconcile"},
  {action: "preview", text: "Preview", then: "preview"},
  {action: "resume", text: "Resume"},
  {action: "suspend", text: "Suspend", question: (name) => ({title: `Suspend ${name}?`, confirm: "Suspend",
    text: "A run in flight continues to its end. Nothing runs after it until the Stack is resumed."})},
  {action: "cancel", text: "Cancel the run", danger: true, question: (name) => ({title: `Cancel the run of ${name}?`, confirm: "Cancel the run", danger: true,
    text: "The operations in flight are finished, and the others are not started. The resources stay as they are by then."})},
];

// buttons returns those for what the person may do now.
export function buttons(stack, may) {
  return simple.filter(({action}) => may && may[action]).map(({action, text, danger, question, then}) => {
    const button = h("button", {type: "button", class: danger ? "danger" : "", "data-key": "do-" + action, onclick: async () => {
      if (question && !await ask(question(stack.name))) return;
      if (await act(stack, action, {}, button) && then) location.hash = `#/stacks/${encodeURIComponent(stack.namespace)}/${encodeURIComponent(stack.name)}/${then}`;
    }}, text);
    return button;
  });
}
