// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Elements are made here and nowhere else. What comes from a cluster becomes text, never markup, and a link leads only
// within the page.

const svgNamespace = "http://www.w3.org/2000/svg";

// What could make a text look like another one, as for the commands (internal/cli/table): controls, marks of direction, and
// whatever else is not seen. Joiners occur within words of Persian and other languages, and within symbols.
const invisible = /(?![\t\n\r\u200c\u200d])[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Zl}\p{Zp}]/gu;

// shown returns a text with what cannot be seen as a sign that can.
export function shown(text) {
  return String(text).replace(invisible, "\ufffd");
}

export function h(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes, ...children) {
  return fill(document.createElementNS(svgNamespace, tag), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) {
      if (typeof value !== "function") throw new TypeError(`${name} must be a function`);
      element.addEventListener(name.slice(2), value);
      continue;
    }
    if (name === "href" && !String(value).startsWith("#")) throw new TypeError("a link must lead within the page");
    if (name === "style" || name === "src" || name === "srcdoc") throw new TypeError(`${name} must not be set`);
    element.setAttribute(name, value === true ? "" : shown(value));
  }
  append(element, children);
  return element;
}

function append(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === undefined || child === null || child === false || child === "") continue;
    element.append(child instanceof Node ? child : document.createTextNode(shown(child)));
  }
}

// put replaces what is in the element, and keeps the focus, what is open and what is scrolled, as far as that has a data-key. An
// element with data-scroll="end" begins at its end, and stays there as it grows, unless a person has scrolled away from it.
export function put(element, ...children) {
  const focused = element.contains(document.activeElement) ? document.activeElement : null;
  const key = focused && focused.dataset ? focused.dataset.key : undefined;
  const keyed = (selector) => [...element.querySelectorAll(`${selector}[data-key]`)];
  const open = new Map(keyed("details").map((d) => [d.dataset.key, d.open]));
  const scrolled = new Map(keyed("[data-scroll=end]").map((e) => [e.dataset.key, {top: e.scrollTop, atEnd: e.scrollHeight - e.scrollTop - e.clientHeight < 40}]));
  element.replaceChildren();
  append(element, children);
  for (const details of keyed("details")) {
    if (open.has(details.dataset.key)) details.open = open.get(details.dataset.key);
  }
  for (const one of keyed("[data-scroll=end]")) {
    const before = scrolled.get(one.dataset.key) || {atEnd: true};
    one.scrollTop = before.atEnd ? one.scrollHeight : before.top;
  }
  if (key) {
    const again = element.querySelector(`[data-key="${CSS.escape(key)}"]`);
    if (again) again.focus({preventScroll: true});
  }
}
