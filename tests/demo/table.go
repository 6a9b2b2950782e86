// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/fluxcd/pkg/apis/meta"
	apimeta "k8s.io/apimachinery/pkg/api/meta"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

// This file writes Stacks as `flux get` writes its objects. It is pure: screen
// puts the lines on the terminal.

// row is one line of the table: NAME, REVISION, SUSPENDED, READY, MESSAGE.
type row [5]string

func headers() row { return row{"NAME", "REVISION", "SUSPENDED", "READY", "MESSAGE"} }

// widths are the widths of the columns.
type widths [5]int

// rowOf returns the row of a Stack. A Stack without a Ready condition has not been
// reconciled yet.
func rowOf(stack *v1.Stack) row {
	ready, message := "False", "waiting to be reconciled"
	if condition := apimeta.FindStatusCondition(stack.Status.Conditions, meta.ReadyCondition); condition != nil {
		ready, message = string(condition.Status), condition.Message
	}
	suspended := "False"
	if stack.Spec.Suspend {
		suspended = "True"
	}
	// A message of many lines is one line here.
	message = strings.Join(strings.Fields(message), " ")
	return row{stack.Name, truncateHex(stack.Status.LastAppliedRevision), suspended, ready, truncateHex(message)}
}

func rowsOf(stacks []v1.Stack) []row {
	var rows []row
	for i := range stacks {
		rows = append(rows, rowOf(&stacks[i]))
	}
	return rows
}

// truncateHex cuts each digest and commit in the text, which has 40 to 128 hex
// digits, to its first 8.
func truncateHex(text string) string {
	return regexp.MustCompile(`\b[0-9a-f]{40,128}\b`).ReplaceAllStringFunc(text, func(hex string) string { return hex[:8] })
}

// fit makes the columns wide enough for the rows.
func (w widths) fit(rows ...row) widths {
	for _, row := range append(rows, headers()) {
		for column, cell := range row {
			w[column] = max(w[column], utf8.RuneCountInString(cell))
		}
	}
	return w
}

// header writes the first line of the table.
func (w widths) header() string { return w.cells(headers()) + " " }

// line writes a row.
func (w widths) line(r row) string { return w.cells(r) + "\t" }

func (w widths) cells(r row) string {
	padded := make([]string, len(r))
	for column, cell := range r {
		padded[column] = cell + strings.Repeat(" ", w[column]-utf8.RuneCountInString(cell))
	}
	return strings.Join(padded, "\t")
}

// onScreen fits a line into one line of a terminal: it expands tabs and cuts off the
// rest.
func onScreen(line string, width int) string {
	const tab = 8
	var out []rune
	for _, r := range line {
		if r != '\t' {
			out = append(out, r)
			continue
		}
		for first := true; first || len(out)%tab != 0; first = false {
			out = append(out, ' ')
		}
	}
	return strings.TrimRight(string(out[:min(len(out), width)]), " ")
}
