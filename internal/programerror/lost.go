// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package programerror

import (
	"regexp"
	"slices"
	"strings"
)

// CutLost recognizes an error that Pulumi reports because a plugin ended before it answered: gRPC's text for
// a connection that broke. It returns what Pulumi says before that it was doing.
func CutLost(reported string) (doing string, isLost bool) {
	m := regexp.MustCompile(`(?s)^(.*?)(?:rpc error: code = Unavailable desc = )?` +
		`(?:error reading from server: (?:EOF|(?:.*: )?connection reset by peer|read .*)|closing transport due to: .*|transport is closing)$`).FindStringSubmatch(strings.TrimSpace(reported))
	if m == nil {
		return "", false
	}
	return m[1], true
}

// Lost returns the message about a plugin, such as "the language host pulumi-language-yaml", that ended before
// it answered.
func (p Program) Lost(plugin, printed string) string {
	if p.Memory.Killed {
		return OutOfMemory + plugin + " was killed (OOMKilled): " + p.Memory.advice()
	}
	all := strings.Split(p.Relative(printed), "\n")
	if crash := slices.IndexFunc(all, IsCrash); crash >= 0 {
		return plugin + " ended unexpectedly, after this was printed: " + cause{text: all[crash:]}.message()
	}
	return plugin + " ended unexpectedly and did not say why: if it was out of memory, " + p.Memory.advice()
}
