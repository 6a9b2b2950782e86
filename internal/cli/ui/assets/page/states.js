// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// The states of a Stack, each with a word, a shape and a colour: nobody has to tell colours apart.

import {h, svg} from "./dom.js";

export const order = ["failed", "waiting", "running", "drifted", "unknown", "suspended", "ready"];

export const words = {
  ready: "Ready",
  running: "Running",
  failed: "Failed",
  waiting: "Waits for approval",
  drifted: "Drifted",
  suspended: "Suspended",
  unknown: "In progress",
};

const shapes = {
  ready: () => [circle(), line("M5 8.2 7.2 10.4 11 5.8")],
  failed: () => [svg("path", {class: "shape", d: "M5.2 1.5h5.6l3.7 3.7v5.6l-3.7 3.7H5.2l-3.7-3.7V5.2Z"}), line("M5.7 5.7 10.3 10.3M10.3 5.7 5.7 10.3")],
  waiting: () => [svg("path", {class: "shape", d: "M8 1.6 15 14H1Z"}), line("M8 6v3.8M8 11.8v.2")],
  running: () => [svg("circle", {class: "hollow", cx: 8, cy: 8, r: 5.8}), svg("path", {class: "arc", d: "M8 2.2A5.8 5.8 0 0 1 13.8 8"})],
  drifted: () => [svg("path", {class: "shape", d: "M8 1 15 8 8 15 1 8Z"}), line("M5.2 6.8h5.6M5.2 9.4h5.6M9.4 4.9 6.6 11.3")],
  suspended: () => [svg("rect", {class: "shape", x: 2, y: 2, width: 12, height: 12, rx: 2.5}), line("M6.4 5.5v5M9.6 5.5v5")],
  unknown: () => [svg("circle", {class: "hollow", cx: 8, cy: 8, r: 5.8}), svg("path", {class: "ink-own", d: "M5.2 8h.1M8 8h.1M10.8 8h.1"})],
};

function circle() {
  return svg("circle", {class: "shape", cx: 8, cy: 8, r: 6.8});
}

function line(d) {
  return svg("path", {class: "ink", d});
}

// mark draws the shape of a state, in a corner of 16 pixels.
export function mark(state, attributes) {
  return svg("svg", {class: `mark is-${shapes[state] ? state : "unknown"}`, width: 16, height: 16, viewBox: "0 0 16 16", "aria-hidden": "true", ...attributes},
    (shapes[state] || shapes.unknown)());
}

// badge is the shape and the word of a state.
export function badge(state, word) {
  return h("span", {class: `badge is-${words[state] ? state : "unknown"}`}, mark(state), word || words[state] || state);
}

// stateOf returns which state a row of a Stack is shown in.
export function stateOf(row) {
  if (row.running) return "running";
  if (row.waitsForApproval) return "waiting";
  if (row.failed) return "failed";
  if (row.suspended) return "suspended";
  if (row.ready === "True") return "ready";
  return "unknown";
}

// shownAs returns the state that is drawn where there is room for one.
export function shownAs(row) {
  const state = stateOf(row);
  return state === "ready" && row.drifted ? "drifted" : state;
}

// has reports whether a Stack counts to a state: it may be suspended and drifted at a time.
export function has(row, state) {
  switch (state) {
  case "running": return !!row.running;
  case "waiting": return !!row.waitsForApproval;
  case "failed": return !!row.failed;
  case "suspended": return !!row.suspended;
  case "drifted": return !!row.drifted;
  default: return stateOf(row) === state;
  }
}
