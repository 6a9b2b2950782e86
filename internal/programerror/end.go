// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package programerror

import (
	"regexp"
	"slices"
	"strings"
)

const (
	// shownLines is how many of the last lines that a program printed are shown if it
	// ended without an error, and shownText bounds their bytes.
	shownLines = 5
	shownText  = 600
)

// end is how a program ended, if that is all that Pulumi reports.
type end struct {
	// code is the exit code of the program: "-1" if a signal ended it, and empty if it
	// was not even started.
	code string
}

// endOf reads an error of a language host that only says that the program ended, or that
// it does not compile.
func endOf(reported string) (end, bool) {
	m := regexp.MustCompile(`^[Pp]rogram exited with non-zero exit code: (-?\d+)`).FindStringSubmatch(reported)
	if m != nil {
		return end{code: m[1]}, true
	}
	return end{}, regexp.MustCompile("unable to run `go build`: exit status \\d+$").MatchString(reported)
}

// bySignal reports whether a signal ended the program.
func (e end) bySignal() bool { return e.code == "-1" }

// message is about a program that ended without an error that Pulumi or the language
// knows. Programs print the reason before they exit.
func (e end) message(printed string) string {
	last := lastLines(steady(printed))
	what := "the program exited with code " + e.code
	if e.code == "" {
		what = "the program does not compile"
	}
	if len(last) == 0 {
		// Pulumi may end before it has read the last lines, such as that of log.Fatal in Go.
		return what + ", and Pulumi reports nothing that it printed"
	}
	what += ", after it printed: " + strings.TrimSpace(last[0])
	return strings.Join(append([]string{what}, last[1:]...), "\n")
}

// lastLines are the last lines of a text, without the noise of Node.js and the engine.
func lastLines(text string) []string {
	noise := regexp.MustCompile(`^(\(node:\d+\) |\(Use .node --trace-|I\d{4} .*Explicitly ignoring and discarding error)`)
	var kept []string
	size := 0
	for _, line := range slices.Backward(strings.Split(text, "\n")) {
		if strings.TrimSpace(line) == "" || noise.MatchString(line) {
			continue
		}
		if size += len(line); len(kept) == shownLines || (size > shownText && len(kept) > 0) {
			break
		}
		kept = append(kept, line)
	}
	slices.Reverse(kept)
	return kept
}
