// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// One Stack: what it is at, what comes next, and all that its runs have left. Each part has an address of its own.

import * as actions from "./actions.js";
import {get, stackPath, stream} from "./api.js";
import {h, put} from "./dom.js";
import {short, since} from "./format.js";
import * as panels from "./panels.js";
import * as plan from "./plan.js";
import * as resources from "./resources.js";
import {badge, stateOf} from "./states.js";
import * as store from "./store.js";

const tabs = [["", "Status"], ["plan", "Plan"], ["preview", "Preview"], ["resources", "Resources"], ["outputs", "Outputs"], ["history", "History"], ["drift", "Drift"], ["events", "Events"], ["logs", "Logs"]];

export function open(main, address) {
  const [, namespace, name] = address.parts;
  const base = `#/stacks/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}`;
  let tab = address.parts[3] || "", detail = null, drawn = "", failed = "", left = null, fetched = "", unread = "", unloaded = "";
  let request = new AbortController();
  const head = h("div", {class: "stacked"});
  const nav = h("nav", {class: "tabs", "aria-label": `Parts of ${name}`});
  const note = h("div", {class: "stacked"});
  const body = h("div", {class: "stacked panel"});
  const path = (...parts) => stackPath(namespace, name, ...parts);

  function drawHead() {
    const {stack, may} = detail;
    put(head, h("div", {class: "head"},
      h("div", {class: "head-name"}, h("h1", {}, name), badge(stateOf(stack)), stack.drifted && badge("drifted"), stack.suspended && stateOf(stack) !== "suspended" && badge("suspended")),
      h("div", {class: "actions", role: "group", "aria-label": "Actions"}, actions.buttons(stack, may))),
    h("p", {class: "sub"}, [stack.source, stack.revision && [" at ", short(stack.revision)], stack.lastRun && [" · last run ", since(stack.lastRun)], " · ",
      h("a", {href: `#/graph?focus=${encodeURIComponent(`${namespace}/${name}`)}`, "data-key": "graph"}, "show in the graph")]));
  }

  function drawTabs() {
    const some = {plan: detail.proposal || detail.hasPlan, preview: detail.preview};
    const has = (id) => !(id in some) || some[id] || tab === id;
    const count = {outputs: ((detail.outputs || {}).items || []).length, history: (detail.history || []).length};
    put(nav, tabs.filter(([id]) => has(id)).map(([id, text]) => h("a", {href: id ? `${base}/${id}` : base, "aria-current": tab === id ? "page" : null, "data-key": "tab-" + id}, text,
      count[id] > 0 && h("span", {class: "count"}, count[id]))));
  }

  // drawNote says why what is shown may be old. It is not drawn again without need, as a reader of the screen would say it again.
  function drawNote() {
    const text = failed ? "" : unread || unloaded;
    if (note.textContent !== text) put(note, text && h("p", {class: "card attention says", role: "alert"}, text));
  }

  function draw() {
    drawNote();
    if (failed) {
      put(head, h("h1", {}, name));
      put(nav);
      put(body, h("p", {class: "card wrong says", role: "alert"}, failed), left && panels.history({history: left}, drawRun));
      return;
    }
    if (!detail) return;
    drawHead();
    drawTabs();
    drawBody();
  }

  function drawBody() {
    const fresh = drawn !== tab;
    drawn = tab;
    if (fresh) {
      delete body.dataset.part;
      unloaded = "";
      drawNote();
    }
    switch (tab) {
    case "":
      put(body, panels.proposal(detail, `${base}/plan`), panels.run(detail), h("div", {class: "columns"},
        h("div", {}, panels.conditions(detail), panels.checks(detail)), h("div", {}, panels.next(detail), panels.facts(detail))));
      return;
    case "outputs": return put(body, panels.outputs(detail));
    case "history": return (fresh || changed("history", detail.history)) && put(body, panels.history(detail, drawRun));
    case "plan": return (fresh || changed("plan", [detail.proposal, detail.hasPlan, detail.may])) && load("plan", drawPlan);
    case "preview": return (fresh || changed("preview", detail.preview)) && load("preview", drawPreview);
    case "drift": return (fresh || changed("drift", detail.drift)) && load("drift", drawDrift);
    case "resources": return (fresh || changed("resources", [detail.stack.lastRun, detail.stack.revision])) && load("resources", resources.show);
    case "events": return (fresh || changed("events", {...detail, run: null})) && load("events", drawEvents);
    case "logs": return (fresh || changed("logs", [detail.stack.lastRun, detail.run && [detail.run.message, detail.run.done]])) && load("logs", drawLogs);
    default: put(body, h("p", {class: "empty"}, "A Stack has no such part."));
    }
  }

  // changed reports whether what a part was made of is another now, so that nothing is drawn or asked for without need.
  function changed(of, value) {
    const text = of + JSON.stringify(value);
    if (text === fetched) return false;
    fetched = text;
    return true;
  }

  async function load(part, show) {
    request.abort();
    request = new AbortController();
    if (!body.dataset.part || body.dataset.part !== part) put(body, h("p", {class: "empty", role: "status"}, "Loading"));
    try {
      const answer = await get(path(part), request.signal);
      if (tab !== part) return;
      body.dataset.part = part;
      unloaded = "";
      show(body, answer);
    } catch (error) {
      if (error.name === "AbortError" || tab !== part) return;
      fetched = ""; // it is asked for again with the next change
      if (body.dataset.part === part) unloaded = error.message;
      else put(body, h("p", {class: "card says", role: "alert"}, error.message));
    }
    drawNote();
  }

  function drawPlan(place, answer) {
    const {digest, plan: proposed, message, proposedAt, revision} = answer;
    put(place, message && h("p", {class: "says"}, message),
      digest && h("section", {class: "card"}, h("div", {class: "card-head"}, h("div", {}, h("p", {class: "digest"}, h("span", {class: "sub"}, "Digest"), h("code", {}, digest)),
        h("p", {class: "sub"}, proposedAt && ["proposed ", since(proposedAt)], revision && [" at ", short(revision)])), panels.decision(detail, digest, proposed))),
      proposed && plan.whole(proposed));
  }

  function drawPreview(place, {revision, endedAt, message, plan: found}) {
    put(place, h("section", {class: "card"}, h("div", {class: "card-head"}, h("h2", {}, "The last preview"), h("span", {class: "sub"}, endedAt && ["done ", since(endedAt)], revision && [" at ", short(revision)])),
      h("p", {class: "says"}, message)), found && plan.whole(found));
  }

  function drawDrift(place, answer) {
    const drift = detail.drift || {};
    put(place, h("section", {class: "card"}, h("div", {class: "card-head"}, h("h2", {}, drift.result || "Not checked"), h("span", {class: "sub"}, drift.lastCheckedAt && ["checked ", since(drift.lastCheckedAt)], drift.since && [", drifted since ", since(drift.since)])),
      h("p", {class: "says"}, answer.message || drift.message || "The Stack has not been checked for drift.")), answer.plan && plan.whole(answer.plan));
  }

  function drawEvents(place, {events = [], message}) {
    put(place, message && h("p", {class: "sub"}, message), events.length === 0 ? h("p", {class: "empty"}, "There are no events. Kubernetes keeps them for an hour.") :
      h("section", {class: "card flush"}, h("table", {class: "plain"}, h("thead", {}, h("tr", {}, ["When", "Reason", "Message"].map((text) => h("th", {scope: "col"}, text)))),
        h("tbody", {}, events.map((event) => h("tr", {}, h("td", {class: "c-time"}, since(event.at)), h("td", {class: event.type === "Warning" ? "warning" : ""}, event.reason), h("td", {class: "says"}, event.message, event.count > 1 && h("span", {class: "tag"}, `${event.count} times`))))))));
  }

  function drawLogs(place, {text, message}) {
    put(place, message && h("p", {class: "sub"}, message), text ? h("pre", {class: "logs", tabindex: "0", role: "log", "aria-label": "Log of the run", "data-key": "logs", "data-scroll": "end"}, text) : !message && h("p", {class: "empty"}, "There is no log."));
  }

  async function drawRun(one, place) {
    if (!one.id) {
      put(place, h("p", {class: "sub"}, "There are no details: an earlier version of the controller has recorded this run."));
      return;
    }
    put(place, h("p", {class: "sub"}, "Loading"));
    try {
      const answer = await get(path("history", one.id));
      put(place, answer.message && h("p", {class: "sub"}, answer.message), answer.plan && plan.whole(answer.plan, true),
        answer.log && h("pre", {class: "logs", tabindex: "0", "aria-label": "Log of the run"}, answer.log));
    } catch (error) {
      put(place, h("p", {class: "sub"}, error.message));
    }
  }

  put(main, h("p", {class: "crumbs"}, h("a", {href: "#/stacks"}, "Stacks"), h("span", {"aria-hidden": "true"}, "/"), h("a", {href: `#/stacks?namespace=${encodeURIComponent(namespace)}`}, namespace)),
    head, nav, note, body);
  put(head, h("h1", {}, name), h("p", {class: "sub", role: "status"}, "Loading"));
  document.title = `${name} · ${namespace} · flux pulumi`;
  const close = stream(path("live"), {
    detail(next) {
      detail = next;
      if (failed) drawn = fetched = "";
      failed = unread = "";
      draw();
    },
    // The API server does not answer: what the page has stays, until it does.
    unread(event) {
      unread = event.message;
      if (detail) return drawNote();
      failed = unread;
      draw();
    },
    progress(event) {
      if (!detail || !detail.run || detail.run.id !== event.id) return;
      detail = {...detail, run: {...detail.run, done: event.done, steps: event.steps, unread: event.unread}};
      draw();
    },
    gone(event) {
      failed = event.message;
      left = event.history;
      detail = null;
      draw();
    },
  }, () => {});
  get(path()).then((next) => {
    if (detail) return;
    detail = next;
    draw();
  }, (error) => {
    if (detail || failed) return;
    failed = error.message;
    draw();
  });
  // What could not be read is asked for again once the API server is back.
  let connected = store.link.connected;
  const quiet = store.listen(() => {
    const back = store.link.connected && !connected;
    connected = store.link.connected;
    if (back) draw();
  });
  return {
    leave() {
      close();
      quiet();
      request.abort();
    },
    update(to) {
      if (to.parts[1] !== namespace || to.parts[2] !== name) return false;
      tab = to.parts[3] || "";
      fetched = "";
      drawn = null;
      draw();
      return true;
    },
  };
}
