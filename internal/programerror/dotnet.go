// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package programerror

import (
	"regexp"
	"slices"
	"strings"
)

// dotnetError reads an exception that a program in .NET did not catch.
func dotnetError(lines []string) (cause, bool) {
	header := regexp.MustCompile(`^Running program '.*' failed with an unhandled exception:$`)
	frame := regexp.MustCompile(`^\s+at .* in (.+):line (\d+)$`)
	inner := regexp.MustCompile(`^\s*---> (.*)$`)
	// These wrap any exception of a constructor or a task, and say nothing.
	wrapper := regexp.MustCompile(`^System\.(Reflection\.TargetInvocation|Aggregate)Exception: `)
	i := slices.IndexFunc(lines, header.MatchString)
	if i < 0 {
		return cause{}, false
	}
	var found cause
	inTrace := false
	for _, line := range lines[i+1:] {
		m := frame.FindStringSubmatch(line)
		switch {
		case m != nil && isOwn(m[1]):
			found.addFrame(m[1] + ":" + m[2])
		case inner.MatchString(line) && len(found.text) > 0:
			text := inner.FindStringSubmatch(line)[1]
			if wrapper.MatchString(found.text[len(found.text)-1]) {
				found.text[len(found.text)-1] = text
			} else {
				found.text = append(found.text, "caused by: "+text)
			}
		case strings.HasPrefix(strings.TrimSpace(line), "at ") || strings.Contains(line, "--- End of "):
			inTrace = true
		case !inTrace:
			found.text = append(found.text, line)
		}
	}
	return found, len(found.text) > 0
}

// dotnetPrinted reads the errors of the compiler.
func dotnetPrinted(lines []string) (cause, bool) {
	compile := regexp.MustCompile(`^\s*(\S[^(]*)\((\d+),(\d+)\): (error \w+: .*?)(?: \[[^\]]*\])?$`)
	var found cause
	for _, line := range lines {
		if m := compile.FindStringSubmatch(line); m != nil {
			found.addOnce(m[1] + ":" + m[2] + ":" + m[3] + ": " + m[4])
		}
	}
	return found, len(found.text) > 0
}
