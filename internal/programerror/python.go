// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package programerror

import (
	"regexp"
	"strings"
)

// pythonError reads the traceback of an exception that a program in Python did not
// catch. Of a chain of exceptions the last one counts: the others led to it.
func pythonError(lines []string) (cause, bool) {
	var chain []cause
	for _, block := range tracebacks(lines) {
		if found, ok := pythonException(block); ok {
			chain = append(chain, found)
		}
	}
	if len(chain) == 0 {
		return cause{}, false
	}
	last := chain[len(chain)-1]
	for i := len(chain) - 2; i >= 0; i-- {
		last.text = append(last.text, "caused by: "+chain[i].text[0])
	}
	return last, true
}

// tracebacks are the blocks of lines that begin with the heading of a traceback.
func tracebacks(lines []string) [][]string {
	bar := regexp.MustCompile(`^\s*[|+] ?(?:-[-+ \d]*)?`) // beside a group of exceptions
	var blocks [][]string
	for _, line := range lines {
		line = bar.ReplaceAllString(line, "")
		if strings.HasSuffix(strings.TrimSpace(line), "Traceback (most recent call last):") {
			blocks = append(blocks, nil)
		} else if n := len(blocks); n > 0 && !isBetweenTracebacks(line) {
			blocks[n-1] = append(blocks[n-1], line)
		}
	}
	return blocks
}

func isBetweenTracebacks(line string) bool {
	return strings.HasPrefix(line, "The above exception was the direct cause") ||
		strings.HasPrefix(line, "During handling of the above exception")
}

// pythonException reads one traceback, without its heading.
func pythonException(lines []string) (cause, bool) {
	frame := regexp.MustCompile(`^\s+File "(.+)", line (\d+)`)
	var found cause
	for _, line := range lines {
		m := frame.FindStringSubmatch(line)
		switch {
		case m != nil && len(found.text) == 0 && isOwn(m[1]):
			if found.at != "" {
				found.callers = append([]string{found.at}, found.callers...)
			}
			found.at = m[1] + ":" + m[2]
		case len(found.text) > 0 || (m == nil && line != "" && line[0] != ' '):
			found.text = append(found.text, line)
		}
	}
	return found, len(found.text) > 0
}
