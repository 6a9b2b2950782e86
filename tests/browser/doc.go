// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package browser tests the page of `flux pulumi ui` in Debian's Chromium, as a person uses it: what is on the screen,
// with mouse and keyboard, in two widths and both themes, and what axe finds. The tests are skipped on a machine that
// cannot have Chromium. Nothing in here is part of a program.
package browser
