// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// All Stacks, by what needs a person first. What is searched for is in the address.

import {h, put} from "./dom.js";
import {plural, short, since} from "./format.js";
import {badge, has, mark, order, shownAs, stateOf, words} from "./states.js";
import * as store from "./store.js";

const counted = ["failed", "waiting", "running", "drifted", "suspended", "ready"];
const sorts = {attention: "What needs attention", name: "Name", recent: "Last run"};

// select returns the rows that a search is for, in the order of its sort.
export function select(rows, query) {
  const terms = (query.get("q") || "").toLowerCase().split(/\s+/).filter(Boolean);
  const [state, namespace, source] = ["state", "namespace", "source"].map((name) => query.get(name) || "");
  const found = rows.filter((row) => (!state || has(row, state)) && (!namespace || row.namespace === namespace) &&
    (!source || row.source === source) && terms.every((term) => haystack(row).includes(term)));
  const byName = (a, b) => (store.keyOf(a) < store.keyOf(b) ? -1 : 1);
  const rank = (row) => order.indexOf(shownAs(row));
  switch (query.get("sort")) {
  case "name": return found.sort(byName);
  case "recent": return found.sort((a, b) => (b.lastRun || "").localeCompare(a.lastRun || "") || byName(a, b));
  default: return found.sort((a, b) => rank(a) - rank(b) || byName(a, b));
  }
}

function haystack(row) {
  return `${row.namespace}/${row.name} ${row.message || ""} ${row.source || ""} ${row.revision || ""} ${row.reason || ""}`.toLowerCase();
}

export function open(main, address) {
  let query = address.query;
  const drawn = new Map(); // key of a Stack to {row, element}
  const search = h("input", {type: "search", id: "q", placeholder: "Search by name, source, revision or message", autocomplete: "off", spellcheck: "false", value: query.get("q")});
  const namespace = h("select", {id: "namespace"});
  const source = h("select", {id: "source"});
  const sort = h("select", {id: "sort"}, Object.entries(sorts).map(([value, text]) => h("option", {value}, text)));
  const counts = h("div", {class: "counts", role: "group", "aria-label": "Filter by state"});
  const summary = h("p", {class: "summary", role: "status"});
  const body = h("tbody");
  const empty = h("div", {class: "empty", hidden: true});
  const heads = ["State", "Stack", "Message", "Source", "Revision", "Last run"].map((text) => h("th", {scope: "col"}, text));
  const table = h("table", {class: "stacks", "aria-label": "Stacks"}, h("thead", {}, h("tr", {}, heads)), body);

  const set = (name, value) => {
    if (value) query.set(name, value);
    else query.delete(name);
    const text = query.toString();
    history.replaceState(null, "", "#/stacks" + (text ? "?" + text : ""));
    draw();
  };
  search.addEventListener("input", () => set("q", search.value));
  namespace.addEventListener("change", () => set("namespace", namespace.value));
  source.addEventListener("change", () => set("source", source.value));
  sort.addEventListener("change", () => set("sort", sort.value === "attention" ? "" : sort.value));
  const slash = (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName)) return;
    event.preventDefault();
    search.focus();
  };
  document.addEventListener("keydown", slash);

  function drawCounts(rows) {
    const state = query.get("state") || "";
    const chip = (value, text, count) => h("button", {type: "button", class: "chip" + (count === 0 && value ? " none" : ""), "data-key": "count-" + value,
      "aria-pressed": String(state === value), onclick: () => set("state", state === value ? "" : value)},
    value && mark(value), h("b", {}, count), " ", text);
    put(counts, chip("", "All", rows.length), counted.map((value) => chip(value, words[value], rows.filter((row) => has(row, value)).length)));
  }

  function draw() {
    const rows = [...store.stacks.values()];
    drawCounts(rows);
    options(namespace, "All namespaces", rows.map((row) => row.namespace), query.get("namespace"));
    options(source, "All sources", rows.map((row) => row.source), query.get("source"));
    sort.value = query.get("sort") || "attention";
    const found = select(rows, query);
    const text = !store.link.loaded ? "Loading the Stacks" : found.length === rows.length ? plural(rows.length, "Stack") : `${found.length} of ${plural(rows.length, "Stack")}`;
    if (summary.textContent !== text) summary.textContent = text;
    drawRows(body, drawn, found);
    table.hidden = found.length === 0;
    empty.hidden = found.length > 0 || !store.link.loaded;
    if (!empty.hidden) put(empty, rows.length ? nothingFound(() => {
      query = new URLSearchParams();
      search.value = "";
      set("q", "");
    }) : noStacks());
  }

  put(main, h("h1", {}, "Stacks"), counts,
    h("form", {class: "filters", role: "search", onsubmit: (event) => event.preventDefault()},
      field("Search", search, "grow"), field("Namespace", namespace), field("Source", source), field("Sort by", sort)),
    summary, table, empty);
  document.title = "Stacks · flux pulumi";
  draw();
  const quiet = store.listen(draw);
  return {
    leave() {
      quiet();
      document.removeEventListener("keydown", slash);
    },
    update(next) {
      if (next.parts.length > 2) return false;
      query = next.query;
      search.value = query.get("q") || "";
      draw();
      return true;
    },
  };
}

