// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package programerror

import (
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// goError reads the error that the function of a program in Go returned.
func goError(lines []string) (cause, bool) {
	text := strings.Join(lines, "\n")
	text, ok := strings.CutPrefix(text, "program failed:")
	if !ok {
		return cause{}, false
	}
	var kept []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || regexp.MustCompile(`^\d+ errors? occurred:$`).MatchString(line) {
			continue
		}
		kept = append(kept, strings.TrimPrefix(line, "* "))
	}
	return cause{text: kept}, len(kept) > 0
}

// goPrinted reads what the go command printed about a program that does not compile, or
// the runtime of Go about one that crashed.
func goPrinted(lines []string) (cause, bool) {
	if found, ok := goCrash(lines); ok {
		return found, true
	}
	return goBuildErrors(lines)
}

// goBuildErrors are all lines of the go command, but for its headings and its progress.
func goBuildErrors(lines []string) (cause, bool) {
	position := regexp.MustCompile(`^(?:\./)?(\S+\.go:\d+(?::\d+)?: .*)$`)
	about := regexp.MustCompile(`^(go: |package |no Go files in |build constraints |\t)`)
	noise := regexp.MustCompile(`^(# |go: (downloading|finding|extracting|warning) )`)
	var found cause
	for _, line := range lines {
		switch m := position.FindStringSubmatch(line); {
		case noise.MatchString(line):
		case m != nil:
			found.addOnce(m[1])
		case about.MatchString(line):
			found.addOnce(strings.TrimPrefix(line, "go: "))
		}
	}
	return found, len(found.text) > 0
}

// goCrash is a panic that the program did not recover, or a fatal error of the runtime.
func goCrash(lines []string) (cause, bool) {
	begin := regexp.MustCompile(`^(panic: |fatal error: )`)
	first := -1
	for i, line := range lines {
		if begin.MatchString(line) {
			first = i
		}
	}
	if first < 0 {
		return cause{}, false
	}
	lines = lines[first:]
	end := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, "goroutine ") })
	if end < 0 {
		end = len(lines)
	}
	var found cause
	for _, line := range lines[:end] {
		if !regexp.MustCompile(`^(\[signal |runtime stack:|\s*\S+\.go:\d+ \+0x|runtime\.)`).MatchString(line) {
			found.text = append(found.text, strings.TrimSuffix(line, " [recovered]"))
		}
	}
	for _, at := range goFrames(lines[end:]) {
		found.addFrame(at)
	}
	return found, true
}

// goFrames are the positions within the program in the stack of the goroutine that
// crashed, the first. Pulumi builds with -trimpath: a file has the path of its package
// instead of a directory, and the program's own is that of the functions of package main.
func goFrames(lines []string) []string {
	type frame struct{ function, file, line string }
	place := regexp.MustCompile(`^\t(\S+\.go):(\d+)`)
	var frames []frame
	main := ""
	for i := 1; i < len(lines) && !strings.HasPrefix(lines[i], "goroutine "); i++ {
		m := place.FindStringSubmatch(lines[i])
		if m == nil {
			continue
		}
		function := strings.TrimPrefix(lines[i-1], "created by ")
		if main == "" && strings.HasPrefix(function, "main.") {
			main = path.Dir(m[1])
		}
		frames = append(frames, frame{function, m[1], m[2]})
	}
	var own []string
	module, _, _ := strings.Cut(main, "/")
	for _, f := range frames {
		file, err := filepath.Rel(main, f.file)
		if main == "" || err != nil || strings.Contains(f.file, "@") || (main != "." && !strings.HasPrefix(f.file, module+"/")) || !isOwn(f.file) {
			if len(own) > 0 {
				break // the frames below it are those of Pulumi, which called the program
			}
			continue
		}
		own = append(own, file+":"+f.line)
	}
	return own
}
