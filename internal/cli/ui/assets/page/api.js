// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// What the page asks of the command that serves it, which is all that it ever talks to.

const gone = "The command does not answer. Is `flux pulumi ui` still running? Start it again, and open the address that it prints.";

async function answer(request) {
  let response;
  try {
    response = await request;
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error(gone);
  }
  const text = await response.text();
  let body = {};
  try {
    body = text ? JSON.parse(text) : {};
  } catch {
    body = {error: text.slice(0, 500)};
  }
  if (!response.ok || body.error) throw new Error(body.error || `${response.status} ${response.statusText}`);
  return body;
}

export function get(path, signal) {
  return answer(fetch("api/" + path, {signal, cache: "no-store"}));
}

export function post(path, body) {
  return answer(fetch("api/" + path, {
    method: "POST",
    headers: {"Content-Type": "application/json", "X-Flux-Pulumi": "1"},
    body: JSON.stringify(body || {}),
  }));
}

// stackPath returns the path of a Stack, of which no name can lead out of its place.
export function stackPath(namespace, name, rest = "") {
  return `stacks/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}${rest && "/" + rest}`;
}

// stream calls the handlers with the events of a stream, and opens it again until the returned function is called.
export function stream(path, handlers, changed) {
  let source, timer, wait = 500, ended = false;
  const open = () => {
    source = new EventSource("api/" + path);
    source.onopen = () => {
      wait = 500;
      changed(true, "");
    };
    source.onerror = () => {
      changed(false, gone);
      if (source.readyState !== EventSource.CLOSED || ended) return;
      timer = setTimeout(open, wait);
      wait = Math.min(wait * 2, 8000);
    };
    for (const [event, handler] of Object.entries(handlers)) {
      source.addEventListener(event, (message) => handler(JSON.parse(message.data)));
    }
  };
  open();
  return () => {
    ended = true;
    clearTimeout(timer);
    source.close();
  };
}
