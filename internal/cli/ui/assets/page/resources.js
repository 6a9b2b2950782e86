// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// The resources of a Stack, as a tree of who is whose parent and as a graph.

import {h, put, svg} from "./dom.js";
import {canvas, label, tools} from "./graph.js";

// So many children are drawn at once; the rest when a person asks.
const page = 100;

function entry(node) {
  const [type, ...name] = (node.resource || "").split(" ");
  return h("span", {class: "entry"}, h("span", {class: "name"}, name.join(" ") || type), " ", name.length > 0 && h("span", {class: "sub"}, type), " ", node.id && h("code", {class: "sub"}, node.id),
    node.protect && h("span", {class: "tag"}, "protected"), node.external && h("span", {class: "tag"}, "read only"));
}

function branch(node, depth) {
  const children = node.resources || [];
  if (children.length === 0) return h("li", {class: "leaf"}, entry(node));
  const list = h("ul");
  const details = h("details", {open: depth < 3, "data-key": node.urn || "root"}, h("summary", {}, entry(node), h("span", {class: "count"}, children.length)), list);
  const add = (from) => {
    for (const child of children.slice(from, from + page)) list.append(branch(child, depth + 1));
    if (children.length <= from + page) return;
    const button = h("button", {type: "button", class: "quiet", onclick: () => {
      button.parentElement.remove();
      add(from + page);
    }}, `Show more of ${children.length}`);
    list.append(h("li", {}, button));
  };
  // What is closed is drawn when it is opened: a program may have thousands.
  const draw = () => list.hasChildNodes() || add(0);
  if (details.open) draw();
  details.addEventListener("toggle", () => details.open && draw());
  return h("li", {}, details);
}

function nodeOf(node) {
  return svg("g", {class: "node", tabindex: "0", role: "img", "aria-label": `${node.label} ${node.kind}`, transform: `translate(${node.x} ${node.y})`}, svg("title", {}, `${node.kind} ${node.label}`),
    svg("rect", {width: node.w, height: node.h, rx: 6}), label(node, 12, node.label, node.kind));
}

export function show(place, {tree, graph, message}) {
  const body = h("div");
  const draw = (asGraph) => {
    for (const [button, on] of [[treeButton, !asGraph], [graphButton, asGraph]]) button.setAttribute("aria-pressed", String(on));
    if (!asGraph) {
      put(body, h("section", {class: "card tree", "aria-label": "Resources"}, h("ul", {}, branch(tree, 0))));
      return;
    }
    const drawn = canvas(graph, "Resources and what they depend on", nodeOf);
    put(body, h("div", {class: "graph-frame low"}, drawn.root, tools(drawn)));
    drawn.settle();
  };
  const treeButton = h("button", {type: "button", class: "chip", onclick: () => draw(false)}, "Tree");
  const graphButton = h("button", {type: "button", class: "chip", onclick: () => draw(true)}, "Graph");
  put(place, message && h("p", {class: "sub"}, message), tree && h("div", {class: "counts", role: "group", "aria-label": "Show as"}, treeButton, graph && graph.nodes && graph.nodes.length > 0 && graphButton), body);
  if (tree) draw(false);
}
