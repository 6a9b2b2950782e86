// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package console

// Paint colours text, or leaves it as it is. What goes to a pipe or a file is never
// coloured.
type Paint bool

// Green is for what is created.
func (p Paint) Green(text string) string { return p.colour("32", text) }

// Red is for what is deleted, or has failed.
func (p Paint) Red(text string) string { return p.colour("31", text) }

// Yellow is for what is changed.
func (p Paint) Yellow(text string) string { return p.colour("33", text) }

// Faint is for what matters less.
func (p Paint) Faint(text string) string { return p.colour("2", text) }

func (p Paint) colour(code, text string) string {
	if !p || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}
