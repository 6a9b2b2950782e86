// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"strings"

	"github.com/flux-pulumi/pulumi-controller/internal/bounded"
)

// violation begins what Pulumi says of a resource that is not as planned.
const violation = " violates plan: "

// isViolation recognizes the errors of an update that is not as its plan. One about an output has
// no text (pulumi/pulumi#16670).
func isViolation(sign string) bool {
	return strings.Contains(sign, violation) || strings.Contains(sign, " is not allowed by the plan: ") ||
		(strings.Contains(sign, "expected resource operations for ") && strings.Contains(sign, "but none were seen")) ||
		strings.HasSuffix(sign, noReason)
}

// violationMessage says what to do if an update is not as its plan, which was compared right before:
// it would fail in the same way each time.
func violationMessage(message string, changed bool) string {
	if strings.HasSuffix(message, noReason) {
		message += ", as it does if an output of the stack is not as planned (pulumi/pulumi#16670)"
	}
	done := "Nothing was changed"
	if changed {
		done = "What it had done by then stays, and what is left to do is proposed"
	}
	if strings.Contains(message, "create is not allowed by the plan") {
		message += ": the program may make the resource in apply of a value that no preview knows"
	}
	if !strings.HasSuffix(message, ".") {
		message += "."
	}
	return message + " Pulumi has stopped the update, because it was to do something else than the approved plan. " + done +
		". If this comes again, the program does something else in an update than in a preview: change that, " +
		"or set spec.approval.require to Never for an update that is not held to a plan"
}

// withoutValues cuts the values out of the error of an update that violates its plan: it has
// secrets in plain text, planned ones and others. What differs is named first.
func withoutValues(message string) string {
	at := strings.Index(message, violation)
	if at < 0 {
		return message
	}
	from := at + len(violation)
	value := strings.IndexByte(message[from:], '[')
	if value < 0 {
		return message
	}
	return message[:from+value] + bounded.Sign
}
