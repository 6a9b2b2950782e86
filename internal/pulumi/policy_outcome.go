// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"cmp"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/flux-pulumi/pulumi-controller/internal/bounded"
	"github.com/flux-pulumi/pulumi-controller/internal/plural"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// packSigns begin the errors of a policy pack that was started: it has died, or one of its policies
// has failed without a verdict.
func packSigns() []string {
	return []string{"failed to run policy: ", "failed to analyze resources: ", "failed to run remediation: ", "failed to get analyzer info: "}
}

// isPackFailure reports whether the first error with a reason is that of a pack. What a program prints
// or throws may have the same text, but not at its beginning: its failure is not that of the platform.
// Without errors in the events, the CLI says why on standard error.
func isPackFailure(errors []diagnostic, stderr string) bool {
	text := ""
	if len(errors) == 0 {
		text = firstError(stderr)
	}
	if n := slices.IndexFunc(errors, func(d diagnostic) bool { return !d.printed && !saysNothing(d.sign()) }); n >= 0 {
		text = withoutError(errors[n].sign())
	}
	text = strings.TrimPrefix(text, "BAIL: ")
	return slices.ContainsFunc(packSigns(), func(sign string) bool { return strings.HasPrefix(text, sign) })
}

// packOutcome is the outcome of a run that its policy packs have failed, false if they have not.
func (e ending) packOutcome(message string) (run.Outcome, string, bool) {
	switch {
	case len(e.packs) == 0:
		return "", "", false
	case e.events.policies.loading:
		return run.PolicyPackFailed, e.packMessage(message), true
	case e.events.policies.isViolated():
		return run.PolicyViolation, message, true
	case isPackFailure(e.events.errors, cmp.Or(e.last.stderr.Text, e.stderr)):
		return run.PolicyPackFailed, e.packMessage(message), true
	}
	return "", "", false
}

// maxPackOutput bounds what a pack has printed in a message, in bytes.
const maxPackOutput = 1 << 10

// packMessage is the message about a pack that cannot be used: which one, and what it has printed,
// as Pulumi has only its exit code.
func (e ending) packMessage(text string) string {
	text = withoutError(text)
	title := "a policy pack"
	for _, pack := range e.packs {
		if len(e.packs) == 1 || strings.Contains(text, filepath.Dir(pack.path)+string(filepath.Separator)) {
			title = pack.Title()
			text = strings.ReplaceAll(text, pack.path, pack.Name)
			break
		}
	}
	text = packLead().ReplaceAllString(text, "")
	if printed := strings.TrimSpace(e.printed); printed != "" && !strings.Contains(text, printed) {
		text += ": " + bounded.Text(printed, maxPackOutput)
	}
	advice := ""
	if e.operation == run.Update {
		advice = ". Without it, the Stack is not updated"
	}
	return fmt.Sprintf("%s failed: %s%s", title, text, advice)
}

// packLead is what Pulumi says about where a pack is.
func packLead() *regexp.Regexp {
	return regexp.MustCompile(`^policy pack "[^"]*" failed to start: (could not read plugin \[[^\]]*\]: )?`)
}

// stays is said of an update that its policies have stopped too late.
const stays = ". What was done by then stays"

// violationsMessage says which mandatory policies are violated: the first, and how many more.
func violationsMessage(all run.Violations, changed bool) string {
	total := all.Count(run.Mandatory)
	if total == 0 || len(all.Listed) == 0 {
		return ""
	}
	first := all.Listed[0]
	text := fmt.Sprintf("policy %s of pack %s", first.Policy, first.Pack)
	if first.Set != "" {
		text += " in PolicySet " + first.Set
	}
	text += ": " + about(first.Resource, first.Message)
	if total > 1 {
		text += "; and " + plural.Of(total-1, "more violation", "more violations")
	}
	if changed {
		text += stays
	}
	return text
}