function field(label, control, more = "") {
  return h("div", {class: `field ${more}`}, h("label", {for: control.id}, label), control);
}

// options fills a list with the values that there are, and with the chosen one even if there is none of it now.
function options(list, all, values, chosen) {
  const found = [...new Set([...values, chosen].filter(Boolean))].sort();
  const key = JSON.stringify(found);
  if (list.dataset.values !== key) {
    list.dataset.values = key;
    put(list, h("option", {value: ""}, all), found.map((value) => h("option", {value}, value)));
  }
  list.value = chosen || "";
}

// drawRows makes only those rows again that have changed, and moves only those that are not in their place.
function drawRows(body, drawn, rows) {
  const keep = new Set();
  let place = body.firstChild;
  for (const row of rows) {
    const key = store.keyOf(row);
    keep.add(key);
    let have = drawn.get(key);
    if (!have || have.row !== row) {
      const element = rowOf(row, key);
      if (have) {
        const focused = have.element.contains(document.activeElement);
        if (place === have.element) place = element;
        have.element.replaceWith(element);
        if (focused) element.querySelector("a").focus({preventScroll: true});
        element.classList.add("changed");
      }
      have = {row, element};
      drawn.set(key, have);
    }
    if (have.element === place) place = place.nextSibling;
    else body.insertBefore(have.element, place);
  }
  for (const [key, {element}] of drawn) {
    if (keep.has(key)) continue;
    element.remove();
    drawn.delete(key);
  }
}

function rowOf(row, key) {
  const state = stateOf(row);
  const marks = [];
  if (row.drifted) marks.push(badge("drifted"));
  if (row.suspended && state !== "suspended") marks.push(badge("suspended"));
  const href = `#/stacks/${encodeURIComponent(row.namespace)}/${encodeURIComponent(row.name)}`;
  return h("tr", {"data-stack": key, class: `state-${state}`},
    h("td", {class: "c-state"}, badge(state), marks),
    h("th", {scope: "row", class: "c-name"}, h("a", {href}, row.name), h("span", {class: "namespace"}, row.namespace)),
    h("td", {class: "c-message"}, h("span", {class: "clamp", title: row.message}, row.message)),
    h("td", {class: "c-source"}, row.source),
    h("td", {class: "c-revision"}, short(row.revision)),
    h("td", {class: "c-time"}, since(row.lastRun)));
}

function nothingFound(clear) {
  return [h("p", {}, "No Stack matches the search and the filters."), h("button", {type: "button", onclick: clear}, "Show all Stacks")];
}

function noStacks() {
  return [h("p", {}, "There are no Stacks that you may read."), h("p", {}, h("code", {}, "flux pulumi create stack"), " makes one.")];
}
