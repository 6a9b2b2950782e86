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

// stackPath returns the path of a Stack, or of a part of it. No name can lead out of its place: a browser takes . and .. for
// steps, however they are written.
export function stackPath(namespace, name, ...parts) {
  return ["stacks", namespace, name, ...parts].map((part) => {
    if (/^\.*$/.test(part)) throw new Error(`${part || "Nothing"} is not a name.`);
    return encodeURIComponent(part);
  }).join("/");
}

// stream calls the handlers with the events of a stream, and opens it again until the returned function is called. A page that
// nobody sees has no stream: a browser opens six connections at most, for all of its tabs and windows together.
export function stream(path, handlers, changed) {
  let source, timer, wait = 500, ended = false;
  const open = () => {
    if (document.hidden) return;
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
  const close = () => {
    clearTimeout(timer);
    if (source) source.close();
  };
  const seen = () => {
    close();
    wait = 500;
    open();
  };
  document.addEventListener("visibilitychange", seen);
  open();
  return () => {
    ended = true;
    document.removeEventListener("visibilitychange", seen);
    close();
  };
}
