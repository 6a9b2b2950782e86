// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Dark or light, as the system has it or as the person has chosen. That is all that the page keeps in the browser.

const choices = {"": "Theme: system", light: "Theme: light", dark: "Theme: dark"};

function chosen() {
  try {
    const kept = localStorage.getItem("theme");
    return kept in choices ? kept : "";
  } catch {
    return "";
  }
}

export function start(button) {
  const show = (theme) => {
    if (theme) document.documentElement.dataset.theme = theme;
    else delete document.documentElement.dataset.theme;
    button.textContent = choices[theme];
  };
  show(chosen());
  button.addEventListener("click", () => {
    const names = Object.keys(choices);
    const next = names[(names.indexOf(document.documentElement.dataset.theme || "") + 1) % names.length];
    try {
      localStorage.setItem("theme", next);
    } catch { /* a browser that keeps nothing */ }
    show(next);
  });
}
