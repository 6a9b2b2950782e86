// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package words

import (
	"fmt"
	"strings"
	"time"

	"github.com/flux-pulumi/pulumi-controller/internal/cli/table"
	"github.com/flux-pulumi/pulumi-controller/internal/plural"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// Log is the log of a run that has ended, a line each.
func Log(log *run.Log) string {
	var text strings.Builder
	if log.LeftOut > 0 {
		_, _ = fmt.Fprintf(&text, "... %s before\n", plural.Of(log.LeftOut, "line", "lines"))
	}
	for _, line := range log.Lines {
		_, _ = fmt.Fprintf(&text, "%s %s\n", line.At.UTC().Format(time.RFC3339), table.Visible(line.Text))
	}
	return text.String()
}
