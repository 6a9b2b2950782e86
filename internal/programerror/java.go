// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package programerror

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// javaError reads an exception that a program in Java did not catch. A frame has the name
// of a file without its directory, and its class: those of the language, of Pulumi and of
// the tools that run the program are known by their packages.
func javaError(lines []string) (cause, bool) {
	header := regexp.MustCompile(`Running program \[PID: \d+\].* failed with an unhandled exception:$`)
	frame := regexp.MustCompile(`^\s+at (\S+)\s?\(([\w$]+\.(?:java|kt|scala)):(\d+)\)$`)
	foreign := regexp.MustCompile(`^([\w.]+/|java\.|javax\.|jdk\.|sun\.|kotlin\.|scala\.|com\.pulumi\.|com\.google\.|io\.grpc\.|org\.codehaus\.|org\.apache\.|net\.javacrumbs\.)`)
	i := slices.IndexFunc(lines, header.MatchString)
	if i < 0 {
		return cause{}, false
	}
	var found cause
	inTrace, isInner := false, false
	for _, line := range lines[i+1:] {
		m := frame.FindStringSubmatch(line)
		text := strings.TrimSpace(line)
		switch {
		case m != nil && !foreign.MatchString(m[1]):
			inTrace = true
			if isInner && found.at != "" {
				continue
			}
			found.addFrame(path.Join(packagePath(m[1]), m[2]) + ":" + m[3])
		case strings.HasPrefix(text, "at ") || strings.HasPrefix(text, "... "):
			inTrace = true
		case strings.HasPrefix(text, "Caused by: "):
			isInner = true
			found.text = append(found.text, "caused by: "+strings.TrimPrefix(text, "Caused by: "))
		case !inTrace:
			found.text = append(found.text, line)
		}
	}
	return found, len(found.text) > 0
}

// packagePath is the directory of the package of a method.
func packagePath(method string) string {
	parts := strings.Split(method, ".")
	return path.Join(parts[:max(0, len(parts)-2)]...)
}

// javaPrinted reads the errors of the compiler, as Maven and Gradle print them.
func javaPrinted(lines []string) (cause, bool) {
	maven := regexp.MustCompile(`^\[ERROR\] (\S+\.(?:java|kt|scala)):\[(\d+),(\d+)\] (.*)$`)
	gradle := regexp.MustCompile(`^(\S+\.(?:java|kt|scala)):(\d+): (error: .*)$`)
	detail := regexp.MustCompile(`^(?:\[ERROR\])?\s+(symbol|location|required|found|reason): `)
	var found cause
	isDetail := false
	for _, line := range lines {
		m, g := maven.FindStringSubmatch(line), gradle.FindStringSubmatch(line)
		switch {
		case m != nil:
			isDetail = found.addOnce(m[1] + ":" + m[2] + ":" + m[3] + ": " + m[4])
		case g != nil:
			isDetail = found.addOnce(g[1] + ":" + g[2] + ": " + g[3])
		case isDetail && detail.MatchString(line):
			found.text = append(found.text, "  "+strings.TrimSpace(strings.TrimPrefix(line, "[ERROR]")))
		}
	}
	return found, len(found.text) > 0
}
