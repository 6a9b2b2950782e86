// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package table prints rows as the flux command does, so that what reads the tables
// of one can read those of the other. It must know nothing of what is in them.
package table

import (
	"io"

	"github.com/olekukonko/tablewriter"
)

// Print writes rows under the header, each in one line. Without a header it writes the
// rows alone.
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
