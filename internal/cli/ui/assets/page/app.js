// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Which view is shown is in the address after the #: a view can be linked to, reloaded and left with the back button.

import {h, put} from "./dom.js";
import * as graph from "./graph.js";
import * as overview from "./overview.js";
import * as stack from "./stack.js";
import * as store from "./store.js";
import * as theme from "./theme.js";

const main = document.getElementById("main");
const names = ["stacks", "graph"];
let shown = {path: "", leave() {}};

// parse returns the parts of the address and its parameters.
function parse() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?", 2);
  const parts = path.split("/").map((part) => {
    try {
      return decodeURIComponent(part);
    } catch {
      return part;
    }
  });
  return {path, parts, query: new URLSearchParams(query)};
}

// A namespace and a Stack have such names.
const objectName = /^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$/;

function viewOf(parts) {
  if (parts[0] === "stacks" && parts.length >= 3) return parts.slice(1, 3).every((part) => objectName.test(part)) ? stack : null;
  if (parts[0] === "stacks" || parts[0] === "") return overview;
  if (parts[0] === "graph") return graph;
  return null;
}

function route() {
  const address = parse();
  const view = viewOf(address.parts);
  for (const name of names) {
    const tab = document.getElementById(`to-${name}`);
    if ((address.parts[0] || "stacks") === name) tab.setAttribute("aria-current", "page");
    else tab.removeAttribute("aria-current");
  }
  if (view && shown.view === view && shown.update && shown.update(address)) {
    shown.path = address.path;
    return;
  }
  const moved = shown.path !== address.path && shown.view;
  shown.leave();
  if (!view) {
    shown = {view: null, leave() {}};
    put(main, h("h1", {}, "There is no such view"), h("p", {}, h("a", {href: "#/stacks"}, "Show the Stacks")));
  } else {
    shown = {view, path: address.path, leave() {}, ...view.open(main, address)};
  }
  if (moved) {
    // A reader of the screen hears of the other view, and the page begins at its top.
    main.focus({preventScroll: true});
    scrollTo(0, 0);
  }
}

function showLink() {
  const {connected, loaded, message} = store.link;
  const element = document.getElementById("link");
  element.className = "link " + (connected ? "live" : loaded ? "lost" : "");
  document.getElementById("link-text").textContent = connected ? "Live" : loaded ? "Reconnecting" : "Connecting";
  const notice = document.getElementById("notice");
  notice.hidden = connected || !message;
  if (notice.textContent !== message) notice.textContent = message;
}

document.getElementById("skip").addEventListener("click", (event) => {
  event.preventDefault(); // the address is that of the view
  main.focus();
});
theme.start(document.getElementById("theme"));
store.listen(showLink);
store.start();
addEventListener("hashchange", route);
route();
