// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// What depends on what, from left to right. The server has laid it out; here it is drawn, moved and followed.

import {get} from "./api.js";
import {h, put, svg} from "./dom.js";
import {plural} from "./format.js";
import {mark, order, shownAs, words} from "./states.js";
import * as store from "./store.js";

const smallest = 0.08, largest = 2.5;

// canvas draws nodes and edges: a group that moves and grows, and the keys and the pointer that do it.
export function canvas({nodes, edges, width, height}, label, nodeOf) {
  const world = svg("g");
  const view = {x: 0, y: 0, scale: 1};
  const root = svg("svg", {class: "graph", role: "group", "aria-label": label, tabindex: "0"},
    svg("defs", {}, arrowhead("arrow"), arrowhead("arrow-lit")), world);
  const apply = () => world.setAttribute("transform", `translate(${view.x} ${view.y}) scale(${view.scale})`);
  const zoom = (factor, x = root.clientWidth / 2, y = root.clientHeight / 2) => {
    const scale = Math.min(largest, Math.max(smallest, view.scale * factor));
    view.x = x - (x - view.x) * scale / view.scale;
    view.y = y - (y - view.y) * scale / view.scale;
    view.scale = scale;
    apply();
  };
  const fit = (least = smallest) => {
    const {clientWidth, clientHeight} = root;
    if (!clientWidth || !width || !height) return;
    view.scale = Math.max(least, Math.min(1, (clientWidth - 32) / width, (clientHeight - 32) / height));
    view.x = Math.max(16, (clientWidth - width * view.scale) / 2);
    view.y = Math.max(16, (clientHeight - height * view.scale) / 2);
    apply();
  };
  // settle shows the beginning of a graph that is too large to be read as a whole, in no more room than it needs.
  const settle = () => {
    const least = 0.75;
    const scale = Math.max(least, Math.min(1, (root.clientWidth - 32) / (width || 1)));
    root.style.height = `${Math.max(240, height * scale + 72)}px`;
    fit(least);
  };
  const drawnEdges = edges.map((edge) => ({edge, element: svg("path", {class: `edge edge-${edge.kind}`, d: curve(edge.points), "marker-end": "url(#arrow)", "aria-hidden": "true"})}));
  const light = (id) => {
    root.classList.toggle("some-lit", !!id);
    const near = new Set([id]);
    for (const {edge, element} of drawnEdges) {
      const lit = !!id && (edge.from === id || edge.to === id);
      element.classList.toggle("lit", lit);
      element.setAttribute("marker-end", lit ? "url(#arrow-lit)" : "url(#arrow)");
      if (lit) near.add(edge.from).add(edge.to);
    }
    for (const [nodeID, element] of elements) element.classList.toggle("lit", near.has(nodeID));
  };
  const elements = new Map();
  for (const node of nodes) {
    const element = nodeOf(node);
    element.addEventListener("pointerenter", () => light(node.id));
    element.addEventListener("pointerleave", () => light(""));
    element.addEventListener("focus", () => {
      light(node.id);
      show(node);
    });
    element.addEventListener("blur", () => light(""));
    elements.set(node.id, element);
  }
  const show = (node) => {
    const left = node.x * view.scale + view.x, top = node.y * view.scale + view.y;
    const right = left + node.w * view.scale, bottom = top + node.h * view.scale;
    if (left < 0) view.x += 16 - left;
    else if (right > root.clientWidth) view.x -= right - root.clientWidth + 16;
    if (top < 0) view.y += 16 - top;
    else if (bottom > root.clientHeight) view.y -= bottom - root.clientHeight + 16;
    apply();
    root.scrollTo(0, 0); // the browser would move the focused element into view by itself
  };
  world.append(svg("g", {}, drawnEdges.map(({element}) => element)), svg("g", {}, [...elements.values()]));
  steer(root, view, apply, zoom, fit);
  return {root, elements, zoom, fit, settle};
}

