// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Texts of values: times, digests, revisions.

import {h} from "./dom.js";

const units = [["d", 86400], ["h", 3600], ["min", 60]];

// ago returns how long ago a time was, or how long until then.
export function ago(at, now = Date.now()) {
  const seconds = Math.round((now - new Date(at).getTime()) / 1000);
  if (Number.isNaN(seconds)) return "";
  const size = Math.abs(seconds);
  if (size < 5) return "now";
  let text = `${size} s`;
  for (const [unit, length] of units) {
    if (size >= length) {
      text = `${Math.floor(size / length)} ${unit}`;
      break;
    }
  }
  return seconds < 0 ? `in ${text}` : `${text} ago`;
}

// lasted returns how long something took, such as "1 min 20 s", "" if a time is not known.
export function lasted(from, to) {
  const seconds = Math.round((new Date(to).getTime() - new Date(from).getTime()) / 1000);
  if (!(seconds >= 0)) return "";
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.floor(seconds / 60) % 60} min`;
}

// One for all: a browser takes long to make it.
const exact = new Intl.DateTimeFormat(undefined, {dateStyle: "medium", timeStyle: "medium"});

function exactly(at) {
  const time = new Date(at);
  return Number.isNaN(time.getTime()) ? "" : exact.format(time);
}

// since returns a time as an element that stays right while it is shown.
export function since(at) {
  if (!at) return null;
  return h("time", {datetime: at, title: exactly(at), "data-at": at}, ago(at));
}

setInterval(() => {
  for (const element of document.querySelectorAll("time[data-at]")) {
    const text = ago(element.dataset.at);
    if (element.textContent !== text) element.textContent = text;
  }
}, 1000);

// short returns a revision or digest of which a person reads the beginning, with all of it as its title.
export function short(text) {
  if (!text) return null;
  const brief = text.replace(/(sha1|sha256|sha512):([0-9a-f]{8})[0-9a-f]{8,}/g, "$1:$2").replace(/\b([0-9a-f]{12})[0-9a-f]{28,}\b/g, "$1");
  return h("code", {title: brief === text ? null : text}, brief);
}

export function plural(count, one, many = one + "s") {
  return `${count} ${count === 1 ? one : many}`;
}
