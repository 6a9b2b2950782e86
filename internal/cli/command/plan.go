// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"fmt"

	"github.com/flux-pulumi/pulumi-controller/internal/plan"
)

// showPlan writes a plan to the output.
func (s *session) showPlan(p plan.Plan) error {
	_, err := fmt.Fprint(s.Out, plan.Terminal(p, s.width(), s.planColour))
	return err
}

// width of the output, 0 if it is no terminal.
func (s *session) width() int {
	if s.OutIsTerminal && s.Width != nil {
		return s.Width()
	}
	return 0
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
