// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package console

// Paint colours text if it is true. Text for a pipe or a file is never coloured.
type Paint bool

// Green is for creations.
func (p Paint) Green(text string) string { return p.colour("32", text) }

// Red is for deletions and failures.
func (p Paint) Red(text string) string { return p.colour("31", text) }

// Yellow is for changes.
func (p Paint) Yellow(text string) string { return p.colour("33", text) }

// Faint is for minor text.
func (p Paint) Faint(text string) string { return p.colour("2", text) }

func (p Paint) colour(code, text string) string {
	if !p || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}
