// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package programerror

import (
	"regexp"
	"slices"
	"strings"
)

// javaScriptError reads an exception that a program in TypeScript or JavaScript did not
// catch, or what Node.js printed about one.
func javaScriptError(lines []string) (cause, bool) {
	header := regexp.MustCompile(`^Running program '.*' failed with an unhandled exception:$`)
	i := slices.IndexFunc(lines, header.MatchString)
	if i >= 0 {
		lines = lines[i+1:]
	}
	if strings.TrimSpace(strings.Join(lines, "")) == "" { // such as: throw ""
		return cause{text: []string{"the program failed with an empty text instead of an Error: throw an Error"}}, i >= 0
	}
	for _, rule := range []func([]string) (cause, bool){typeScriptErrors, javaScriptSyntaxError} {
		if found, ok := rule(lines); ok {
			return found, true
		}
	}
	if i < 0 && !slices.ContainsFunc(lines, isJavaScriptFrame) {
		return cause{}, false
	}
	if text := notAnError(lines); text != "" {
		return cause{text: []string{text}}, true
	}
	return javaScriptException(lines)
}

// notAnError explains what Pulumi reports if a program throws, or rejects a promise with, a value
// that Pulumi cannot show: an object without a message, or nothing.
func notAnError(lines []string) string {
	if lines[0] == "[object Object]" {
		return "the program failed with an object that is not an Error, which Pulumi shows as [object Object]: throw an Error"
	}
	m := regexp.MustCompile(`^TypeError: Cannot read properties of (null|undefined) \(reading 'name'\)$`).FindStringSubmatch(lines[0])
	if m == nil || len(lines) < 2 || !strings.Contains(lines[1], " process.uncaughtHandler (") {
		return ""
	}
	return "the program failed with " + m[1] + " instead of an Error: throw an Error, or reject the promise with one"
}

// typeScriptErrors are those of the compiler, each with its position.
func typeScriptErrors(lines []string) (cause, bool) {
	compile := regexp.MustCompile(`^(\S.*?)[(:](\d+)[,:](\d+)\)?(?: -|:) (error TS\d+: .*)$`)
	var found cause
	for _, line := range lines {
		if m := compile.FindStringSubmatch(line); m != nil {
			found.text = append(found.text, m[1]+":"+m[2]+":"+m[3]+": "+m[4])
		} else if len(found.text) > 0 {
			found.text = append(found.text, line) // more on the one before
		}
	}
	return found, len(found.text) > 0
}

// javaScriptSyntaxError has the position and the line of the source before its message.
func javaScriptSyntaxError(lines []string) (cause, bool) {
	m := regexp.MustCompile(`^(\S+\.[cm]?[jt]sx?):(\d+)$`).FindStringSubmatch(lines[0])
	i := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, "SyntaxError: ") })
	if m == nil || i < 0 {
		return cause{}, false
	}
	return cause{at: m[1] + ":" + m[2], text: lines[i : i+1]}, true
}

// javaScriptFrame matches a line of a stack trace: its function, file, line and column.
func javaScriptFrame(line string) []string {
	return regexp.MustCompile(`^\s+at (?:.* \()?([^\s()][^()]*?):(\d+):(\d+)\)?(?: \{|,)?$`).FindStringSubmatch(line)
}

func isJavaScriptFrame(line string) bool { return javaScriptFrame(line) != nil }

// javaScriptException reads an error as Node.js shows it: the message, the stack trace,
// and in braces the properties, with the errors that led to it.
func javaScriptException(lines []string) (cause, bool) {
	// A cause that was assigned, not passed to the constructor, has no brackets.
	inner := regexp.MustCompile(`^\s+(\[?cause\]?: )?\[?(\w*(?:Error|Exception): .*?)\]?(?: \{|,)?$`)
	end := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(strings.TrimSpace(line), "at ") })
	if end < 0 {
		end = len(lines)
	}
	if braces := slices.IndexFunc(lines[:end], func(line string) bool { return strings.HasSuffix(line, " {") }); braces >= 0 {
		end = braces + 1
	}
	found := cause{text: slices.Clone(lines[:end])}
	// The modules that required a missing one: the stack trace says which of the program's did.
	if i := slices.Index(found.text, "Require stack:"); i > 0 {
		found.text = found.text[:i]
	}
	for i, line := range found.text {
		line = regexp.MustCompile(`^<ref \*\d+> | \{$`).ReplaceAllString(line, "")
		// An error without a stack trace is in brackets.
		found.text[i] = regexp.MustCompile(`^\[(\w*(?:Error|Exception)\b.*)\]$`).ReplaceAllString(line, "$1")
	}
	isInner := false
	for _, line := range lines[end:] {
		m, in := javaScriptFrame(line), inner.FindStringSubmatch(line)
		switch {
		case m != nil && isOwn(m[1]) && (!isInner || found.at == ""):
			found.addFrame(strings.Join(m[1:], ":"))
		case in != nil && in[1] != "":
			found.text, isInner = append(found.text, "caused by: "+in[2]), true
		case in != nil:
			found.text, isInner = append(found.text, "  "+in[2]), true
		}
	}
	return found, len(found.text) > 0
}
