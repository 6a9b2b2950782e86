// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// The Stacks that the person may read, as the server last said.

import {stream} from "./api.js";

export const stacks = new Map();
export const link = {connected: false, loaded: false, message: ""};
const listeners = new Set();

// listen calls the function after each change, at most once for each picture that the browser draws.
export function listen(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

let due = false;
function changed() {
  if (due) return;
  due = true;
  const call = () => {
    due = false;
    for (const listener of [...listeners]) listener();
  };
  // A page in the background draws no pictures.
  if (document.hidden) setTimeout(call, 100);
  else requestAnimationFrame(call);
}

export function keyOf(row) {
  return `${row.namespace}/${row.name}`;
}

export function start() {
  stream("stacks", {
    stacks(change) {
      if (change.reset) stacks.clear();
      for (const row of change.upserts || []) stacks.set(keyOf(row), row);
      for (const key of change.removed || []) stacks.delete(key);
      link.loaded = true;
      changed();
    },
    status(status) {
      link.connected = status.connected;
      link.message = status.message || "";
      changed();
    },
  }, (open, message) => {
    link.connected = open;
    link.message = message;
    changed();
  });
}
