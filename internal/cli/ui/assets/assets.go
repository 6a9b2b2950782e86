// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package assets has the page of `flux pulumi ui` as a browser gets it: HTML, CSS and JavaScript modules, written by
// hand and embedded as they are, without a build step and without anything from elsewhere. It must know nothing of a
// cluster: what is shown comes from the server, and is only ever shown as text.
package assets

import (
	"embed"
	"io/fs"
)

//go:embed page
var embedded embed.FS

// Files returns the files of the page, with index.html at the top.
func Files() (fs.FS, error) { return fs.Sub(embedded, "page") }
