// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"fmt"

	"github.com/flux-pulumi/pulumi-controller/internal/plan"
)

// showPlan writes a plan to the output.
func (s *session) showPlan(p plan.Plan) error {
	width := 0
	if s.OutIsTerminal && s.Width != nil {
		width = s.Width()
	}
	_, err := fmt.Fprint(s.Out, plan.Terminal(p, width, s.planColour))
	return err
}

// planColour colours a text by the operation that it is about, like flux diff: green for
// additions, red for deletions, and yellow for both.
func (s *session) planColour(op, text string) string {
	switch op {
	case plan.OpCreate, plan.OpImport, plan.KindAdd:
		return s.paint.Green(text)
	case plan.OpDelete:
		return s.paint.Red(text)
	case plan.OpReplace:
		return s.paint.Yellow(text)
	}
	return text
}
