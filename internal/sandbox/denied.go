// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

const (
	// maxText bounds how much of a text is read for paths, from its beginning, and maxPaths how many
	// it may name.
	maxText  = 64 << 10
	maxPaths = 32
	// maxPath bounds a path in a hint. A longer one is left out.
	maxPath = 512
)

// DeniedPaths returns the absolute paths that a text of any program names on a line that says that
// something was denied, each once. Landlock answers EACCES for files: EPERM is never its answer for
// one. A path that has nothing to do with it may be among them.
func DeniedPaths(text string) []string {
	text = text[:min(len(text), maxText)]
	var found []string
	denied := regexp.MustCompile(`(?i)permission denied|\bEACCES\b|\bAccessDenied(Exception|Error)\b|access to the path .* is denied`)
	// npm says it on a line of its own.
	npm := regexp.MustCompile(`(?m)^npm (?:error|ERR!) code EACCES$`).MatchString(text)
	npmPath := regexp.MustCompile(`^npm (?:error|ERR!) path (/.*)$`)
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \t\r\n")
		switch m := npmPath.FindStringSubmatch(line); {
		case npm && m != nil:
			found = append(found, m[1])
		case denied.MatchString(line):
			found = append(found, pathsIn(line)...)
		}
		if len(found) >= maxPaths {
			break
		}
	}
	found = slices.DeleteFunc(found, func(path string) bool { return len(path) > maxPath || strings.ContainsRune(path, 0) })
	return firsts(found)
}

// pathsIn returns the absolute paths in a line: in quotes, where they may have spaces, or between spaces.
func pathsIn(line string) []string {
	var found []string
	quoted := regexp.MustCompile(`'(/[^']*)'|"(/[^"]*)"|‘(/[^’]*)’|` + "`(/[^`]*)`")
	for _, m := range quoted.FindAllStringSubmatch(line, maxPaths) {
		found = append(found, strings.Join(m[1:], ""))
	}
	rest := quoted.ReplaceAllLiteralString(line, " ")
	for _, m := range regexp.MustCompile(`(?:^|[\s(=\[])(/[^\s'"()\[\],;]*)`).FindAllStringSubmatch(rest, maxPaths) {
		found = append(found, strings.TrimRight(m[1], ":."))
	}
	return found
}

func firsts(paths []string) []string {
	var kept []string
	for _, path := range paths {
		if !slices.Contains(kept, path) && len(kept) < maxPaths {
			kept = append(kept, path)
		}
	}
	return kept
}

// Denial is a path that the rules keep from a program.
type Denial struct {
	Path string
	// Writing is set if the rules let the program read it.
	Writing bool
	// Own is set if it is in a directory of the controller, or holds one, so that no flag allows it.
	Own bool
}

// Denies returns what rules, without links, keep from a program of a path without links. It is false if
// they allow everything, and where more cannot be allowed, such as for a device.
func Denies(all []Rule, own []string, path string) (Denial, bool) {
	access, ok := Allowed(all, path)
	if ok && access != Read && access != List {
		return Denial{}, false
	}
	return Denial{Path: path, Writing: ok && access == Read, Own: Overlaps(path, own)}, true
}

// Hint says what keeps a program from the path, and what to do about it.
func (d Denial) Hint() string {
	from := "from " + d.Path
	if d.Writing {
		from = "from writing to " + d.Path
	}
	switch {
	case d.Own:
		return fmt.Sprintf("the sandbox of local runs keeps programs %s, which is the controller's, and no flag allows it", from)
	case slices.ContainsFunc([]string{"/tmp", "/var/tmp", "/dev/shm"}, func(dir string) bool { return Within(d.Path, dir) }):
		return fmt.Sprintf("the sandbox of local runs keeps programs %s, which all users share: use the directory that TMPDIR names, "+
			"or have the platform list the path in --sandbox-write-paths", from)
	case d.Writing:
		return fmt.Sprintf("the sandbox of local runs keeps programs %s: the platform can list it in --sandbox-write-paths", from)
	}
	return fmt.Sprintf("the sandbox of local runs keeps programs %s: the platform can list it in --sandbox-read-paths, "+
		"or in --sandbox-write-paths if programs write to it", from)
}