function arrowhead(id) {
  return svg("marker", {id, class: id, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto-start-reverse"}, svg("path", {d: "M0 .8 7 4 0 7.2Z"}));
}

function steer(root, view, apply, zoom, fit) {
  let drag = null;
  root.addEventListener("pointerdown", (event) => {
    if (event.button === 0) drag = {x: event.clientX, y: event.clientY, fromX: view.x, fromY: view.y, moved: false};
  });
  root.addEventListener("pointermove", (event) => {
    if (!drag) return;
    const [dx, dy] = [event.clientX - drag.x, event.clientY - drag.y];
    if (!drag.moved && Math.abs(dx) + Math.abs(dy) < 4) return;
    if (!drag.moved) root.setPointerCapture(event.pointerId);
    drag.moved = true;
    view.x = drag.fromX + dx;
    view.y = drag.fromY + dy;
    apply();
  });
  const end = () => {
    if (drag && drag.moved) root.addEventListener("click", (event) => event.preventDefault(), {capture: true, once: true});
    drag = null;
  };
  root.addEventListener("pointerup", end);
  root.addEventListener("pointercancel", end);
  root.addEventListener("dragstart", (event) => event.preventDefault());
  root.addEventListener("wheel", (event) => {
    event.preventDefault();
    const box = root.getBoundingClientRect();
    zoom(Math.exp(-event.deltaY / 400), event.clientX - box.left, event.clientY - box.top);
  }, {passive: false});
  root.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const move = {ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60]}[event.key];
    if (move) {
      view.x += move[0];
      view.y += move[1];
      apply();
    } else if (event.key === "+" || event.key === "=") zoom(1.25);
    else if (event.key === "-") zoom(0.8);
    else if (event.key === "0") fit();
    else return;
    event.preventDefault();
  });
}

// curve joins the points of an edge smoothly.
function curve(points) {
  if (!points || points.length === 0) return "";
  let d = `M${points[0].x} ${points[0].y}`;
  for (let i = 1; i < points.length; i++) {
    const [a, b] = [points[i - 1], points[i]];
    const middle = (a.x + b.x) / 2;
    d += `C${middle} ${a.y} ${middle} ${b.y} ${b.x} ${b.y}`;
  }
  return d;
}

export function tools(drawn, more) {
  return h("div", {class: "graph-tools", role: "group", "aria-label": "Size of the graph"},
    h("button", {type: "button", "aria-label": "Smaller", onclick: () => drawn.zoom(0.8)}, "−"),
    h("button", {type: "button", "aria-label": "Larger", onclick: () => drawn.zoom(1.25)}, "+"),
    h("button", {type: "button", onclick: () => drawn.fit()}, "Fit"), more);
}

// label writes two lines into a node, and cuts off what does not fit.
export function label(node, x, first, second) {
  return svg("svg", {x, width: Math.max(0, node.w - x - 8), height: node.h},
    svg("text", {class: "name", y: node.h / 2 - 3}, first), " ", svg("text", {class: "sub", y: node.h / 2 + 14}, second));
}

