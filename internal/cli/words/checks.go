// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package words

import (
	"fmt"
	"strings"

	"github.com/flux-pulumi/pulumi-controller/internal/decide"
	"github.com/flux-pulumi/pulumi-controller/internal/observe"
)

// Check is what one rule of the controller looks at, what it finds there, and what follows.
type Check struct {
	About, Found, Says string
	// Decides is set for the check that the decision comes from.
	Decides bool
}

// Checks are the checks of the controller in order, and what is due before the decision.
func Checks(explained *observe.Explanation) []Check {
	var checks []Check
	for _, check := range explained.Checks {
		says := "continue"
		if check.Decided {
			says = Decision(explained.Decision)
		}
		checks = append(checks, Check{About: check.About, Found: check.Found, Says: says, Decides: check.Decided})
	}
	if !decided(explained.Checks) {
		checks = append(checks, Check{About: "all of them", Found: "nothing to do", Says: Decision(explained.Decision), Decides: true})
	}
	for _, duty := range explained.Decision.Duties {
		checks = append(checks, Check{About: "what is due before that", Found: duty.Why(), Says: string(duty)})
	}
	return checks
}

func decided(checks []decide.Check) bool {
	return len(checks) > 0 && checks[len(checks)-1].Decided
}

// Decision describes a decision.
func Decision(d decide.Decision) string {
	text := d.String()
	if d.Reason != "" {
		text += " " + d.Reason
	}
	if d.After > 0 {
		text += fmt.Sprintf(", next reconcile in %s", d.After)
	}
	return text
}

// Next says what the controller does next, and why.
func Next(explained *observe.Explanation) string {
	next := explained.Decision
	if next.Message != "" {
		if next.After > 0 {
			return fmt.Sprintf("%s. Next reconcile in %s", strings.TrimRight(next.Message, ". \n"), next.After)
		}
		return next.Message
	}
	text := Decision(next)
	for _, check := range explained.Checks {
		if check.Decided {
			text += fmt.Sprintf(" (%s: %s)", check.About, check.Found)
		}
	}
	return text
}

// Unknown lists what a person who reads the explanation does not see, or what the controller may see otherwise.
func Unknown(explained *observe.Explanation) []string {
	var texts []string
	for _, missing := range explained.Missing {
		texts = append(texts, fmt.Sprintf("not resolved: %s", missing))
	}
	for _, unshown := range explained.Unshown {
		texts = append(texts, fmt.Sprintf("not shown, but a run gets it: %s", unshown))
	}
	for _, unchecked := range explained.Unchecked {
		texts = append(texts, fmt.Sprintf("not known here, the controller may decide differently: %s", unchecked))
	}
	for _, unreadable := range explained.Unreadable {
		texts = append(texts, fmt.Sprintf("you are not allowed to read this, the controller may decide differently: %s", unreadable))
	}
	return texts
}
