// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package table prints rows like the flux command, so that the same scripts can read
// both. It must not know what is in them.
package table

import (
	"io"

	"github.com/olekukonko/tablewriter"
)

// Print writes rows under the header, one line each, or the rows alone if there is no
// header.
func Print(out io.Writer, header []string, rows [][]string) {
	table := tablewriter.NewWriter(out)
	table.SetHeader(header)
	table.SetHeaderAlignment(tablewriter.ALIGN_LEFT)
	table.SetAlignment(tablewriter.ALIGN_LEFT)
	table.SetAutoWrapText(false)
	table.SetBorder(false)
	table.SetHeaderLine(false)
	table.SetCenterSeparator("")
	table.SetColumnSeparator("")
	table.SetRowSeparator("")
	table.SetTablePadding("\t")
	table.SetNoWhiteSpace(true)
	for _, row := range rows {
		shown := make([]string, len(row))
		for i := range row {
			shown[i] = Visible(row[i])
		}
		table.Append(shown)
	}
	table.Render()
}