export function open(main, address) {
  let focus = address.query.get("focus") || "", drawn = null, byID = new Map(), shape = "";
  let request = new AbortController(), timer;
  const frame = h("div", {class: "graph-frame"});
  const place = h("p", {class: "summary", role: "status"});
  document.title = "Graph · flux pulumi";

  const href = (node) => (node.stack ? `#/stacks/${node.stack.split("/").map(encodeURIComponent).join("/")}` : null);
  function stateFor(node) {
    const row = node.stack && store.stacks.get(node.stack);
    return row ? shownAs(row) : node.state;
  }
  function describe(node, edges) {
    const others = (from, to) => edges.filter((edge) => edge[from] === node.id).map((edge) => byID.get(edge[to])).filter(Boolean).map((other) => other.label);
    const [needs, feeds] = [others("to", "from"), others("from", "to")];
    const list = (lead, names) => (names.length ? `, ${lead} ${names.slice(0, 8).join(", ")}${names.length > 8 ? ` and ${names.length - 8} more` : ""}` : "");
    return `${texts(node).join(" ")}${list("after", needs)}${list("before", feeds)}`;
  }
  // texts are the two lines of a node.
  function texts(node) {
    if (!node.stack) return [node.label, node.kind];
    const [namespace, name] = node.stack.split("/");
    const word = words[stateFor(node)];
    return [name, word ? `${namespace} · ${word}` : namespace];
  }
  function nodeOf(node, edges) {
    const state = stateFor(node);
    const link = href(node);
    const [first, second] = texts(node);
    return svg(link ? "a" : "g", {class: `node node-${node.kind} is-${state || "none"}`, href: link, tabindex: "0", "data-id": node.id, "data-key": node.id, role: link ? null : "img",
      "aria-label": describe(node, edges), transform: `translate(${node.x} ${node.y})`},
    svg("title", {}, node.stack || node.label),
    svg("rect", {width: node.w, height: node.h, rx: node.stack ? 6 : node.h / 2}),
    state && svg("g", {transform: `translate(10 ${node.h / 2 - 8})`}, mark(state)),
    label(node, state ? 34 : 14, first, second));
  }
  // The states change often and in place; where the nodes are changes with what depends on what.
  const shapeOf = () => JSON.stringify([...store.stacks.values()].map((row) => [store.keyOf(row), row.needs, row.source]).sort());
  async function load() {
    shape = shapeOf();
    request.abort();
    request = new AbortController();
    let graph;
    try {
      graph = await get("graph" + (focus ? "?focus=" + encodeURIComponent(focus) : ""), request.signal);
    } catch (error) {
      if (error.name !== "AbortError") place.textContent = error.message;
      return;
    }
    byID = new Map(graph.nodes.map((node) => [node.id, node]));
    drawn = canvas(graph, "Stacks and what they depend on", (node) => nodeOf(node, graph.edges));
    drawn.graph = graph;
    put(frame, drawn.root, tools(drawn, focus && h("a", {class: "button", href: "#/graph"}, "Show all")));
    drawn.settle();
    place.textContent = graph.message || (graph.nodes.length ? `${plural(graph.nodes.length, "node")}, ${plural(graph.edges.length, "dependency", "dependencies")}${focus ? ` around ${focus}` : ""}` : "There is nothing to show.");
  }
  function refresh() {
    if (shapeOf() !== shape) {
      clearTimeout(timer);
      timer = setTimeout(load, 300);
    }
    if (!drawn) return;
    for (const node of drawn.graph.nodes) {
      const state = stateFor(node);
      const element = drawn.elements.get(node.id);
      if (!element || element.classList.contains(`is-${state || "none"}`)) continue;
      const again = nodeOf(node, drawn.graph.edges);
      element.setAttribute("class", again.getAttribute("class"));
      element.setAttribute("aria-label", again.getAttribute("aria-label"));
      element.replaceChildren(...again.childNodes);
    }
  }
  put(main, h("div", {class: "title-row"}, h("h1", {}, "Graph"), place), legend(), frame,
    h("p", {class: "hint"}, "Drag or use the arrow keys to move, the wheel or + and − to zoom, 0 to fit. Tab goes from node to node."));
  load();
  const quiet = store.listen(refresh);
  return {
    leave() {
      quiet();
      clearTimeout(timer);
      request.abort();
    },
    update(next) {
      focus = next.query.get("focus") || "";
      load();
      return true;
    },
  };
}

function legend() {
  return h("ul", {class: "legend", "aria-label": "What the shapes mean"}, order.map((state) => h("li", {}, mark(state), words[state])),
    h("li", {}, h("span", {class: "stroke", "aria-hidden": "true"}), "depends on"), h("li", {}, h("span", {class: "stroke dashed", "aria-hidden": "true"}), "outputs or source"));
}
