// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/flux-pulumi/pulumi-controller/internal/bounded"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// isPackFailure recognizes the errors of a policy pack that was started: it has died, or one of its
// policies has failed without a verdict.
func isPackFailure(sign string) bool {
	return strings.Contains(sign, "failed to run policy: ") || strings.Contains(sign, "failed to analyze resources: ") ||
		strings.Contains(sign, "failed to run remediation: ") || strings.Contains(sign, "failed to get analyzer info: ")
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
			title = packTitle(pack.PolicyPack)
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
